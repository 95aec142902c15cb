"""Fill the table of measurements in tests/README.md from the records in results/.

python tests/measured.py
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
TOP = "| what | record | result |\n|---|---|---|\n"


def record(name: str) -> dict[str, Any]:
    """One record."""
    found: dict[str, Any] = json.loads((HERE.parent / "results" / f"{name}.json").read_text())
    return found


def rows() -> Iterator[str]:
    """The rows of the table."""
    fuzz = record("fuzz")
    yield _row(
        "damaged files (`make fuzz`)", "fuzz",
        f"{fuzz['mutations']:,} mutations of {len(fuzz['targets'])} kinds of files, "
        f"{len(fuzz['findings'])} tracebacks or changed results",
    )  # fmt: skip
    kills = record("kills")
    yield _row(
        "commands killed with `kill -9`, then run again (`make kill`)", "kills",
        f"{kills['kills']} kills of {len(kills['commands'])} commands, "
        f"{kills['commands']['workbench']} of them of the workbench, {len(kills['faults'])} faults",
    )  # fmt: skip
    thesauri = record("thesauri")
    each = thesauri["thesauri"]
    yield _row(
        "real thesauri in SKOS, read and written back", "thesauri",
        f"{len(each)} with {thesauri['concepts']:,} concepts, the largest with "
        f"{max(one['concepts'] for one in each):,}; {sum(bool(x['changed_by']) for x in each)} "
        f"changed, {len(thesauri['refused'])} refused",
    )  # fmt: skip
    for cell in record("bench_capacity")["cells"].values():
        if cell["documents"] == 3 * cell["topics"]:
            shape = "below one topic" if cell["flat"] else "in a tree"
            what = f"{cell['method']}, {cell['topics']:,} topics {shape}"
            taken = f"{cell['processor_seconds']:.1f} s of one core"
            peak = f"{cell['peak_mib'] - cell['mib_before']:,} MiB"
            size = f"{cell['documents']:,} x {cell['dimensions']}"
            yield _row(f"{what}, {size}", "bench_capacity", f"{peak}, {taken}")


def _row(what: str, name: str, result: str) -> str:
    return f"| {what} | [{name}](../results/{name}.json) | {result} |\n"


def main() -> None:
    before, top, _ = README.read_text(encoding="utf-8").partition(TOP)
    README.write_text(f"{before}{top}{''.join(rows())}", encoding="utf-8")


if __name__ == "__main__":
    main()
