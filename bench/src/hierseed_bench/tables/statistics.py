"""Are differences real? Paired differences with bootstrap intervals, and ranks over data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from hierseed.errors import CorpusError
from hierseed_bench.competitors.catalogue import METHODS
from hierseed_bench.runs.plan import MAIN, OPEN_SETS, UNSEEN_SETS
from hierseed_bench.runs.records import Records
from hierseed_bench.tables.cells import mean_of, one_topic_runs
from hierseed_bench.tables.markdown import Table

OURS = "anchored"
SETS = (*OPEN_SETS, *UNSEEN_SETS)
RESAMPLES = 10_000
LEVEL = 0.05
ByDraw = dict[tuple[str, int], float]  # data set and draw: score


def scores(records: Records, measure: str = "bcubed_f1") -> dict[str, ByDraw]:
    """Score of each method, by data set and draw."""
    found: dict[str, ByDraw] = {}
    pick = mean_of(measure)
    for record in one_topic_runs(records):
        setting = record["setting"]
        value = pick(record)
        if setting["data"] in SETS and value is not None:
            found.setdefault(setting["method"], {})[setting["data"], setting["draw"]] = value
    return found


def paired(ours: ByDraw, theirs: ByDraw) -> list[list[float]]:
    """Differences draw by draw, one list per data set that both have."""
    both = sorted(ours.keys() & theirs.keys())
    sets = dict.fromkeys(data for data, _ in both)
    return [[ours[at] - theirs[at] for at in both if at[0] == data] for data in sets]


def interval(differences: Sequence[Sequence[float]], seed: int = 0) -> tuple[float, float, float]:
    """Mean over sets of the mean difference, and its 95% bootstrap interval.

    Data sets are drawn with replacement, and draws within each: both vary.
    """
    rng = np.random.default_rng(seed)
    means = []
    for each in differences:
        values = np.asarray(each, dtype=float)
        means.append(values[rng.integers(len(values), size=(RESAMPLES, len(values)))].mean(axis=1))
    table = np.stack(means)  # sets x resamples
    chosen = rng.integers(len(table), size=(len(table), RESAMPLES))
    drawn = table[chosen, np.arange(RESAMPLES)].mean(axis=0)
    low, high = np.quantile(drawn, [LEVEL / 2, 1 - LEVEL / 2])
    return float(np.mean([np.mean(each) for each in differences])), float(low), float(high)


@dataclass(frozen=True)
class Ranks:
    """Mean ranks over data sets, 1 is best, and what makes a difference of them."""

    methods: tuple[str, ...]
    sets: tuple[str, ...]
    mean: NDArray[np.float64]
    p_value: float
    """Of Friedman's test that all methods are alike."""
    critical: float
    """Nemenyi's critical difference of mean ranks at 5%."""


def rank(found: dict[str, ByDraw], methods: Sequence[str] = MAIN) -> Ranks:
    """Rank methods on the data sets that all of them have, by their means over draws."""
    methods = [m for m in methods if m in found and m != "ridge-all-labels"]
    sets = [s for s in SETS if all(any(at[0] == s for at in found[m]) for m in methods)]
    table = np.array(
        [[np.mean([v for at, v in found[m].items() if at[0] == s]) for m in methods] for s in sets]
    )
    k, n = len(methods), len(sets)
    if k < 3 or not n:
        raise CorpusError("ranks need three methods on one data set. Make runs first.")
    p_value = float(friedmanchisquare(*table.T).pvalue) if n > 1 else float("nan")
    places = np.array([rankdata(-row) for row in table])
    width = float(studentized_range.ppf(1 - LEVEL, k, np.inf)) / np.sqrt(2)
    critical = width * np.sqrt(k * (k + 1) / (6 * n))
    return Ranks(tuple(methods), tuple(sets), places.mean(axis=0), p_value, float(critical))


def difference_table(records: Records, measure: str = "bcubed_f1") -> Table:
    """The default method less each other one."""
    found = scores(records, measure)
    rows = []
    for method, theirs in found.items():
        differences = paired(found[OURS], theirs) if method != OURS else []
        if differences:
            mean, low, high = interval(differences)
            ahead = f"{sum(np.mean(each) > 0 for each in differences)}/{len(differences)}"
            text = f"{mean:+.3f} [{low:+.3f}, {high:+.3f}]"
            pairs = str(sum(map(len, differences)))
            rows.append((mean, (METHODS[method].title, text, ahead, pairs)))
    return Table(
        "Anchored HierSeed less each other method: B-cubed F1",
        "4 seeds a topic, protocol `all`, one topic a document, paired by data set and draw. Mean "
        "over sets, with the 95% bootstrap interval over sets and draws; sets on which it is "
        "ahead; pairs compared. Ridge has all labels.",
        ("method", "difference", "ahead on", "pairs"),
        tuple(row for _, row in sorted(rows, key=lambda each: each[0])),
    )


def rank_table(records: Records) -> Table:
    """Mean ranks, with Friedman's test and Nemenyi's critical difference."""
    found = rank(scores(records))
    order = np.argsort(found.mean)
    rows = tuple((METHODS[found.methods[i]].title, f"{found.mean[i]:.2f}") for i in order)
    return Table(
        "Mean rank over data sets",
        f"B-cubed F1, 4 seeds a topic, 1 is best, on {', '.join(found.sets)}. Friedman's test: p = "
        f"{found.p_value:.2g}. Differences below {found.critical:.2f} are not "
        "significant (Nemenyi, 5%).",
        ("method", "mean rank"),
        rows,
    )
