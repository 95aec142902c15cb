"""Which documents to label next.

A label helps most where the model is uncertain, where many documents are similar, and where no
other label of the same round is redundant with it. So documents are weighted by their
uncertainty, the weighted corpus is clustered into as many clusters as labels are wanted
(k-means), and the document nearest to the centre of each cluster is suggested.

Outliers, far from every topic, are handled separately: as seeds they mislead a model, so only one
suggestion in ten is an outlier, the densest groups first. They show where the taxonomy may lack
a topic.

`bench/scripts/bench_suggest.py` compares this with random choice at equal cost.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import Assignments
from hierseed.core.arrays import Floats, Ints
from hierseed.errors import CorpusError, ParameterError

if TYPE_CHECKING:
    import pandas as pd


POOL = 20_000  # documents that are clustered; a larger corpus is sampled by uncertainty
LIKELY = 2 / 3  # a document with a higher score is not uncertain itself
FAR = 0.85  # an outlier is further from its topic than this share of all documents


@dataclass(frozen=True)
class Suggestions:
    """Documents to label, the most useful first.

    Attributes
    ----------
    row : the document
    topic, runner_up : where it is placed now, and what came second; -1 for none
    score : of the placement, 0 for None
    similar : about how many uncertain documents a label would represent
    kind : `between` two topics, `likely` in one, among many doubtful documents, `far` from
        all, or `unexplained`, with many similar documents
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
        ids = self.assignments.ids if ids is None else ids
        import pandas as pd  # slow to import, and not needed by a fit

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
    per_topic : at most this many from one current topic, even if that gives fewer than n;
        None: three times an equal share (at least 3) while other topics have some

    Examples
    --------
    >>> import numpy as np
    >>> from hierseed import Taxonomy, UnfitHierSeed, suggest
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.5, 0.5]])
    >>> model = UnfitHierSeed(Taxonomy.from_paths(["A", "B"]), other=False).fit(X, [0, 1, -1, -1])
    >>> sorted(suggest(model.assign(X, [0, 1, -1, -1]), X, 2).row.tolist())
    [2, 3]
    """
    if X.shape[0] != assignments.n_documents:
        raise CorpusError(
            f"{assignments.n_documents:,} documents assigned but {X.shape[0]:,} vectors. "
            "Give the vectors that were assigned."
        )
    if n < 1:
        raise ParameterError(f"n must be at least 1, got {n}")
    state = _State.of(assignments)
    is_open = ~assignments.is_seed
    is_open[np.asarray(labelled, dtype=np.intp)] = False
    # sorted by value, so that the result does not depend on the row order
    rows = np.lexsort((state.distance_rank, state.doubt))
    rows = rows[is_open[rows]]
    is_far = state.distance_rank[rows] > FAR
    n = min(n, len(rows))
    far = min(max(1, n // 10) if n > 1 else 0, int(is_far.sum()))
    near = min(n - far, int((~is_far).sum()))
    groups = [(rows[~is_far], near), (rows[is_far], n - near)]
    found = [_representatives(state, X, *group, per_topic, random_state) for group in groups]
    return _result(assignments, state, _Found.join(found))


@dataclass(frozen=True)
class _Found:
    """Documents chosen, each for a cluster."""

    row: Ints
    mass: Floats  # weight of the cluster
    similar: Floats  # documents in doubt in it
    alone: NDArray[np.bool_]  # few of the cluster are unexplained

    @classmethod
    def join(cls, parts: Sequence[_Found]) -> _Found:
        """Put the choices together, the heaviest cluster first."""
        names = cls.__dataclass_fields__
        both = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        order = np.argsort(-both["mass"], kind="stable")
        return cls(**{name: values[order] for name, values in both.items()})


def _representatives(
    state: _State, X: Any, rows: Ints, n: int, per_topic: int | None, random_state: int
) -> _Found:
    """Cluster rows weighted by uncertainty, and take the nearest to each centre."""
    from sklearn.cluster import KMeans  # slow to import, and not needed by a fit
    from sklearn.exceptions import ConvergenceWarning

    rows, weight, represents = _pool(state, rows, random_state)
    n = min(n, len(rows))
    if n == 0:
        return _Found(np.zeros(0, np.intp), np.zeros(0), np.zeros(0), np.zeros(0, bool))
    vectors = np.asarray(X[rows], dtype=np.float32)
    spare = 1.25 if per_topic is None else 3.0  # clusters beyond n, for the limit per topic
    k = min(len(rows), int(np.ceil(spare * n)))
    means = KMeans(k, n_init=1, max_iter=20, random_state=random_state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than clusters
        cluster = means.fit(vectors, sample_weight=weight).labels_
    away = ((vectors - means.cluster_centers_[cluster]) ** 2).sum(axis=1)
    order = np.lexsort((away, cluster))
    middle = order[np.r_[True, cluster[order][1:] != cluster[order][:-1]]]
    mass = np.bincount(cluster, weight * represents, minlength=k)
    middle = middle[np.argsort(-mass[cluster[middle]], kind="stable")]
    middle = middle[_spread(state.topic[rows[middle]], n, per_topic)]

    mine = cluster[middle]
    unexplained = np.bincount(cluster, state.unexplained[rows], minlength=k)
    alone = (unexplained < 3) | (2 * unexplained <= np.bincount(cluster, minlength=k))
    similar = np.bincount(cluster, represents * state.doubt[rows], minlength=k)
    return _Found(rows[middle], mass[mine], similar[mine], alone[mine])


@dataclass(frozen=True)
class _State:
    """Features of each document."""

    topic: Ints
    runner_up: Ints
    score: Floats  # 0 for None
    doubt: Floats  # 1 for None and Other
    distance_rank: Floats  # rank of the distance to its topic, between 0 and 1
    unexplained: NDArray[np.bool_]  # None, Other or an outlier

    @classmethod
    def of(cls, assignments: Assignments) -> _State:
        from scipy.stats import rankdata  # slow to import

        first = assignments.primary
        topic = np.asarray(assignments.labels, dtype=np.intp)
        score = np.nan_to_num(assignments.at(assignments.score)[first])
        distance = np.nan_to_num(assignments.at(assignments.distance)[first], posinf=0.0)
        nowhere = (topic < 0) | assignments.is_other[first]
        distance_rank = (rankdata(distance) - 0.5) / max(1, len(distance))
        return cls(
            topic,
            np.asarray(assignments.runner_up, dtype=np.intp)[first],
            np.where(topic < 0, 0.0, score),
            np.where(nowhere, 1.0, 1.0 - score),
            distance_rank,
            nowhere | (distance_rank > FAR),
        )


def _pool(state: _State, rows: Ints, random_state: int) -> tuple[Ints, Floats, Floats]:
    """Rows to cluster, their weights, and how many documents each represents."""
    weight = state.doubt[rows] ** 2 + 1e-6
    if len(rows) <= POOL:
        return rows, weight, np.ones(len(rows))
    chance = weight * (POOL / weight.sum())
    for _ in range(10):  # clip probabilities at 1, and raise the others
        chance = np.minimum(chance, 1.0)
        chance *= POOL / chance.sum()
    chance = np.minimum(chance, 1.0)
    drawn = np.flatnonzero(np.random.default_rng(random_state).random(len(rows)) < chance)
    return rows[drawn], weight[drawn] / chance[drawn], 1 / chance[drawn]


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


def _sentence(assignments: Assignments, kind: str, topic: int, runner_up: int, similar: int) -> str:
    paths = assignments.taxonomy.paths
    many = "few documents are like it"
    if similar > 1:
        many = f"represents about {similar:,} uncertain documents"
    if kind == "between":
        return f"between {paths[topic]!r} and {paths[runner_up]!r}; {many}"
    if kind == "likely":
        return f"likely {paths[topic]!r}, next {paths[runner_up]!r}; {many}"
    if topic < 0:
        place = "belongs to no listed topic"
    elif assignments.taxonomy.is_other[topic]:
        place = f"fits no listed topic of {_parent(assignments, topic)}"
    else:
        place = f"far from all topics, the nearest is {paths[topic]!r}"
    return f"{place}; {many}"


def _parent(assignments: Assignments, topic: int) -> str:
    parent = int(assignments.taxonomy.tree.parent[topic])
    return repr(assignments.taxonomy.paths[parent]) if parent >= 0 else "the taxonomy"


def _result(assignments: Assignments, state: _State, found: _Found) -> Suggestions:
    rows = found.row
    uncertain = ~state.unexplained[rows] & (state.runner_up[rows] >= 0)
    kinds = np.where(found.alone, "far", "unexplained")
    kinds = np.where(uncertain, np.where(state.score[rows] > LIKELY, "likely", "between"), kinds)
    return Suggestions(
        assignments,
        rows,
        state.topic[rows],
        state.runner_up[rows],
        state.score[rows],
        np.maximum(1, np.round(found.similar)).astype(np.intp),
        tuple(kinds.tolist()),
    )
