"""Fill the GPU's tables of docs/scale.md from results: `python docs/make_scale_gpu.py`.

Lines between `<!-- gpu NAME -->` and `<!-- end -->` are replaced; the prose is left alone.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "scale.md"
BLOCK = re.compile(r"(<!-- gpu (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
UNTIMED = (
    "**Not timed yet.** No card could be had when this was written. `python "
    "benchmarks/bench_gpu.py` on a machine with one takes three minutes, checks the kernels "
    "against float64 first, and writes `results/bench_gpu.json`, from which this table is made."
)


def timings() -> str:
    """The passes and fits that were timed on a card, or that none were."""
    record = _read("bench_gpu.json")
    if not record:
        return UNTIMED
    card, one = record["machine"]["device"], record["pass"]
    size = f"{record['rows']:,} x {record['dimensions']} {record['type']}"
    rows = [
        ("reading the rows once", record["limits"]["seconds_to_read_rows_once"]),
        ("plain torch: product, arg-max, one-hot product", one["plain_torch"]),
        ("ours: nearest centre, near ties in float64", one["nearest"]),
        ("ours: exact sums", one["sums"]),
        ("ours: the whole pass", one["whole"]),
    ]
    peer = one["flash_kmeans"]
    if isinstance(peer, dict):
        rows += [(f"flash-kmeans: {name.replace('_', ' ')}", took) for name, took in peer.items()]
    rows += [(f"whole fit, {name}", fit["seconds"]) for name, fit in record["fit"].items()]
    lines = [f"| {size}, {record['centres']} centres, {card} | seconds |", "|---|---|"]
    return "\n".join(lines + [f"| {name} | {took} |" for name, took in rows])


def kernels() -> str:
    """What the compiler says of the kernels, for Hopper."""
    record = _read("gpu_kernels.json")
    lines = [
        "| kernel | numbers | dimensions | centres | rows x columns, warps | registers | spilled "
        "bytes | shared KB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for made in record["kernels"]:
        tile = f"{made['ROWS']} x {made.get('DEPTH') or made['SLICE']}, {made['num_warps']}"
        cells = (
            made["kernel"].removesuffix("_kernel"), made["dtype"], made["dimensions"],
            made.get("centres", "any"), tile, made["registers"], made["stack_bytes"],
            round(made["shared_bytes"] / 1024),
        )  # fmt: skip
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def fill(text: str) -> str:
    """Replace the tables of a page by those that the results give now."""
    made = {"timings": timings, "kernels": kernels}
    return BLOCK.sub(lambda at: f"{at[1]}\n{made[at[2]]()}\n\n{at[3]}", text)


def _read(name: str) -> dict[str, Any]:
    path = ROOT / "results" / name
    return json.loads(path.read_text()) if path.exists() else {}


if __name__ == "__main__":
    PAGE.write_text(fill(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
