"""Tables out of records: ours and, beside them, the paper's."""

from __future__ import annotations

from collections.abc import Callable

from hierseed.baselines.catalogue import METHODS
from hierseed.bench.cells import (
    Table,
    ancestor_f1,
    at_level,
    by_data,
    cell,
    coverage,
    mean_of,
    of,
    plain_runs,
    present,
    seconds,
)
from hierseed.bench.plan import (
    ABLATION_DRAWS,
    ABLATIONS,
    FEW,
    FLAT_SETS,
    MAIN,
    OPEN_SETS,
    RAW,
    SEEDS,
    VECTORS,
)
from hierseed.bench.published import DATASETS, TABLE_2, TABLE_3, TABLE_4, TABLE_5, Row
from hierseed.bench.records import Record, Records

HEADLINE = (
    "anchored", "hierseed", "nearest-leaf", "logreg", "hiclass", "label-spreading",
    "seeded-kmeans", "ridge-all-labels",
)  # fmt: skip
PAPER_ROWS = ("hdltex", "hiagm", "hilap", "hft", "weshclass", "hlda", "tsntm", "josh")


def main_table(
    records: Records,
    measure: str = "bcubed_f1",
    protocol: str = "all",
    only: tuple[str, ...] = (*MAIN, "bertopic", "setfit", *PAPER_ROWS),
) -> Table:
    """Every method, or some, on every open set."""
    plain = plain_runs(records)
    columns = present(OPEN_SETS, plain, "data")
    methods = present(only, plain, "method")
    rows = [
        (
            METHODS[method].title,
            METHODS[method].uses,
            *(
                cell(of(plain, data=data, method=method), mean_of(measure, protocol))
                for data in columns
            ),
        )
        for method in methods
    ]
    return Table(
        f"{_title(measure)}, mean over levels, protocol `{protocol}`",
        "4 seeds a topic; mean ± standard deviation over the draws of seeds.",
        ("method", "learns from", *columns),
        tuple(rows),
    )


def facts_table(records: Records) -> Table:
    """The other measures and the cost of every method, one data set after the other."""
    plain = plain_runs(records)
    rows = []
    for data in present(OPEN_SETS, plain, "data"):
        for method in present(MAIN, of(plain, data=data), "method"):
            own = of(plain, data=data, method=method)
            rows.append(
                (
                    data,
                    METHODS[method].title,
                    cell(own, mean_of("v_measure")),
                    cell(own, mean_of("accuracy")),
                    cell(own, mean_of("macro_f1")),
                    cell(own, ancestor_f1),
                    cell(own, coverage),
                    cell(own, seconds, 1),
                )
            )
    return Table(
        "Other measures, protocol `all`",
        "Means over levels; ancestor F1, coverage and processor seconds to fit are of the run.",
        ("data", "method", "V", "accuracy", "macro-F1", "ancestor F1", "coverage", "fit s"),
        tuple(rows),
    )


def level_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """One column a level."""
    plain = plain_runs(records)
    rows = []
    for data in present(OPEN_SETS, plain, "data"):
        for method in present(MAIN, of(plain, data=data), "method"):
            own = of(plain, data=data, method=method)
            depth = len(own[0]["scores"]["all"]["levels"])
            cells = [cell(own, at_level(measure, level)) for level in range(depth)]
            rows.append((data, METHODS[method].title, *cells))
    deepest = max((len(row) for row in rows), default=2)
    padded = tuple((*row, *[""] * (deepest - len(row))) for row in rows)
    header = ("data", "method", *(f"level {k}" for k in range(1, deepest - 1)))
    return Table(f"{_title(measure)} per level, protocol `all`", "4 seeds a topic.", header, padded)


def seeds_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """More and fewer seeds; the paper's Table 4 beside ours."""
    plain = records.find(
        vectors="minilm", prepare=True, parameters=(), skew=0, leave_out=0, limit=0
    )
    rows = []
    for data in present(FLAT_SETS, plain, "data"):
        for method in present(FEW, of(plain, data=data), "method"):
            own = of(plain, data=data, method=method)
            cells = [cell(of(own, seeds=k), mean_of(measure)) for k in SEEDS]
            rows.append((data, METHODS[method].title, *cells))
    for name, column in zip(DATASETS, range(3)):
        published = [f"{TABLE_4[k][column]:.3f}" if k in TABLE_4 else "-" for k in SEEDS]
        rows.append((f"{name} (paper)", METHODS["hierseed"].title, *published))
    return Table(
        f"{_title(measure)} by seeds a topic (the paper's Table 4)",
        "Ours: protocol `all`. The paper's rows are on its own sets under its own protocol.",
        ("data", "method", *(f"{k} seeds" if k > 1 else "1 seed" for k in SEEDS)),
        tuple(rows),
    )


def ablation_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """HierSeed with one thing changed at a time."""
    every = records.find(method="hierseed", seeds=4, vectors="minilm", skew=0, leave_out=0, limit=0)
    every = [r for r in every if r["setting"]["draw"] < ABLATION_DRAWS]  # the same for each row
    columns = present(FLAT_SETS, every, "data")
    rows = []
    for tag, change in ABLATIONS.items():
        own = [r for r in every if r["setting"]["parameters"] == change and r["setting"]["prepare"]]
        rows.append((tag, *by_data(own, columns, mean_of(measure))))
    raw = [r for r in every if not r["setting"]["prepare"]]
    rows.append((RAW, *by_data(raw, columns, mean_of(measure))))
    return Table(
        f"Ablations of HierSeed: {_title(measure)}, protocol `all`",
        f"4 seeds a topic, the first {ABLATION_DRAWS} draws, one change at a time.",
        ("change", *columns),
        tuple(rows),
    )


def vectors_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """Other embedders; the paper's Table 5 beside ours."""
    every = records.find(seeds=4, prepare=True, parameters=(), skew=0, leave_out=0, limit=0)
    columns = present(FLAT_SETS, every, "data")
    rows = []
    for kind in VECTORS:
        for method in present(FEW, of(every, vectors=kind), "method"):
            own = of(every, vectors=kind, method=method)
            rows.append((kind, METHODS[method].title, *by_data(own, columns, mean_of(measure))))
    for kind, row in TABLE_5.items():
        published = ", ".join(f"{name} {value:.3f}" for name, value in zip(DATASETS, row))
        rows.append((f"{kind} (paper)", f"HierSeed: {published}", *["-"] * len(columns)))
    return Table(
        f"{_title(measure)} by vectors (the paper's Table 5)",
        "Ours: protocol `all`. The paper's rows are on its own sets under its own protocol.",
        ("vectors", "method", *columns),
        tuple(rows),
    )


def skewed_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """Topic sizes by Zipf's law."""
    every = records.find(seeds=4, vectors="minilm", skew=1.0, parameters=(), limit=0)
    columns = present(OPEN_SETS, every, "data")
    rows = [
        (METHODS[m].title, *by_data(of(every, method=m), columns, mean_of(measure)))
        for m in present(MAIN, every, "method")
    ]
    return Table(
        f"Skewed sizes: {_title(measure)}, protocol `all`",
        "Topics thinned out to 1/rank, ranks drawn at random; at least 15 documents a topic.",
        ("method", *columns),
        tuple(rows),
    )


def catch_table(records: Records) -> Table:
    """What became of documents whose topic the taxonomy lacks."""
    every = [r for r in records.find(seeds=4, leave_out=0.15, limit=0) if "catch" in r]
    names = ("home", "home_other", "none", "elsewhere_other", "listed", "false_alarm")
    rows = []
    for data in present(FLAT_SETS, every, "data"):
        for method in present(MAIN, of(every, data=data), "method"):
            own = of(every, data=data, method=method)
            caught = cell(own, lambda r: 1 - r["catch"]["listed"], 2)
            cells = [cell(own, lambda r, name=name: r["catch"][name], 2) for name in names]  # type: ignore[misc]
            rows.append((data, METHODS[method].title, caught, *cells))
    return Table(
        "Topics left out of the taxonomy: where their documents go",
        "15 in 100 leaves and one topic of level 1 left out. `caught`: not pressed into a listed "
        "topic. `home`: caught where it belongs, in the Other of the right "
        "parent, or None (or the Other of level 1) where the topic stood at level 1. `listed`: "
        "pressed into a listed topic. `false alarm`: documents of listed topics sent to an Other "
        "or to None.",
        (
            "data",
            "method",
            "caught",
            "home",
            "right Other",
            "None",
            "wrong Other",
            "listed",
            "false alarm",
        ),
        tuple(rows),
    )


def paper_table(records: Records, number: int) -> Table:
    """Tables 2 and 3 of the paper, with our figures for the sets that were run on a copy."""
    published = TABLE_2 if number == 2 else TABLE_3
    full = number == 3
    rows = []
    for method, row in published.items():
        own = [
            record
            for record in records.find(method=method, seeds=4, limit=0)
            if bool(record["setting"]["parameters"].get("full")) == full or method == "hierseed"
        ]
        rows.append((METHODS[method].title, *_beside(own, row)))
    columns = [f"{name} {what}" for what in ("B3", "V") for name in DATASETS]
    return Table(
        f"The paper's Table {number}: published / ours under `paper` / ours under `all`",
        "Ours is `-` where the set was not run: its texts are not free to pass on. Under `paper` "
        "the root counts as a level of score 1 and documents without assignment are left out.",
        ("method", *columns),
        tuple(rows),
    )


TABLES: dict[str, Callable[[Records], list[Table]]] = {
    "headline": lambda r: [main_table(r, only=HEADLINE)],
    "main": lambda r: [
        main_table(r),
        main_table(r, "v_measure"),
        main_table(r, "bcubed_f1", "paper"),
        main_table(r, "v_measure", "paper"),
    ],
    "2": lambda r: [paper_table(r, 2)],
    "3": lambda r: [paper_table(r, 3)],
    "4": lambda r: [seeds_table(r), seeds_table(r, "v_measure")],
    "5": lambda r: [vectors_table(r), vectors_table(r, "v_measure")],
    "facts": lambda r: [facts_table(r)],
    "levels": lambda r: [level_table(r)],
    "ablations": lambda r: [ablation_table(r), ablation_table(r, "v_measure")],
    "skewed": lambda r: [skewed_table(r)],
    "left-out": lambda r: [catch_table(r)],
}


def _beside(records: list[Record], row: Row) -> list[str]:
    cells = []
    for column, value in enumerate(row):
        own = of(records, data=DATASETS[column % 3])
        measure = "bcubed_f1" if column < 3 else "v_measure"
        ours = [cell(own, mean_of(measure, protocol)) for protocol in ("paper", "all")]
        cells.append(f"{value:.3f} / {ours[0]} / {ours[1]}")
    return cells


def _title(measure: str) -> str:
    return {"bcubed_f1": "B-cubed F1", "v_measure": "V-measure"}.get(measure, measure)
