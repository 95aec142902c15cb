"""Tables of docs/scale.md on a GPU: passes and fits of vectors on the card."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hierseed_bench.pages.scale import source
from hierseed_bench.repository import read_result
from hierseed_bench.tables.markdown import grid

WORDS = {
    "assign_own": "nearest centre, its own settings",
    "assign_by_hand": "nearest centre, settings picked by hand",
    "update": "sums",
}


def timings() -> str:
    """The passes and fits that were timed on a card, or that none were."""
    record = read_result("bench_gpu")
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
        rows += [
            (f"flash-kmeans: {WORDS[name]}", took if _is_time(took) else str(took).split(".")[0])
            for name, took in peer.items()
        ]
    rows += [(f"whole fit, {name}", fit["seconds"]) for name, fit in record["fit"].items()]
    part, some = record["streamed"], f"AnchoredHierSeed, {record['streamed']['rows']:,} of the rows"
    rows += [(f"{some}, on the card", part["resident"])]
    rows += [(f"{some}, fetched from a file at every pass", part["fetched"])]
    table = grid((f"{size}, {record['centres']} centres, {card}", "seconds"), rows)
    return f"{table}\n\n{source(record['machine'])}"


def _is_time(value: Any) -> bool:
    return isinstance(value, float)


TABLES: dict[str, Callable[[], str]] = {
    "gpu-timings": timings,
}
