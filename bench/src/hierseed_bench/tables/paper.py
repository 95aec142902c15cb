"""The paper's Tables 1 to 5: its numbers, and ours on its sets and on the open ones."""

from __future__ import annotations

from collections.abc import Iterable

from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.runs.plan import FEW, FLAT_SETS, MAIN, OPEN_SETS, SEEDS, UNSEEN_SETS, VECTORS
from hierseed_bench.runs.records import Record, Records
from hierseed_bench.tables.cells import (
    PLAIN,
    by_data,
    cell,
    filter_records,
    mean_of,
    one_topic_runs,
    present,
    title_of,
)
from hierseed_bench.tables.markdown import Table
from hierseed_bench.tables.published import (
    DATASETS,
    TABLE_1,
    TABLE_2,
    TABLE_3,
    TABLE_4,
    TABLE_5,
    Row,
)

ALL_LABELS = "ridge-all-labels"


def comparison(records: Records, number: int) -> list[Table]:
    """Tables 2 (seeds) and 3 (all labels): the paper's sets, then the open ones."""
    published = TABLE_2 if number == 2 else TABLE_3
    runs = _seeded(records) if number == 2 else _full(records)
    columns = [f"{name} {what}" for what in ("B3", "V") for name in DATASETS]
    theirs = Table(
        f"The paper's Table {number}: published / ours under `paper` / ours under `all`",
        "Ours is `-` where the set was not run: its texts are not free to pass on. Under `paper` "
        "the root counts as a level of score 1 and documents without assignment are left out.",
        ("method", *columns),
        tuple(
            (METHODS[m].title, *_beside(filter_records(runs, method=m), row))
            for m, row in published.items()
        ),
    )
    rows = [*published, "anchored", ALL_LABELS]
    if number == 2:  # and what a user would pick today
        rows = [*published, *(m for m in MAIN if m not in published and m != ALL_LABELS)]
    return [theirs, *(_open_sets(runs, number, rows, m) for m in ("bcubed_f1", "v_measure"))]


def counts_table(records: Records) -> Table:
    """The paper's Table 1, and the same counts of the sets that were run."""
    rows: list[tuple[str, ...]] = [
        (f"{name} (paper)", str(c.topics), str(c.levels), f"{c.seeds:,}", f"{c.train - c.seeds:,}",
         f"{c.test:,}")
        for name, c in TABLE_1.items()
    ]  # fmt: skip
    plain = records.find(seeds=4, vectors="minilm", skew=0, leave_out=0, limit=0, draw=0)
    for data in present((*OPEN_SETS, *UNSEEN_SETS), plain, "data"):
        sizes = filter_records(plain, data=data)[0]["sizes"]
        levels = sizes["topics_per_level"]
        counts = (f"{sizes[part]:,}" for part in ("seeds", "fitting", "test"))
        rows.append((data, str(sum(levels)), str(len(levels)), *counts))
    return Table(
        "Table 1: the data sets",
        "At most 4 seeds a topic; topics with fewer than 15 documents were dropped from our sets "
        "first. Counts of draw 0.",
        ("data", "topics", "levels", "seeds", "fitting", "test"),
        tuple(rows),
    )


def _seeded(records: Records) -> list[Record]:
    return [r for r in one_topic_runs(records) if r["setting"]["method"] != ALL_LABELS]


def _full(records: Records) -> list[Record]:
    """Runs with all training labels, and our own from seeds to compare them with."""
    full = records.find(seeds=4, limit=0, tag="full")
    own = ("hierseed", "anchored", ALL_LABELS)
    return full + [r for r in one_topic_runs(records) if r["setting"]["method"] in own]


def _open_sets(runs: list[Record], number: int, methods: Iterable[str], measure: str) -> Table:
    columns = present(OPEN_SETS, runs, "data")
    rows = []
    for method in methods:
        own = filter_records(runs, method=method)
        cells = [by_data(own, columns, mean_of(measure, p), False) for p in ("paper", "all")]
        draws = {len(filter_records(own, data=data)) for data in columns} - {0}
        range_ = "-" if not draws else "-".join(str(n) for n in sorted({min(draws), max(draws)}))
        learns = METHODS[method].uses
        if number == 3 and method not in ("hierseed", "anchored"):
            learns = "labels"
        pairs = ["-" if a == "-" else f"{a} / {b}" for a, b in zip(*cells)]
        rows.append((METHODS[method].title, learns, range_, *pairs))
    return Table(
        f"Table {number} on the open sets: {title_of(measure)} under `paper` / under `all`",
        "4 seeds a topic; means over the draws."
        if number == 2
        else "With all training labels; HierSeed and Anchored HierSeed from 4 seeds a topic.",
        ("method", "learns from", "draws", *columns),
        tuple(rows),
    )


def seeds_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """More and fewer seeds; the paper's Table 4 and ours."""
    plain = records.find(parameters=(), **PLAIN)
    rows = []
    for data in present(FLAT_SETS, plain, "data"):
        for method in present(FEW, filter_records(plain, data=data), "method"):
            own = filter_records(plain, data=data, method=method)
            cells = [cell(filter_records(own, seeds=k), mean_of(measure)) for k in SEEDS]
            rows.append((data, METHODS[method].title, *cells))
    for column, name in enumerate(DATASETS, start=_first(measure)):
        published = [f"{TABLE_4[k][column]:.3f}" if k in TABLE_4 else "-" for k in SEEDS]
        rows.append((f"{name} (paper)", METHODS["hierseed"].title, *published))
    return Table(
        f"{title_of(measure)} by seeds a topic (the paper's Table 4)",
        "Ours: protocol `all`. The paper's rows are on its own sets under its own protocol.",
        ("data", "method", *(f"{k} seeds" if k > 1 else "1 seed" for k in SEEDS)),
        tuple(rows),
    )


def vectors_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """Other embedders; the paper's Table 5 and ours."""
    every = records.find(seeds=4, prepare=True, parameters=(), skew=0, leave_out=0, limit=0)
    columns = present(FLAT_SETS, every, "data")
    rows = []
    for kind in VECTORS:
        for method in present(FEW, filter_records(every, vectors=kind), "method"):
            own = filter_records(every, vectors=kind, method=method)
            rows.append((kind, METHODS[method].title, *by_data(own, columns, mean_of(measure))))
    for kind, row in TABLE_5.items():
        own_columns = row[_first(measure) :]
        published = ", ".join(f"{name} {value:.3f}" for name, value in zip(DATASETS, own_columns))
        rows.append((f"{kind} (paper)", f"HierSeed: {published}", *["-"] * len(columns)))
    return Table(
        f"{title_of(measure)} by vectors (the paper's Table 5)",
        "Ours: protocol `all`. The paper's rows are on its own sets under its own protocol.",
        ("vectors", "method", *columns),
        tuple(rows),
    )


def _beside(records: list[Record], row: Row) -> list[str]:
    cells = []
    for column, value in enumerate(row):
        own = filter_records(records, data=DATASETS[column % 3])
        measure = "bcubed_f1" if column < 3 else "v_measure"
        ours = [cell(own, mean_of(measure, protocol)) for protocol in ("paper", "all")]
        cells.append(f"{value:.3f} / {ours[0]} / {ours[1]}")
    return cells


def _first(measure: str) -> int:
    """The first column of a measure in the paper's tables."""
    return {"bcubed_f1": 0, "v_measure": 3}[measure]
