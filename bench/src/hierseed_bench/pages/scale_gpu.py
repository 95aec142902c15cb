"""Tables of docs/scale.md on a GPU: passes and fits, growth, compiled kernels."""

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


def growth() -> str:
    """Other numbers of documents, dimensions and topics."""
    sizes = ("20m", "5m", "100m", "768_dimensions", "1000_topics")
    records = [read_result(f"gpu/{size}") for size in sizes]
    head = ("rows", "centres", "reading once", "plain torch", "our pass", "flash-kmeans")
    fits = ("HierSeed, whole fit", "AnchoredHierSeed, whole fit", "most memory")
    rows = []
    for record in records:
        one = record["pass"]
        peak = max(fit["peak_gb"] for fit in record["fit"].values())
        cells = (
            f"{record['rows']:,} x {record['dimensions']}", record["centres"],
            _ms(record["limits"]["seconds_to_read_rows_once"]), _ms(one["plain_torch"]),
            f"**{_ms(one['whole'])}**", _ms(_peer(one["flash_kmeans"])),
            *(f"{fit['seconds']:.1f} s" for fit in record["fit"].values()), f"{peak:.0f} GB",
        )  # fmt: skip
        rows.append(cells)
    return f"{grid((*head, *fits), rows)}\n\n{source(records[0]['machine'])}"


def _peer(took: dict[str, Any]) -> float:
    """Its two steps, by whichever of its settings works."""
    assign = [took[name] for name in ("assign_own", "assign_by_hand") if _is_time(took[name])]
    return min(assign) + float(took["update"])


def _is_time(value: Any) -> bool:
    return isinstance(value, float)


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.1f} ms"


TABLES: dict[str, Callable[[], str]] = {
    "gpu-timings": timings,
    "gpu-growth": growth,
}
