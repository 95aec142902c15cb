"""Tables out of records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.runs.plan import (
    ABLATIONS,
    AUTO,
    FLAT_SETS,
    FURTHER_SETS,
    MAIN,
    OPEN_SETS,
    OURS,
    RAW,
    SEVERAL,
    UNSEEN_SETS,
    everything,
    one_topic,
)
from hierseed_bench.runs.plan_systems import SUPERVISED, UNLABELLED
from hierseed_bench.runs.records import Records, is_clean
from hierseed_bench.tables.cells import (
    PLAIN,
    ancestor_f1,
    at_level,
    by_data,
    cell,
    coverage,
    filter_records,
    mean_of,
    one_topic_runs,
    plain_runs,
    present,
    seconds,
    title_of,
    topics_each,
)
from hierseed_bench.tables.markdown import Table
from hierseed_bench.tables.paper import comparison, counts_table, seeds_table, vectors_table
from hierseed_bench.tables.statistics import difference_table, rank_table

HEADLINE = (
    "anchored", "hierseed", "nearest-leaf", "logreg", "hiclass", "self-training",
    "label-spreading", "seeded-kmeans", "constrained-kmeans", "bertopic", "setfit",
    "ridge-all-labels",
)  # fmt: skip
FIDELITY = tuple(ABLATIONS)[:7]  # ours, the paper to the letter, and each departure alone
PAPER_ROWS = ("hdltex", "hiagm", "hilap", "hft", "weshclass", "hlda", "tsntm", "josh")
EVERY = ("anchored", *MAIN[:-1], "bertopic", "setfit", *PAPER_ROWS, MAIN[-1])  # all labels last


def main_table(
    records: Records,
    measure: str = "bcubed_f1",
    protocol: str = "all",
    only: tuple[str, ...] = EVERY,
    sets: tuple[str, ...] = OPEN_SETS,
    one_topic: bool = True,
    vectors: str = "minilm",
) -> Table:
    """Every method, or some, on every open set, or on others."""
    every = one_topic_runs(records) if one_topic else plain_runs(records, vectors)
    plain = [record for record in every if record["setting"]["data"] in sets]
    columns = present(sets, plain, "data")
    methods = present(only, plain, "method")
    rows = [
        (
            METHODS[method].title,
            METHODS[method].uses,
            *(
                cell(filter_records(plain, data=data, method=method), mean_of(measure, protocol))
                for data in columns
            ),
        )
        for method in methods
    ]
    return Table(
        f"{title_of(measure)}, mean over levels, protocol `{protocol}`",
        f"4 seeds a topic{', one topic a document' if one_topic else ''}; mean ± standard "
        "deviation over the draws of seeds.",
        ("method", "learns from", *columns),
        tuple(rows),
    )


def headline_table(records: Records) -> Table:
    """Known methods on the same vectors, and the default method on those that `auto` chooses."""
    table = main_table(records, only=HEADLINE)
    ours = METHODS["anchored"]
    rows = []
    for kind, name in AUTO.items():
        of_kind = records.find(method="anchored", seeds=4, **PLAIN | {"vectors": kind})
        cells = (
            cell(
                [
                    record
                    for record in filter_records(of_kind, data=data)
                    if record["setting"]["parameters"] == dict(one_topic(data, "anchored"))
                ],
                mean_of("bcubed_f1"),
            )
            for data in table.header[2:]
        )
        rows.append((f"{ours.title}, `{kind}`: {name}", ours.uses, *cells))
    return replace(table, rows=(*rows, *table.rows))


def further_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """Sets of one label a document, with the vectors that need no download."""
    return main_table(records, measure, sets=FURTHER_SETS, one_topic=False, vectors="wordllama")


def facts_table(records: Records) -> Table:
    """The other measures and the cost of every method, one data set after the other."""
    plain = one_topic_runs(records)
    rows = []
    for data in present(OPEN_SETS, plain, "data"):
        for method in present(MAIN, filter_records(plain, data=data), "method"):
            own = filter_records(plain, data=data, method=method)
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
    plain = one_topic_runs(records)
    rows = []
    for data in present(OPEN_SETS, plain, "data"):
        for method in present((*MAIN, *PAPER_ROWS), filter_records(plain, data=data), "method"):
            own = filter_records(plain, data=data, method=method)
            depth = len(own[0]["scores"]["all"]["levels"])
            cells = [cell(own, at_level(measure, level)) for level in range(depth)]
            rows.append((data, METHODS[method].title, *cells))
    deepest = max((len(row) for row in rows), default=2)
    padded = tuple((*row, *[""] * (deepest - len(row))) for row in rows)
    header = ("data", "method", *(f"level {k}" for k in range(1, deepest - 1)))
    return Table(
        f"{title_of(measure)} per level, protocol `all`", "4 seeds a topic.", header, padded
    )


def ablation_table(
    records: Records, measure: str = "bcubed_f1", changes: Iterable[str] = (*ABLATIONS, RAW)
) -> Table:
    """HierSeed with one thing changed at a time."""
    every = records.find(method="hierseed", seeds=4, vectors="minilm", skew=0, leave_out=0, limit=0)
    columns = present(OPEN_SETS, every, "data")
    rows = []
    for tag in changes:
        wanted = {"parameters": ABLATIONS.get(tag, {}), "prepare": tag != RAW}
        own = filter_records(every, **wanted)
        rows.append((tag, *by_data(own, columns, mean_of(measure))))
    return Table(
        f"Ablations of HierSeed: {title_of(measure)}, protocol `all`",
        "4 seeds a topic, one change at a time.",
        ("change", *columns),
        tuple(rows),
    )


def skewed_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """Topic sizes by Zipf's law."""
    every = records.find(seeds=4, vectors="minilm", skew=1.0, parameters=(), limit=0)
    columns = present(OPEN_SETS, every, "data")
    rows = [
        (METHODS[m].title, *by_data(filter_records(every, method=m), columns, mean_of(measure)))
        for m in present(MAIN, every, "method")
    ]
    return Table(
        f"Skewed sizes: {title_of(measure)}, protocol `all`",
        "Topics reduced to sizes of 1/rank, ranks drawn at random; at least 15 documents a topic.",
        ("method", *columns),
        tuple(rows),
    )


def catch_table(records: Records) -> Table:
    """Placements of documents whose topic is missing from the taxonomy."""
    every = [r for r in records.find(seeds=4, leave_out=0.15, limit=0) if "catch" in r]
    names = ("home", "home_other", "none", "elsewhere_other", "listed", "false_alarm")
    rows = []
    for data in present(FLAT_SETS, every, "data"):
        for method in present(MAIN, filter_records(every, data=data), "method"):
            own = filter_records(every, data=data, method=method)
            rejected = cell(own, lambda r: 1 - r["catch"]["listed"], 2)
            cells = [cell(own, lambda r, name=name: r["catch"][name], 2) for name in names]  # type: ignore[misc]
            rows.append((data, METHODS[method].title, rejected, *cells))
    return Table(
        "Topics left out of the taxonomy: where their documents go",
        "15 in 100 leaves and one topic of level 1 left out. `not listed`: in no listed topic. "
        "`home`: where it belongs, in the Other of the right parent, or in None (or the Other of "
        "level 1) where the left-out topic was of level 1. `listed`: in a listed topic. `false "
        "alarm`: documents of listed topics in an Other or None.",
        (
            "data",
            "method",
            "not listed",
            "home",
            "right Other",
            "None",
            "wrong Other",
            "listed",
            "false alarm",
        ),
        tuple(rows),
    )


def several_table(records: Records) -> Table:
    """One topic a document against several, on the set whose documents have several."""
    usual = {"data": "arxiv_acm", "seeds": 4, "vectors": "minilm", "prepare": True, "limit": 0}
    rows = []
    for method, ways in SEVERAL.items():
        for title, parameters in ways.items():
            own = records.find(method=method, parameters=tuple(parameters.items()), **usual)
            measures = ("bcubed_precision", "bcubed_recall", "bcubed_f1", "v_measure")
            ancestors = [
                cell(own, lambda r, part=part: r["scores"]["all"]["hierarchical"][part])  # type: ignore[misc]
                for part in ("precision", "recall", "f1")
            ]
            rows.append(
                (
                    METHODS[method].title,
                    title,
                    cell(own, topics_each, 2),
                    *(cell(own, mean_of(measure)) for measure in measures),
                    *ancestors,
                )
            )
    return Table(
        "Several topics a document on arxiv_acm, protocol `all`",
        "Its documents have two labels on average. Extended B-cubed and V-measure: mean over "
        "levels; the last three: over ancestor sets.",
        ("method", "gives", "topics", "B3 P", "B3 R", "B3 F1", "V", "P", "R", "F1"),
        tuple(rows),
    )


TABLES: dict[str, Callable[[Records], list[Table]]] = {
    "headline": lambda r: [headline_table(r)],
    "main": lambda r: [main_table(r)],
    "main-more": lambda r: [
        main_table(r, "v_measure"),
        main_table(r, "bcubed_f1", "paper"),
        main_table(r, "v_measure", "paper"),
    ],
    "unseen": lambda r: [main_table(r, sets=UNSEEN_SETS)],
    "unseen-more": lambda r: [main_table(r, "v_measure", sets=UNSEEN_SETS)],
    "further": lambda r: [further_table(r)],
    "further-more": lambda r: [further_table(r, "v_measure")],
    "differences": lambda r: [difference_table(r)],
    "records": lambda r: [record_table(r)],
    "ranks": lambda r: [rank_table(r)],
    "1": lambda r: [counts_table(r)],
    "2": lambda r: comparison(r, 2),
    "3": lambda r: comparison(r, 3),
    "4": lambda r: [seeds_table(r), seeds_table(r, "v_measure")],
    "5": lambda r: [vectors_table(r), vectors_table(r, "v_measure")],
    "facts": lambda r: [facts_table(r)],
    "levels": lambda r: [level_table(r)],
    "ablations": lambda r: [ablation_table(r), ablation_table(r, "v_measure")],
    "fidelity": lambda r: [ablation_table(r, changes=FIDELITY)],
    "skewed": lambda r: [skewed_table(r)],
    "left-out": lambda r: [catch_table(r)],
    "several": lambda r: [several_table(r)],
}


GROUPS: dict[str, tuple[str, ...]] = {
    **{METHODS[name].title: (name,) for name in OURS},
    "BERTopic": ("bertopic",),
    "SetFit": ("setfit",),
    "the eight systems": (*SUPERVISED, *UNLABELLED),
}


def group_of(method: str) -> str:
    """Return the row of a method."""
    return next((name for name, own in GROUPS.items() if method in own), "other plain methods")


def record_table(records: Records) -> Table:
    """Count planned runs and their records."""
    made = {record["key"]: record for record in records}
    counts = {name: [0, 0, 0, 0] for name in (*GROUPS, "other plain methods", "all")}
    for config in everything():
        found = made.get(config.key)
        columns = [True, found is not None, False, False]
        if found is not None:
            columns[2:] = [is_clean(found), records.has_predictions(found)]
        for name in (group_of(config.method), "all"):
            counts[name] = [n + yes for n, yes in zip(counts[name], columns)]
    versions = Counter(
        record["commit"] for record in made.values() if record["setting"]["method"] == "anchored"
    )
    listed = ", ".join(f"{commit[:7]} ({n})" for commit, n in versions.most_common())
    rows = tuple((name, *(f"{n:,}" for n in numbers)) for name, numbers in counts.items())
    return Table(
        "Records",
        "Planned runs, those made, those made from source without uncommitted changes, and those "
        "whose predictions are kept. `hierseed bench all --renew` makes what is missing. Records "
        f"of Anchored HierSeed by commit: {listed}.",
        ("method", "planned", "made", "clean commit", "predictions"),
        rows,
    )
