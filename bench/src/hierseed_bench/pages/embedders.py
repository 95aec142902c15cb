"""Tables of docs/embedders.md: quality of embedders, ways to prepare vectors, speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import Any

from hierseed_bench.repository import RESULTS, read_result
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.plan import (
    DRAWS,
    GERMAN,
    JOINED,
    OPEN_SETS,
    SEVERAL_LABELS,
    SPACES,
    TEACHERS,
    UNSEEN_SETS,
    VECTORS,
    WINDOWED,
    embedders,
    german,
    joined,
    names,
    spaces,
    teachers,
    windows,
)
from hierseed_bench.runs.records import Record, Records
from hierseed_bench.tables.cells import ancestor_f1, cell, mean_of, topics_each
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
    found = _planned(embedders(), "vectors", "method", "data")
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


def _planned(plan: Iterable[RunConfig], *parts: str) -> dict[tuple[str, ...], list[Record]]:
    """The records of a plan, by these parts of their settings."""
    planned = {config.key for config in plan}
    found: dict[tuple[str, ...], list[Record]] = {}
    for record in Records(RESULTS / "runs"):
        if record["key"] in planned:
            at = tuple(record["setting"][part] for part in parts)
            found.setdefault(at, []).append(record)
    return found


def prepare() -> str:
    """One row per embedder and way of preparing."""
    found = read_result("embed_prepare")["rows"]
    ways = list(dict.fromkeys(row["way"] for row in found))
    table = {(row["way"], row["vectors"], row["data"], row["method"]): row["f1"] for row in found}
    head = [f"{DATA[data]}, {METHODS[method]}" for data in DATA for method in PREPARED_BY]
    rows = [
        (name, way, *(f"{table[way, name, d, m]:.3f}" for d in DATA for m in PREPARED_BY))
        for name in dict.fromkeys(row["vectors"] for row in found)
        for way in ways
    ]
    return grid(("vectors", "preparation", *head), rows)


def _as_chosen() -> Iterator[RunConfig]:
    """Runs with as many topics a document as seeds have; those with one topic are on README."""
    return (config for config in joined() if not config.parameters)


def joined_vectors() -> str:
    """One row per data set: each representation alone, and joined with what is learned."""
    found = _planned(_as_chosen(), "data", "vectors")
    score = mean_of("bcubed_f1")
    rows = [
        (data, *(cell(found.get((data, name), []), score) for name in JOINED))
        for data in (*OPEN_SETS, *UNSEEN_SETS)
    ]
    means = []
    for name in JOINED:
        every = [one for data in OPEN_SETS for one in found.get((data, name), [])]
        complete = len(every) == len(OPEN_SETS) * DRAWS
        means.append(cell(every if complete else [], score, spread=False))
    return grid(("data", *JOINED), [*rows, ("mean of the first six", *means)])


def joined_several() -> str:
    """Sets whose documents have several topics: F1, and what does not depend on how many."""
    found = _planned(_as_chosen(), "data", "vectors")
    rows = []
    for data, kind in product(SEVERAL_LABELS, JOINED):
        own = found.get((data, kind), [])
        scores = [cell(own, pick) for pick in (mean_of("bcubed_f1"), mean_of("v_measure"))]
        rows.append((data, kind, cell(own, topics_each, 2), *scores, cell(own, ancestor_f1)))
    head = ("data", "vectors", "topics a document", "B-cubed F1", "V-measure")
    return grid((*head, "F1 of ancestor sets"), rows)


def topic_names() -> str:
    """One row per data set: with names and without, for each number of seeds."""
    found = _planned(names(), "data", "method", "seeds")
    score = mean_of("bcubed_f1")
    columns: list[tuple[Any, ...]] = [("anchored-names", 0)]
    columns += [(method, k) for k in (1, 2, 4) for method in ("anchored", "anchored-names")]
    head = [
        f"{k} seed{'' if k == 1 else 's'}{', names' if method != 'anchored' else ''}"
        for method, k in columns
    ]
    rows = [
        (data, *(cell(found.get((data, *column), []), score) for column in columns))
        for data in OPEN_SETS
    ]
    return grid(("data", *head), rows)


def other_spaces() -> str:
    """One row per data set: the default method, and what the paper names as future work."""
    return _one_row_per_set(spaces(), OPEN_SETS, "method", SPACES)


def long_documents() -> str:
    """Documents cut after 256 tokens, and read in windows."""
    return _one_row_per_set(windows(), WINDOWED, "vectors", ("minilm", "minilm+windows"))


def students() -> str:
    """Two slow models, and what their students make of each set."""
    sets = ("naics", *OPEN_SETS, *UNSEEN_SETS)
    return _one_row_per_set(teachers(), sets, "vectors", TEACHERS)


def german_news() -> str:
    """10kGNAD with what knows English, what learns from the corpus, and both."""
    return _one_row_per_set(german(), ("gnad",), "vectors", GERMAN)


def _one_row_per_set(
    plan: Iterable[RunConfig], sets: Iterable[str], part: str, values: Iterable[str]
) -> str:
    found, score = _planned(plan, "data", part), mean_of("bcubed_f1")
    columns = list(values)
    rows = [(data, *(cell(found.get((data, one), []), score) for one in columns)) for data in sets]
    return grid(("data", *columns), rows)


def speed() -> str:
    """Documents a second on this machine."""
    rates = read_result("embed_speed")["speed"]
    rows = [(name, f"{rate['documents_per_core_second']:,.0f}") for name, rate in rates.items()]
    return grid(("embedder", "documents per second and core"), rows)


def store() -> str:
    """Time of writing to the store and reading from it."""
    record = read_result("embed_speed")
    rows = [
        (f"embedding {one['documents']:,} documents with {name}",
         f"{one['ratio']:.2f}", f"{one['ratio_of_processor_time']:.2f}")
        for name, one in record["store_over_bare"].items()
    ]  # fmt: skip
    read = record["reading"]
    size = f"reading {read['rows']:,} x {read['dimension']}, times one numpy memmap"
    head = ("times the bare embedder", "by the clock", "processor time")
    return grid(head, [*rows, (size, f"{read['ratio']:.2f}", "")])


TABLES: dict[str, Callable[[], str]] = {
    "embed-quality": quality,
    "embed-prepare": prepare,
    "embed-speed": speed,
    "embed-store": store,
    "embed-joined": joined_vectors,
    "embed-several": joined_several,
    "embed-names": topic_names,
    "embed-spaces": other_spaces,
    "embed-windows": long_documents,
    "embed-students": students,
    "embed-german": german_news,
}
