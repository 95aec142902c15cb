"""Cells of tables: numbers picked from records, averaged over draws."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.runs.plan_systems import SHORTER
from hierseed_bench.runs.records import Record, Records
from hierseed_bench.tables.markdown import Table

# the data as they are, prepared as usual
PLAIN: dict[str, Any] = {
    "vectors": "minilm",
    "prepare": True,
    "skew": 0,
    "leave_out": 0,
    "limit": 0,
}
Pick = Callable[[Record], float | None]


# ------------------------------------------------------------------ numbers in records


def mean_of(measure: str, protocol: str = "all") -> Pick:
    """Return the mean over levels of one measure."""
    return lambda record: record["scores"][protocol]["mean"][measure]


def coverage(record: Record) -> float:
    """Share of documents that are not None."""
    return float(record["scores"]["coverage"])


def ancestor_f1(record: Record) -> float | None:
    """F1 over ancestor sets."""
    found = record["scores"]["all"]["hierarchical"]
    return found and float(found["f1"])


def seconds(record: Record) -> float | None:
    """Processor time to fit; early records have none."""
    found: float | None = record["seconds"].get("fit_processor")
    return found


def topics_each(record: Record) -> float:
    """Placements a document."""
    sizes = record["sizes"]
    return float(sizes.get("placements", sizes["test"]) / sizes["test"])


def cell(records: Iterable[Record], pick: Pick, digits: int = 3, spread: bool = True) -> str:
    """Mean and standard deviation over draws; `-` without runs."""
    values = [value for record in records if (value := pick(record)) is not None]
    if not values:
        return "-"
    text = f"{np.mean(values):.{digits}f}"
    if len(values) < 2 or not spread:
        return text
    return f"{text} ± {np.std(values, ddof=1):.{digits}f}"


# ------------------------------------------------------------------ picking records


def plain_runs(records: Records, vectors: str = "minilm") -> list[Record]:
    """Runs without anything special, 4 seeds a topic; training may be shorter than published."""
    usual = PLAIN | {"seeds": 4, "vectors": vectors}
    return records.find(parameters=(), **usual) + records.find(tag=SHORTER, **usual)


def one_topic_runs(records: Records) -> list[Record]:
    """Plain runs that give each document one topic, so that rows compare like with like.

    Where documents have several labels the default method assigns several topics. For such data
    sets its runs with `several=None` are used instead.
    """
    single = records.find(method="anchored", parameters=(("several", None),), seeds=4, **PLAIN)
    plain = [r for r in plain_runs(records) if topics_each(r) == 1]
    return plain + [r for r in single if r["setting"]["data"] not in _sets_of(plain, "anchored")]


def _sets_of(records: list[Record], method: str) -> set[str]:
    return {r["setting"]["data"] for r in records if r["setting"]["method"] == method}


def filter_records(records: Iterable[Record], **wanted: Any) -> list[Record]:
    """Return the records whose setting has these values."""
    return [
        record
        for record in records
        if all(record["setting"][name] == value for name, value in wanted.items())
    ]


def present(order: Iterable[str], records: Iterable[Record], name: str) -> list[str]:
    """Values of a setting that occur, in a given order."""
    found = {record["setting"][name] for record in records}
    return [value for value in dict.fromkeys(order) if value in found]


def by_data(
    records: list[Record], columns: Iterable[str], pick: Pick, spread: bool = True
) -> list[str]:
    """One cell per data set."""
    return [cell(filter_records(records, data=data), pick, spread=spread) for data in columns]


def title_of(measure: str) -> str:
    """Name a measure as people do."""
    return {"bcubed_f1": "B-cubed F1", "v_measure": "V-measure"}.get(measure, measure)


def at_level(measure: str, level: int) -> Pick:
    """Return one measure of one level, counted from 0."""
    return lambda record: record["scores"]["all"]["levels"][level][measure]


def summary(records: Sequence[Record]) -> Table:
    """One row per data set and method, whatever else was set; for a first look at some runs."""
    groups: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        setting = record["setting"]
        more = " ".join(f"{k}={v}" for k, v in setting["parameters"].items())
        name = f"{METHODS[setting['method']].title} {more}".strip()
        groups.setdefault((setting["data"], name), []).append(record)
    rows = [
        (
            *names,
            cell(own, mean_of("bcubed_f1")),
            cell(own, mean_of("v_measure")),
            cell(own, mean_of("bcubed_f1", "paper")),
            cell(own, mean_of("v_measure", "paper")),
            cell(own, mean_of("accuracy")),
            cell(own, coverage, 2),
            cell(own, seconds, 1),
        )
        for names, own in groups.items()
    ]
    columns = ("B3 all", "V all", "B3 paper", "V paper", "accuracy", "coverage", "fit s")
    return Table(
        "Runs",
        "Means over levels, ± standard deviation over draws, under both protocols.",
        ("data", "method", *columns),
        tuple(rows),
    )
