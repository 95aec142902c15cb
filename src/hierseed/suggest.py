"""Which documents to label next.

A label is worth most where the model is in doubt, where many documents are like the one
labelled, and where no label of the same round says the same. So documents are weighted by their
doubt, the weighted corpus is cut into as many clusters as labels are wanted (k-means), and of
each cluster the document nearest to the middle is suggested. A cluster of one stray document
weighs little; a dense group that no topic explains gets a cluster of its own.

`benchmarks/bench_suggest.py` holds this against random choice at equal cost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from hierseed.assignments import Assignments
from hierseed.errors import CorpusError

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

POOL = 20_000  # documents that are clustered; of a larger corpus they are drawn by their doubt
FAR = 0.95  # further from its topic than this share of all documents: a stranger
REASONS = ("between", "far", "unexplained")


@dataclass(frozen=True)
class Suggestions:
    """Documents to label, the most useful first.

    Attributes
    ----------
    row : the document
    topic, runner_up : where it is placed now, and what came second; -1 for none
    score : of the placement, 0 for None
    similar : documents in doubt that a label would speak for, about
    kind : `between` two topics, `far` from all, or `unexplained` beside many like it
    """

    assignments: Assignments
    row: Ints
    topic: Ints
    runner_up: Ints
    score: Floats
    similar: Ints
    kind: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.row)

    @property
    def reasons(self) -> list[str]:
        """A sentence for each document."""
        return [
            _sentence(self.assignments, *each)
            for each in zip(self.kind, self.topic, self.runner_up, self.similar)
        ]

    def to_frame(self, ids: Sequence[Any] | None = None) -> pd.DataFrame:
        """Return the table: id, placed, runner_up, score, similar, kind, reason."""
        paths = np.array([*self.assignments.taxonomy.paths, ""], dtype=object)
        return pd.DataFrame(
            {
                "id": [ids[row] for row in self.row] if ids is not None else self.row,
                "placed": paths[self.topic],
                "runner_up": paths[self.runner_up],
                "score": np.round(self.score, 3),
                "similar": self.similar,
                "kind": list(self.kind),
                "reason": self.reasons,
            }
        )


def suggest(
    assignments: Assignments,
    X: Any,
    n: int = 20,
    *,
    labelled: Sequence[int] | NDArray[np.integer] = (),
    per_topic: int | None = None,
    random_state: int = 0,
) -> Suggestions:
    """Suggest up to n documents to label next.

    Parameters
    ----------
    assignments : from `model.assign(X, y)`; documents marked as seeds are not suggested again
    X : the vectors that were assigned
    labelled : more rows that have a label already
    per_topic : at most so many from one topic as it stands now, fewer than n in all if need be;
        None: three times an equal share (at least 3) while other topics have some
    """
    if X.shape[0] != assignments.n_documents:
        raise CorpusError(
            f"{assignments.n_documents:,} documents assigned but {X.shape[0]:,} vectors. "
            "Give the vectors that were assigned."
        )
    if n < 1:
        raise CorpusError(f"n must be at least 1, got {n}")
    state = _State.of(assignments)
    open_rows = ~assignments.is_seed
    open_rows[np.asarray(labelled, dtype=np.intp)] = False
    rows, weight, represents = _pool(state, np.flatnonzero(open_rows), random_state)
    n = min(n, len(rows))
    if n == 0:
        return _result(assignments, state, np.zeros(0, np.intp), np.zeros(0), ())

    vectors = np.asarray(X[rows], dtype=np.float32)
    spare = 1.25 if per_topic is None else 3.0  # clusters beyond n, for the limit per topic
    k = min(len(rows), int(np.ceil(spare * n)))
    means = KMeans(k, n_init=1, max_iter=20, random_state=random_state)
    cluster = means.fit(vectors, sample_weight=weight).labels_
    away = ((vectors - means.cluster_centers_[cluster]) ** 2).sum(axis=1)
    order = np.lexsort((away, cluster))
    middle = order[np.r_[True, cluster[order][1:] != cluster[order][:-1]]]
    mass = np.bincount(cluster, weight * represents, minlength=k)[cluster[middle]]
    middle = middle[np.argsort(-mass, kind="stable")]

    topics = state.topic[rows[middle]]
    middle = middle[_spread(topics, n, per_topic)]
    doubtful = np.bincount(cluster, represents * state.doubt[rows], minlength=k)
    kinds = [_kind(state, rows, cluster, i) for i in middle]
    return _result(assignments, state, rows[middle], doubtful[cluster[middle]], tuple(kinds))


@dataclass(frozen=True)
class _State:
    """What is known about each document."""

    topic: Ints
    runner_up: Ints
    score: Floats  # 0 for None
    doubt: Floats  # 1 for None and Other
    strange: Floats  # rank of the distance to its topic, between 0 and 1
    unexplained: NDArray[np.bool_]  # None, Other or a stranger

    @classmethod
    def of(cls, assignments: Assignments) -> _State:
        first = assignments.primary
        topic = np.asarray(assignments.labels, dtype=np.intp)
        score = np.nan_to_num(assignments.at(assignments.score)[first])
        distance = np.nan_to_num(assignments.at(assignments.distance)[first], posinf=0.0)
        nowhere = (topic < 0) | assignments.is_other[first]
        ranks = np.argsort(np.argsort(distance, kind="stable"), kind="stable")
        strange = (ranks + 0.5) / max(1, len(ranks))
        return cls(
            topic,
            np.asarray(assignments.runner_up, dtype=np.intp)[first],
            np.where(topic < 0, 0.0, score),
            np.where(nowhere, 1.0, 1.0 - score),
            strange,
            nowhere | (strange > FAR),
        )


def _pool(state: _State, rows: Ints, random_state: int) -> tuple[Ints, Floats, Floats]:
    """Rows to cluster, their weights, and how many documents each one stands for.

    Rows are put in the order of what is known about them: the result does not depend on the
    order of the corpus.
    """
    rows = rows[np.lexsort((state.strange[rows], state.doubt[rows]))]
    weight = state.doubt[rows] ** 2 * (0.5 + state.strange[rows]) + 1e-6
    if len(rows) <= POOL:
        return rows, weight, np.ones(len(rows))
    random = np.random.default_rng(random_state)
    drawn = random.choice(len(rows), POOL, replace=False, p=weight / weight.sum())
    drawn.sort()
    represents = np.maximum(1.0, weight.sum() / (POOL * weight[drawn]))
    return rows[drawn], np.ones(POOL), represents


def _spread(topics: Ints, n: int, per_topic: int | None) -> Ints:
    """Take the first n, no topic more often than allowed; by default while others are left."""
    most = per_topic or max(3, -(-3 * n // len(np.unique(topics))))
    taken: list[int] = []
    spare: list[int] = []
    count: dict[int, int] = {}
    for i, topic in enumerate(topics.tolist()):
        count[topic] = count.get(topic, 0) + 1
        (taken if count[topic] <= most else spare).append(i)
    return np.array((taken if per_topic else taken + spare)[:n], dtype=np.intp)


def _kind(state: _State, rows: Ints, cluster: Ints, i: int) -> str:
    """Say why: of two topics, or of none; and if of none, alone or with many."""
    if not state.unexplained[rows[i]]:
        return "between" if state.runner_up[rows[i]] >= 0 else "far"
    around = state.unexplained[rows[cluster == cluster[i]]]
    return "unexplained" if around.sum() >= 3 and around.mean() > 0.5 else "far"


def _sentence(assignments: Assignments, kind: str, topic: int, runner_up: int, similar: int) -> str:
    paths = assignments.taxonomy.paths
    many = f"about {similar:,} documents in doubt are like it" if similar > 1 else "few are like it"
    if kind == "between":
        return f"between {paths[topic]!r} and {paths[runner_up]!r}; {many}"
    if topic < 0:
        place = "no topic reaches it"
    elif assignments.taxonomy.is_other[topic]:
        place = f"fits no listed topic of {_parent(assignments, topic)}"
    else:
        place = f"far from all topics, the nearest is {paths[topic]!r}"
    return f"{place}; {many}"


def _parent(assignments: Assignments, topic: int) -> str:
    parent = int(assignments.taxonomy.tree.parent[topic])
    return repr(assignments.taxonomy.paths[parent]) if parent >= 0 else "the taxonomy"


def _result(
    assignments: Assignments, state: _State, rows: Ints, similar: Floats, kind: tuple[str, ...]
) -> Suggestions:
    return Suggestions(
        assignments,
        rows,
        state.topic[rows],
        state.runner_up[rows],
        state.score[rows],
        np.maximum(1, np.round(similar)).astype(np.intp),
        kind,
    )
