"""Tables of the foreign runs: detectors beside each other, and what methods decided."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from hierseed_bench.foreign.detectors import DETECTORS
from hierseed_bench.foreign.run import SETS
from hierseed_bench.foreign.scenarios import SCENARIOS
from hierseed_bench.runs.records import Record
from hierseed_bench.tables.cells import Pick, cell, filter_records, present
from hierseed_bench.tables.markdown import Table, grid

TITLES = {
    "few": "three topics of level 1 listed",
    "leftout": "a fifth of the leaves and one topic of level 1 left out",
    "closed": "nothing missing",
}
SEEDS = 4  # a topic, unless a row says otherwise
LEAST_SEEDS = 19  # with fewer seeds in all no share of 5% can be promised
DECISIONS = (
    ("false_alarms", "false alarms"),
    ("kept_out", "kept out"),
    ("home", "right place"),
    ("leaf_accuracy", "leaf accuracy"),
    ("bcubed_f1", "B3 F1"),
    ("largest_topic", "largest topic"),
    ("proposed", "proposed"),
)


def detector_table(records: Iterable[Record], scenario: str) -> Table:
    """AUROC of each detector, and the share of foreign documents kept out at 5% false alarms."""
    every = [r for r in filter_records(records, scenario=scenario, seeds=SEEDS) if r["detectors"]]
    every = [r for r in every if not r["setting"]["parameters"]]
    sets = present(SETS, every, "data")
    rows = []
    for name, (title, _) in DETECTORS.items():
        own = [r for r in every if name in r["detectors"]]
        if own:
            cells = [
                cell(filter_records(own, data=data), _detector(name, "auroc"), 2) for data in sets
            ]
            kept = [_mean(own, sets, _detector(name, part)) for part in ("auroc", "kept_out")]
            rows.append((title, *cells, *kept))
    return Table(
        f"Detectors of foreign documents: {TITLES[scenario]}",
        "AUROC per set, mean ± standard deviation over draws; mean over sets; share of foreign "
        "documents kept out where 5% of own documents are lost.",
        ("detector", *sets, "mean", "kept out"),
        tuple(rows),
    )


def decision_table(records: Iterable[Record], scenario: str) -> Table:
    """The decision of the method itself."""
    every = list(filter_records(records, scenario=scenario))
    names = [(key, title) for key, title in DECISIONS if any(_known(r, key) for r in every)]
    rows = []
    for data in present(SETS, every, "data"):
        for settings in sorted({_name(r) for r in filter_records(every, data=data)}):
            own = [r for r in filter_records(every, data=data) if _name(r) == settings]
            cells = [cell(own, _decision(key), 3) for key, _ in names]
            rows.append((data, settings, *cells))
    return Table(
        f"Decisions: {TITLES[scenario]}",
        "Shares of documents, seeds not counted, mean ± standard deviation over draws. False "
        "alarms: own documents in Other or None. Kept out: foreign documents in Other or None. "
        "Right place: in the Other of the right parent, or None. Leaf accuracy and B-cubed F1 "
        "of own documents. Largest topic: its share of all documents. Proposed: missing topics of "
        "level 1 that a proposal mostly consists of, with as many proposals as are missing.",
        ("data", "method", *(title for _, title in names)),
        tuple(rows),
    )


def promise_table(records: Iterable[Record]) -> str:
    """What is lost and what is rejected at the default, by the number of seeds a topic."""
    rows = []
    own = [r for r in filter_records(records, scenario="few") if not r["setting"]["parameters"]]
    for seeds in sorted({r["setting"]["seeds"] for r in own}):
        row = [str(seeds), str(-(-LEAST_SEEDS // seeds))]
        for key in ("false_alarms", "kept_out"):
            every = [r for r in own if r["setting"]["seeds"] == seeds]
            means = [
                np.mean([r["decision"][key] for r in filter_records(every, data=data)])
                for data in present(SETS, every, "data")
            ]
            row += [f"{np.mean(means):.0%}", f"{min(means):.0%} to {max(means):.0%}"]
        rows.append(row)
    headings = ("seeds a topic", "topics needed", "own documents lost", "by set",
                "foreign documents rejected", "by set")  # fmt: skip
    return grid(headings, rows)


def _expectations(records: Iterable[Record]) -> Iterator[tuple[str, str, list[Record]]]:
    """Scenario, set and records of the default method that say what accuracy it expects."""
    every = [r for r in filter_records(records, seeds=SEEDS) if r.get("expected")]
    every = [r for r in every if not r["setting"]["parameters"]]
    for scenario in present(SCENARIOS, every, "scenario"):
        for data in present(SETS, every, "data"):
            yield scenario, data, list(filter_records(every, scenario=scenario, data=data))


def expected_table(records: Iterable[Record]) -> Table:
    """Accuracy that a fit expects, beside the accuracy of its placements."""
    rows = []
    for scenario, data, own in _expectations(records):
        for level in range(max((len(r["expected"]) for r in own), default=0)):
            cells = [r["expected"][level] for r in own if len(r["expected"]) > level]
            inside = sum(one["low"] <= one["accuracy"] <= one["high"] for one in cells)
            means = [np.mean([one[part] for one in cells]) for part in ("value", "accuracy")]
            shown = (f"{mean:.2f}" for mean in means)
            rows.append((TITLES[scenario], data, str(level + 1), *shown, f"{inside}/{len(cells)}"))
    return Table(
        "Expected accuracy",
        "Accuracy of the documents placed at each level as the fit expects it and as it is, mean "
        "over draws, and in how many draws the interval of 95% holds it. A foreign document that "
        "is placed is an error.",
        ("world", "data", "level", "expected", "seen", "inside the interval"),
        tuple(rows),
    )


def expected_topics_table(records: Iterable[Record]) -> Table:
    """Accuracy that a fit expects of single topics, beside two simpler guesses."""
    rows = []
    for scenario, data, own in _expectations(records):
        levels = [one for r in own for one in r["expected"] if "topics" in one]
        if not levels:
            continue
        topics, inside, large = (
            sum(one[part] for one in levels) for part in ("topics", "topics_inside", "large_topics")
        )
        distances = [
            sum(one[part] for one in levels) / max(large, 1)
            for part in ("topic_distance", "level_distance", "score_distance")
        ]
        ranks = [one["rank"] for one in levels if one["rank"] is not None]
        rank = f"{np.mean(ranks):.2f}" if ranks else "-"
        width = sum(one["topic_width"] * one["topics"] for one in levels) / topics
        rows.append(
            (TITLES[scenario], data, str(topics), f"{inside / topics:.0%}", f"{width:.2f}",
             rank, *(f"{one:.2f}" for one in distances))
        )  # fmt: skip
    return Table(
        "Expected accuracy of topics",
        "Topics of all draws, how many intervals of 95% hold the accuracy seen, and how wide they "
        "are. Of topics with at least 20 documents: rank correlation of expected and seen "
        "accuracy, mean over levels and draws; mean distance from the accuracy seen of the "
        "accuracy expected of the topic, of that expected of its level, and of the mean score of "
        "its documents.",
        (
            "world", "data", "topics", "inside the interval", "width", "rank correlation",
            "distance", "of the level's", "of the mean score",
        ),
        tuple(rows),
    )  # fmt: skip


def tables(records: Iterable[Record]) -> list[Table]:
    """Every table for which there are records."""
    every = list(records)
    scenarios = present(SCENARIOS, every, "scenario")
    made = [detector_table(every, scenario) for scenario in scenarios]
    made += [decision_table(every, scenario) for scenario in scenarios]
    made += [expected_table(every), expected_topics_table(every)]
    return [table for table in made if table.rows]


def _name(record: Record) -> str:
    setting = record["setting"]
    seeds = [] if setting["seeds"] == SEEDS else [f"{setting['seeds']} seeds"]
    settings = [f"{name}={value}" for name, value in setting["parameters"].items()]
    return " ".join([setting["method"], *seeds, *settings])


def _known(record: Record, key: str) -> bool:
    return record["decision"].get(key) is not None


def _detector(name: str, part: str) -> Pick:
    return lambda record: record["detectors"][name][part]


def _decision(key: str) -> Pick:
    return lambda record: record["decision"].get(key)


def _mean(records: list[Record], sets: Iterable[str], pick: Pick) -> str:
    """Mean over sets of the means over draws."""
    values = [[pick(r) for r in filter_records(records, data=data)] for data in sets]
    means = [np.mean([v for v in each if v is not None]) for each in values if each]
    return f"{np.mean(means):.2f}" if means else "-"
