"""One run: fit a method in a scenario, judge its decision and every detector's score."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from hierseed.assignments import Assignments
from hierseed.core.mixture.accuracy import Share
from hierseed.estimators.parameters import METHODS
from hierseed.evaluate import score as score_levels
from hierseed.evaluate import score_left_out
from hierseed.evaluate.left_out import INSIDE
from hierseed.proposals import Proposals, propose_topics
from hierseed_bench.foreign.detectors import DETECTORS, Situation
from hierseed_bench.foreign.scenarios import SCENARIOS, Scenario, make_scenario
from hierseed_bench.runs.config import MIN_DOCS
from hierseed_bench.runs.environment import provenance
from hierseed_bench.runs.prepared import ready
from hierseed_bench.runs.records import Record
from hierseed_bench.runs.run import rounded

SETS = ("20newsgroups", "arxiv", "cap", "wos_partial", "us_code")
ENOUGH = 20  # documents of a topic whose accuracy is compared with the expected one
RANKED = 5  # such topics of a level that are ranked
ROUNDING = 1e-9
FALSE_ALARM = 0.05  # share of own documents lost, at which detectors are compared


@dataclass(frozen=True)
class ForeignRun:
    """The configuration of one run.

    Parameters
    ----------
    detectors : names of the detectors to judge; those of vectors do not depend on the method
    """

    data: str
    scenario: str
    draw: int
    method: str = "anchored"
    parameters: tuple[tuple[str, Any], ...] = ()
    seeds: int = 4
    vectors: str = "minilm"
    limit: int = 0
    detectors: tuple[str, ...] = tuple(DETECTORS)

    @property
    def key(self) -> str:
        """A short hash that tells runs apart."""
        return sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    def __str__(self) -> str:
        more = "".join(f" {name}={value}" for name, value in self.parameters)
        return f"{self.data} {self.scenario} {self.method}{more} draw={self.draw}"


def plan(
    data: Iterable[str] = SETS,
    scenarios: Iterable[str] = tuple(SCENARIOS),
    draws: int = 5,
    **options: Any,
) -> list[ForeignRun]:
    """Return every run of the table, one data set after the other."""
    every = product(data, scenarios, range(draws))
    return [ForeignRun(name, scenario, draw, **options) for name, scenario, draw in every]


def run_one(run: ForeignRun) -> Record:
    """Fit and judge."""
    shape = (run.data, run.vectors, MIN_DOCS, run.limit, 0.0, 0.0)
    scenario = make_scenario(ready(shape).dataset, run.scenario, run.draw, run.seeds)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        started = time.process_time()
        model = METHODS[run.method].estimator(scenario.taxonomy, **dict(run.parameters), n_jobs=1)
        model.fit(scenario.X, scenario.y)
        fitted = time.process_time()
        placed = model.assign(scenario.X)
        detected = judge_detectors(scenario, model, placed, run.detectors)
        wanted = len(np.unique(scenario.missing[scenario.missing >= 0]))
        share = getattr(model, "foreign_share_", None)
        proposed = propose_topics(
            placed, scenario.X, model.vectors_, wanted, share=share.value if share else 0.0
        )
    return {
        "key": run.key,
        "setting": asdict(run) | {"parameters": dict(run.parameters)},
        "decision": rounded(
            judge_decision(scenario, placed) | {"proposed": judge_proposals(scenario, proposed)}
        ),
        "detectors": rounded(detected),
        "expected": rounded(judge_expected(scenario, model, placed)),
        "foreign_share": rounded(_share(getattr(model, "foreign_share_", None))),
        "sizes": {
            "documents": len(scenario.X),
            "topics": len(scenario.taxonomy),
            "seeds": len(scenario.seeds),
            "foreign": int(scenario.foreign.sum()),
        },
        "seconds": {"fit_processor": round(fitted - started, 3)},
        **provenance(),
    }


def judge_detectors(
    scenario: Scenario, model: Any, placed: Assignments, names: Iterable[str]
) -> dict[str, Any]:
    """AUROC and share kept out at 5% false alarms, of each detector; {} if nothing is foreign."""
    rows = scenario.judged
    foreign = scenario.foreign[rows]
    if not foreign.any() or foreign.all():
        return {}
    situation = Situation(scenario, model, placed)
    found = {}
    for name in names:
        found[name] = separation(DETECTORS[name][1](situation)[rows], foreign)
    return found


def separation(values: NDArray[Any], foreign: NDArray[np.bool_]) -> dict[str, float]:
    """Say how well a score that is high for own documents tells foreign ones from them."""
    values = np.nan_to_num(np.asarray(values, dtype=np.float64), nan=-np.inf, neginf=-np.inf)
    finite = values[np.isfinite(values)]
    values = np.maximum(values, finite.min() - 1 if len(finite) else 0.0)
    threshold = np.quantile(values[~foreign], FALSE_ALARM, method="lower")
    return {
        "auroc": float(roc_auc_score(~foreign, values)),
        "kept_out": float((values[foreign] < threshold).mean()),
    }


def judge_decision(scenario: Scenario, placed: Assignments) -> dict[str, Any]:
    """Judge where the method itself put the documents: listed topics, Other or None."""
    rows = scenario.judged
    topic = np.asarray(placed.labels)[rows]
    levels = np.asarray(placed.levels)[rows]
    home, gold = scenario.home[rows], scenario.gold[rows]
    own = home == INSIDE
    is_other = np.append(placed.taxonomy.is_other, False)[topic]
    refused = (topic < 0) | is_other
    fate = score_left_out(placed.taxonomy, topic, home)
    listed = topic[~refused]
    sizes = np.bincount(listed, minlength=1)
    scores = score_levels(scenario.taxonomy, levels[own], [[t] for t in gold[own]])
    truth = np.bincount(gold[own]).max() / len(rows)
    return {
        "false_alarms": float(refused[own].mean()),
        "none_of_own": float((topic[own] < 0).mean()),
        "kept_out": float(refused[~own].mean()) if (~own).any() else None,
        "home": fate.home if (~own).any() else None,
        "leaf_accuracy": float((topic[own] == gold[own]).mean()),
        "bcubed_f1": scores.to_dict()["all"]["mean"]["bcubed_f1"],
        "largest_topic": float(sizes.max() / len(rows)),
        "largest_topic_gold": float(truth),
    }


def judge_expected(scenario: Scenario, model: Any, placed: Assignments) -> list[dict[str, Any]]:
    """Accuracy that the fit expects at each level, with its interval, and the accuracy seen.

    Of the documents placed at a level; a foreign document is never placed rightly.
    """
    rows = scenario.judged
    levels, gold = np.asarray(placed.levels)[rows], scenario.gold[rows]
    path = np.vstack([scenario.taxonomy.tree.ancestors, np.full(levels.shape[1], -1)])
    listed = np.append(~np.asarray(placed.taxonomy.is_other), False)
    scores = np.asarray(placed.score)[placed.primary][rows]
    found = []
    for level, share in enumerate(getattr(model, "expected_accuracy_", [])):
        here = listed[levels[:, level]]
        if here.any():
            topic, right = levels[here, level], (levels[:, level] == path[gold, level])[here]
            found.append(asdict(share) | {"accuracy": float(right.mean())})
            expected = model.expected_topic_accuracy_
            found[-1] |= judge_topics(topic, right, scores[here, level], expected, share.value)
    return found


def judge_topics(
    topic: NDArray[np.intp],
    right: NDArray[np.bool_],
    score: NDArray[np.floating],
    expected: list[Share | None],
    level: float,
) -> dict[str, float | None]:
    """Compare the accuracy that each topic of a level is expected to have with the one seen.

    Parameters
    ----------
    topic, right, score : of each document placed at the level
    expected : of each topic
    level : accuracy expected of the whole level

    Returns the number of topics, those whose interval holds the accuracy, and the mean width of
    intervals. Of topics with `ENOUGH` documents: their number; distances of the accuracy seen
    from the one expected, from that of the level, and from the mean score, summed up; and the
    rank correlation of expected and seen.
    """
    topics, of, n = np.unique(topic, return_inverse=True, return_counts=True)
    seen, mean = (np.bincount(of, value) / n for value in (right, score))
    low, value, high = np.array(
        [(one.low, one.value, one.high) if one else (0.0, level, 1.0)
         for one in (expected[t] for t in topics)]
    ).T  # fmt: skip
    inside = (low <= seen + ROUNDING) & (seen <= high + ROUNDING)
    many = n >= ENOUGH
    ranked = many.sum() >= RANKED and np.ptp(value[many]) > 0 and np.ptp(seen[many]) > 0
    return {
        "topics": len(topics),
        "topics_inside": int(inside.sum()),
        "topic_width": float((high - low).mean()),
        "large_topics": int(many.sum()),
        "topic_distance": float(np.abs(value - seen)[many].sum()),
        "level_distance": float(np.abs(level - seen)[many].sum()),
        "score_distance": float(np.abs(mean - seen)[many].sum()),
        "rank": float(spearmanr(value[many], seen[many]).statistic) if ranked else None,
    }


def judge_proposals(scenario: Scenario, proposals: Proposals) -> float | None:
    """Share of the missing topics of level 1 that most documents of some proposal come from."""
    missing = np.unique(scenario.missing[scenario.missing >= 0])
    if not len(missing):
        return None
    found = set()
    for proposal in proposals:
        topics, counts = np.unique(scenario.missing[proposal.rows], return_counts=True)
        if 2 * counts.max() > counts.sum():
            found.add(int(topics[counts.argmax()]))
    return len(found - {-1}) / len(missing)


def _share(estimate: Any) -> dict[str, float] | None:
    """Return the estimated share of foreign documents and its interval."""
    if estimate is None:
        return None
    return {part: float(getattr(estimate, part)) for part in ("value", "low", "high")}
