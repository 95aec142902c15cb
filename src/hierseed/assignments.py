"""Assignments: documents x topics, with a distance and a score at each level."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Integers
from hierseed.core.score import Scored
from hierseed.errors import CorpusError
from hierseed.taxonomy import Taxonomy

if TYPE_CHECKING:
    import pandas as pd

Floats = NDArray[np.floating]

RANKED = 5  # most probable topics kept for each document
RECORD: dict[str, type] = {  # arrays with an entry for each record: small, for 10 million documents
    "row": np.intp,
    "topic": np.int32,
    "path": np.int32,
    "distance": np.float32,  # the last bits of float64 vary with the block
    "score": np.float32,
    "runner_up": np.int32,
    "belongs": np.float32,
    "ranked": np.int32,
    "chances": np.float32,
}


class Names(NamedTuple):
    """A column of texts as numbers in a list of names; -1 is the last name."""

    code: Integers
    names: list[str]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.names, dtype=object)[self.code]


def _frame(columns: dict[str, Any]) -> pd.DataFrame:
    import pandas as pd  # slow to import, and not needed by a fit

    return pd.DataFrame({name: np.asarray(column) for name, column in columns.items()})


@dataclass(frozen=True)
class Assignments:
    """Placements of documents: one record for each document and topic.

    Records are sorted by document; of several for one document the first is the primary one.
    A document that belongs nowhere has one record with topic -1.

    Attributes
    ----------
    row : document of each record
    topic : deepest topic, -1 for None
    path : records x levels, topic at each level, -1 below the deepest
    distance : records x levels, to the topic's vector; for None, at level 1, to the nearest topic
    score : records x levels in [0, 1], never rising down the path; NaN below the deepest
    runner_up : the second most probable topic of the whole taxonomy, -1 if there was none; of a
        document in Other or None, the listed topic that it would have been placed in
    belongs : records x levels, probability that the document belongs to the topic at each level;
        at level 1, that it belongs to any listed topic. NaN below the deepest
    ranked : records x k, the most probable topics of the document, -1 beyond
    chances : records x k, their probabilities
    is_seed : per document
    ids : of the documents, if known

    Examples
    --------
    >>> import numpy as np
    >>> from hierseed import Taxonomy, UnfitHierSeed
    >>> X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9]])
    >>> model = UnfitHierSeed(Taxonomy.from_paths(["A", "B"]), other=False).fit(X, [0, 1, -1])
    >>> found = model.assign(X)
    >>> found.labels.tolist(), found.coverage
    ([0, 1, 0], 1.0)
    >>> found.to_frame()["topic"].tolist()
    ['A', 'B', 'A']

    The examples of the methods continue this one.
    """

    taxonomy: Taxonomy
    n_documents: int
    row: Integers
    topic: Integers
    path: Integers
    distance: Floats
    score: Floats
    runner_up: Integers
    belongs: Floats
    ranked: Integers
    chances: Floats
    is_seed: NDArray[np.bool_]
    ids: Sequence[Any] | None = None

    @classmethod
    def ungraded(
        cls,
        taxonomy: Taxonomy,
        n_documents: int,
        row: Integers,
        topic: Integers,
        path: Integers,
        distance: Floats,
        score: Floats,
        runner_up: Integers,
        is_seed: NDArray[np.bool_],
    ) -> Assignments:
        """Assignments without degrees of belonging: 1 where placed, 0 for None."""
        part = Scored.ungraded(row, topic, path, distance, score, runner_up)
        return cls(taxonomy, n_documents, is_seed=is_seed, **vars(part))

    def __len__(self) -> int:
        return len(self.row)

    @cached_property
    def primary(self) -> Integers:
        """The first record of each document.

        Examples
        --------
        >>> found.primary.tolist()
        [0, 1, 2]
        """
        return np.flatnonzero(np.diff(self.row, prepend=-1))

    @property
    def labels(self) -> Integers:
        """Deepest topic of each document, -1 for None.

        Examples
        --------
        >>> found.labels.tolist()
        [0, 1, 0]
        """
        return self.topic[self.primary]

    @property
    def levels(self) -> Integers:
        """The primary topic at each level, documents x levels; -1 below the deepest.

        Examples
        --------
        >>> found.levels.tolist()
        [[0], [1], [0]]
        """
        return self.path[self.primary]

    @property
    def is_none(self) -> NDArray[np.bool_]:
        """True for records of documents that belong nowhere.

        Examples
        --------
        >>> found.is_none.tolist()
        [False, False, False]
        """
        return np.asarray(self.topic < 0)

    @property
    def is_other(self) -> NDArray[np.bool_]:
        """True where the deepest topic is an Other.

        Examples
        --------
        >>> found.is_other.tolist()
        [False, False, False]
        """
        return np.asarray(~self.is_none & self.taxonomy.is_other[self.topic])

    @property
    def is_unsure(self) -> NDArray[np.bool_]:
        """True for None where the document probably belongs, but no topic is sure enough.

        Examples
        --------
        >>> found.is_unsure.tolist()
        [False, False, False]
        """
        return np.asarray(self.is_none & (self.belongs[:, 0] >= 0.5))

    @property
    def coverage(self) -> float:
        """Share of documents that are not None.

        Examples
        --------
        >>> found.coverage
        1.0
        """
        return float((self.labels >= 0).mean()) if self.n_documents else 0.0

    def counts(self) -> Integers:
        """Documents in each topic, those further down included.

        Examples
        --------
        >>> found.counts().tolist()
        [2, 1]
        """
        pairs = np.unique(
            np.stack([np.repeat(self.row, self.path.shape[1]), self.path.ravel()]), axis=1
        )
        topics = pairs[1][pairs[1] >= 0]
        return np.bincount(topics, minlength=len(self.taxonomy))

    def at(self, level_of: Floats) -> Floats:
        """Pick, for each record, the value at its deepest level (level 1 for None).

        Examples
        --------
        >>> (found.at(found.distance) > 0.1).tolist()
        [False, False, True]
        """
        depth = np.maximum((self.path >= 0).sum(axis=1) - 1, 0)
        return level_of[np.arange(len(self)), depth]

    def confident(self, threshold: float | Floats) -> Assignments:
        """Stop each document at the deepest topic whose score reaches the threshold.

        `threshold` may be one for each level, as `hierseed.evaluate.thresholds` gives them.
        Where even level 1 falls short the document becomes None. Seeds keep their topics.

        Examples
        --------
        >>> found.confident(2.0).labels.tolist()  # no score is as high
        [-1, -1, -1]
        """
        sure = (self.path >= 0) & ((self.score >= threshold) | self.is_seed[self.row, None])
        depth = np.cumprod(sure, axis=1).sum(axis=1)
        cut = np.arange(self.path.shape[1]) >= depth[:, None]
        lost = depth == 0
        deeper = self.path[np.arange(len(self)), np.minimum(depth, self.path.shape[1] - 1)]
        shortened = depth < (self.path >= 0).sum(axis=1)
        path = np.where(cut, -1, self.path)
        score = np.where(cut, np.nan, self.score)
        distance = np.where(cut, np.nan, self.distance)
        score[lost, 0], distance[lost, 0] = 0.0, self.distance[lost, 0]
        last = path[np.arange(len(self)), np.maximum(depth - 1, 0)]
        return replace(
            self,
            topic=last,
            path=path,
            score=score,
            distance=distance,
            runner_up=np.where(shortened, deeper, self.runner_up),
        )

    def select(self, level: int) -> Assignments:
        """Cut every path at a level.

        Examples
        --------
        >>> found.select(1).labels.tolist()
        [0, 1, 0]
        """
        cut = np.arange(self.path.shape[1]) >= level
        path = np.where(cut, -1, self.path)
        topic = path[np.arange(len(self)), np.maximum((path >= 0).sum(axis=1) - 1, 0)]
        return replace(
            self,
            topic=topic,
            path=path,
            score=np.where(cut, np.nan, self.score),
            distance=np.where(cut, np.nan, self.distance),
        )

    @classmethod
    def join(cls, parts: Iterable[Assignments]) -> Assignments:
        """Concatenate the assignments of consecutive chunks of a corpus."""
        every = list(parts)
        if not every:
            raise CorpusError(
                "no assignments to join: the corpus is empty. Give at least one document"
            )
        starts = np.cumsum([0, *(part.n_documents for part in every)])
        arrays: dict[str, Any] = {
            name: np.concatenate([getattr(part, name) for part in every])
            for name in (*RECORD, "is_seed")
        }
        arrays["row"] = arrays["row"] + np.repeat(starts[:-1], [len(part) for part in every])
        return cls(every[0].taxonomy, int(starts[-1]), **arrays)

    def top(self, k: int = RANKED) -> pd.DataFrame:
        """Return the most probable topics of each document: id, rank, topic, probability.

        Over all topics, the probabilities of a document sum up to the probability that it belongs
        to the topic it is placed in, not to `belongs`, which counts any listed topic.

        Examples
        --------
        >>> found.top(1)["topic"].tolist()
        ['A', 'B', 'A']
        """
        return _frame(self.top_columns(k, self.ids))

    def top_columns(self, k: int, ids: Sequence[Any] | None) -> dict[str, Any]:
        """Columns of `top`."""
        k = min(k, self.ranked.shape[1])
        topic, chance = self.ranked[self.primary, :k], self.chances[self.primary, :k]
        known = topic >= 0
        row, rank = np.nonzero(known)
        return {
            "id": row if ids is None else np.asarray(ids)[row],
            "rank": rank + 1,
            "topic": Names(topic[known], [*self.taxonomy.paths, ""]),
            "probability": chance[known].astype(np.float32, copy=False),
        }

    def to_frame(self, ids: Sequence[Any] | None = None) -> pd.DataFrame:
        """Return the table: id, topic, level_1 …, distance, score, belongs, runner_up, …

        `level_k` is the path down to level k, empty where the document stops above it. `ids`
        are those of `self`, or row numbers, unless given. `all_paths` comes last where topics have
        several parents: the topic by each of them, with ` | ` between.

        Examples
        --------
        >>> found.to_frame(ids=["x", "y", "z"])["id"].tolist()
        ['x', 'y', 'z']
        """
        return _frame(self.columns(self.ids if ids is None else ids))

    def columns(self, ids: Sequence[Any] | None) -> dict[str, Any]:
        """Columns of `to_frame`, with topics as numbers in a list of names."""
        if ids is not None and len(ids) != self.n_documents:
            raise CorpusError(
                f"{len(ids):,} ids for {self.n_documents:,} documents: give one id per document"
            )
        names = [*self.taxonomy.paths, ""]
        key = np.asarray(ids)[self.row] if ids is not None else self.row
        columns: dict[str, Any] = {"id": key, "topic": Names(self.topic, names)}
        for level in range(self.path.shape[1]):
            columns[f"level_{level + 1}"] = Names(self.path[:, level], names)
        columns |= {
            # one type, whether or not there are seeds among the documents
            "distance": self.at(self.distance).astype(np.float32, copy=False),
            "score": self.at(self.score).astype(np.float32, copy=False),
            "belongs": self.belongs[:, 0].astype(np.float32, copy=False),
            "runner_up": Names(self.runner_up, names),
            "is_other": self.is_other,
            "is_none": self.is_none,
            "is_seed": self.is_seed[self.row],
        }
        if any(self.taxonomy.more_parents):
            every = [" | ".join(self.taxonomy.all_paths(i)) for i in range(len(self.taxonomy))]
            columns["all_paths"] = Names(self.topic, [*every, ""])
        return columns

    def __repr__(self) -> str:
        return (
            f"Assignments({self.n_documents:,} documents, {len(self):,} records, "
            f"coverage {self.coverage:.1%})"
        )

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>" + self.taxonomy.to_html(self.counts())
