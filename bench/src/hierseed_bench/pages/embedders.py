"""Tables of docs/embedders.md: quality of embedders, ways to prepare vectors, speed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from hierseed_bench.repository import RESULTS
from hierseed_bench.runs.plan import VECTORS, embedders
from hierseed_bench.runs.records import Record, Records
from hierseed_bench.tables.cells import cell, mean_of
from hierseed_bench.tables.markdown import grid

METHODS = {
    "hierseed": "HierSeed",
    "nearest-leaf": "nearest leaf",
    "seeded-kmeans": "seeded k-means",
}
DATA = {"20newsgroups": "20 Newsgroups", "cap": "CAP speeches", "arxiv": "arXiv (10,000)"}
PREPARED_BY = ("hierseed", "seeded-kmeans")


def quality() -> str:
    """One row per embedder and method: F1 on each corpus, with the deviation over draws."""
    planned = {config.key for config in embedders()}
    found: dict[tuple[str, ...], list[Record]] = {}
    for record in Records(RESULTS / "runs"):
        if record["key"] in planned:
            at = tuple(record["setting"][part] for part in ("vectors", "method", "data"))
            found.setdefault(at, []).append(record)
    rows = [
        (
            name,
            title,
            *(cell(found.get((name, m, data), []), mean_of("bcubed_f1")) for data in DATA),
        )
        for name in VECTORS
        for m, title in METHODS.items()
    ]
    return grid(("embedder", "method", *DATA.values()), rows)


def prepare() -> str:
    """One row per embedder and way of preparing."""
    found = _read("embed_prepare")["rows"]
    ways = list(dict.fromkeys(row["way"] for row in found))
    table = {(row["way"], row["vectors"], row["data"], row["method"]): row["f1"] for row in found}
    head = [f"{DATA[data]}, {METHODS[method]}" for data in DATA for method in PREPARED_BY]
    rows = [
        (name, way, *(f"{table[way, name, d, m]:.3f}" for d in DATA for m in PREPARED_BY))
        for name in dict.fromkeys(row["vectors"] for row in found)
        for way in ways
    ]
    return grid(("vectors", "preparation", *head), rows)


def joined() -> str:
    """One row per data set: each representation alone, and joined with what is learned."""
    found = _read("embed_joined")["rows"]
    names = list(dict.fromkeys(row["vectors"] for row in found))
    data = list(dict.fromkeys(row["data"] for row in found))
    scores = {
        (one, name): [r["f1"] for r in found if (r["data"], r["vectors"]) == (one, name)]
        for one in data
        for name in names
    }
    rows = [(one, *(mean_and_deviation(scores[one, name]) for name in names)) for one in data]
    return grid(("data", *names), rows)


def mean_and_deviation(values: list[float]) -> str:
    """Mean ± standard deviation over draws; `-` where nothing was run."""
    if not values:
        return "-"
    return (
        f"{np.mean(values):.3f} ± {np.std(values, ddof=1):.3f}"
        if values[1:]
        else f"{values[0]:.3f}"
    )


def speed() -> str:
    """Documents a second on this machine."""
    rates = _read("embed_speed")["speed"]
    rows = [(name, f"{rate['documents_per_core_second']:,.0f}") for name, rate in rates.items()]
    return grid(("embedder", "documents per second and core"), rows)


def _read(name: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return record


TABLES: dict[str, Callable[[], str]] = {
    "embed-quality": quality,
    "embed-prepare": prepare,
    "embed-speed": speed,
    "embed-joined": joined,
}
