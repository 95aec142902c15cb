"""Tables out of records: ours and, beside them, the paper's."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hierseed.baselines.catalogue import METHODS
from hierseed.bench.plan import ABLATIONS, FEW, FLAT_SETS, MAIN, OPEN_SETS, RAW, SEEDS, VECTORS
from hierseed.bench.published import DATASETS, TABLE_2, TABLE_3, TABLE_4, TABLE_5, Row
from hierseed.bench.records import Record, Records

Pick = Callable[[Record], float | None]
PAPER_ROWS = ("hdltex", "hiagm", "hilap", "hft", "weshclass", "hlda", "tsntm", "josh")


@dataclass(frozen=True)
class Table:
    """A title, a line that says how to read it, and cells that are already text."""

    title: str
    about: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """GitHub's form, columns lined up."""
        every = [self.header, *self.rows]
        widths = [max(len(row[i]) for row in every) for i in range(len(self.header))]

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths)) + " |"

        rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
        body = "\n".join([line(self.header), rule, *map(line, self.rows)])
        return f"### {self.title}\n\n{self.about}\n\n{body}\n"


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


def seconds(record: Record) -> float:
    """Time to fit."""
    return float(record["seconds"]["fit"])


def cell(records: Iterable[Record], pick: Pick, digits: int = 3) -> str:
    """Mean and standard deviation over draws; `-` where nothing was run."""
    values = [value for record in records if (value := pick(record)) is not None]
    if not values:
        return "-"
    text = f"{np.mean(values):.{digits}f}"
    return text if len(values) < 2 else f"{text} ± {np.std(values, ddof=1):.{digits}f}"


# ------------------------------------------------------------------ the tables


def main_table(records: Records, measure: str = "bcubed_f1", protocol: str = "all") -> Table:
    """Every method on every open set."""
    plain = _plain(records)
    columns = _present(OPEN_SETS, plain, "data")
    methods = _present((*MAIN, "bertopic", "setfit", *PAPER_ROWS), plain, "method")
    rows = [
        (
            METHODS[method].title,
            METHODS[method].uses,
            *(
                cell(_of(plain, data=data, method=method), mean_of(measure, protocol))
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
    plain = _plain(records)
    rows = []
    for data in _present(OPEN_SETS, plain, "data"):
        for method in _present(MAIN, _of(plain, data=data), "method"):
            own = _of(plain, data=data, method=method)
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
        "Means over levels; F1 over ancestor sets, coverage and seconds to fit are of the run.",
        ("data", "method", "V", "accuracy", "macro-F1", "ancestor F1", "coverage", "fit s"),
        tuple(rows),
    )


def level_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """One column a level."""
    plain = _plain(records)
    rows = []
    for data in _present(OPEN_SETS, plain, "data"):
        for method in _present(MAIN, _of(plain, data=data), "method"):
            own = _of(plain, data=data, method=method)
            depth = len(own[0]["scores"]["all"]["levels"])
            cells = [cell(own, _at(measure, level)) for level in range(depth)]
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
    for data in _present(FLAT_SETS, plain, "data"):
        for method in _present(FEW, _of(plain, data=data), "method"):
            own = _of(plain, data=data, method=method)
            cells = [cell(_of(own, seeds=k), mean_of(measure)) for k in SEEDS]
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
    columns = _present(FLAT_SETS, every, "data")
    rows = []
    for tag, change in ABLATIONS.items():
        own = [r for r in every if r["setting"]["parameters"] == change and r["setting"]["prepare"]]
        rows.append((tag, *_by_data(own, columns, mean_of(measure))))
    raw = [r for r in every if not r["setting"]["prepare"]]
    rows.append((RAW, *_by_data(raw, columns, mean_of(measure))))
    return Table(
        f"Ablations of HierSeed: {_title(measure)}, protocol `all`",
        "4 seeds a topic, one change at a time.",
        ("change", *columns),
        tuple(rows),
    )


def vectors_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """Other embedders; the paper's Table 5 beside ours."""
    every = records.find(seeds=4, prepare=True, parameters=(), skew=0, leave_out=0, limit=0)
    columns = _present(FLAT_SETS, every, "data")
    rows = []
    for kind in VECTORS:
        for method in _present(FEW, _of(every, vectors=kind), "method"):
            own = _of(every, vectors=kind, method=method)
            rows.append((kind, METHODS[method].title, *_by_data(own, columns, mean_of(measure))))
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
    columns = _present(OPEN_SETS, every, "data")
    rows = [
        (METHODS[m].title, *_by_data(_of(every, method=m), columns, mean_of(measure)))
        for m in _present(MAIN, every, "method")
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
    for data in _present(FLAT_SETS, every, "data"):
        for method in _present(MAIN, _of(every, data=data), "method"):
            own = _of(every, data=data, method=method)
            cells = [cell(own, lambda r, name=name: r["catch"][name], 2) for name in names]  # type: ignore[misc]
            rows.append((data, METHODS[method].title, *cells))
    return Table(
        "Topics left out of the taxonomy: where their documents go",
        "15 in 100 leaves and one topic of level 1 left out. `home`: in the Other of the right "
        "parent, or None (or the Other of level 1) where the topic stood at level 1. `listed`: "
        "pressed into a listed topic. `false alarm`: documents of listed topics sent to an Other "
        "or to None.",
        ("data", "method", "home", "right Other", "None", "wrong Other", "listed", "false alarm"),
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
    "main": lambda r: [
        main_table(r),
        main_table(r, "v_measure"),
        main_table(r, "bcubed_f1", "paper"),
        main_table(r, "v_measure", "paper"),
    ],
    "2": lambda r: [paper_table(r, 2), main_table(r), main_table(r, "bcubed_f1", "paper")],
    "3": lambda r: [paper_table(r, 3)],
    "4": lambda r: [seeds_table(r), seeds_table(r, "v_measure")],
    "5": lambda r: [vectors_table(r), vectors_table(r, "v_measure")],
    "facts": lambda r: [facts_table(r)],
    "levels": lambda r: [level_table(r)],
    "ablations": lambda r: [ablation_table(r), ablation_table(r, "v_measure")],
    "skewed": lambda r: [skewed_table(r)],
    "left-out": lambda r: [catch_table(r)],
}


# ------------------------------------------------------------------ picking records


def _plain(records: Records) -> list[Record]:
    """Runs without anything special, 4 seeds a topic."""
    return records.find(
        seeds=4, vectors="minilm", prepare=True, parameters=(), skew=0, leave_out=0, limit=0
    )


def _of(records: Iterable[Record], **wanted: Any) -> list[Record]:
    return [
        record
        for record in records
        if all(record["setting"][name] == value for name, value in wanted.items())
    ]


def _present(order: Iterable[str], records: Iterable[Record], name: str) -> list[str]:
    found = {record["setting"][name] for record in records}
    return [value for value in order if value in found]


def _by_data(records: list[Record], columns: Iterable[str], pick: Pick) -> list[str]:
    return [cell(_of(records, data=data), pick) for data in columns]


def _at(measure: str, level: int) -> Pick:
    return lambda record: record["scores"]["all"]["levels"][level][measure]


def _beside(records: list[Record], row: Row) -> list[str]:
    cells = []
    for column, value in enumerate(row):
        own = _of(records, data=DATASETS[column % 3])
        measure = "bcubed_f1" if column < 3 else "v_measure"
        ours = [cell(own, mean_of(measure, protocol)) for protocol in ("paper", "all")]
        cells.append(f"{value:.3f} / {ours[0]} / {ours[1]}")
    return cells


def _title(measure: str) -> str:
    return {"bcubed_f1": "B-cubed F1", "v_measure": "V-measure"}.get(measure, measure)
