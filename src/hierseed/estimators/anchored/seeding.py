"""Seeds as they are given: in the corpus, beside it, or an earlier model's vectors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import SeedError, name_some
from hierseed.estimators.inputs import Groups, seed_pairs, topics_of
from hierseed.taxonomy import Taxonomy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


class UnseededTopicWarning(UserWarning):
    """Some leaves have no seeds, so nothing can be placed in them."""


@dataclass(frozen=True)
class SeedPairs:
    """One entry for each seed and topic it serves; those in the corpus come first.

    Attributes
    ----------
    vectors, topics : of the seed
    seed : its number, the same in all its entries
    rows : of the corpus, of those that lie in it
    longest : length of the longest vector that is not in the corpus
    rejected : rows of documents that were rejected for a topic
    """

    vectors: Floats
    seed: Ints
    topics: Ints
    rows: Ints
    longest: float
    rejected: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))

    @classmethod
    def of(
        cls,
        taxonomy: Taxonomy,
        found: tuple[Floats, Ints, float],
        n: int,
        y: Any,
        X_seeds: Any,
        y_seeds: Any,
        start: Any,
    ) -> SeedPairs:
        """Number the seeds that were `found`; add stand-ins of an earlier model.

        Parameters
        ----------
        found : vectors, topics and the longest length, as the estimator reads them
        n : documents in the corpus
        """
        vectors, topics, longest = found
        rows, _ = seed_pairs(y, n, taxonomy)
        seed = rows
        if X_seeds is not None:
            outside, _ = seed_pairs(y_seeds, len(X_seeds), taxonomy, "y_seeds")
            seed = np.concatenate([rows, n + outside])
        if start is not None:
            more, known = stand_ins(taxonomy, start, topics, vectors.shape[1])
            vectors, topics = np.concatenate([vectors, more]), np.concatenate([topics, known])
            seed = np.concatenate([seed, -1 - np.arange(len(known))])
            longest = max(longest, float(np.linalg.norm(more, axis=1).max(initial=0.0)))
        if not len(topics):
            raise SeedError(
                "no seed at all: every entry of y is -1. Give at least one document for a topic."
            )
        return cls(vectors, seed, topics, rows, longest)

    @property
    def decided(self) -> Ints:
        """Rows that people decided about; they do not count as unlabelled documents."""
        return np.union1d(self.rows, self.rejected)

    @property
    def topics_each(self) -> float:
        """Topics that a seed serves, on average; stand-ins do not count."""
        seeds = self.seed[self.seed >= 0]
        return len(seeds) / max(len(np.unique(seeds)), 1)

    def without(self, rejected: Groups) -> SeedPairs:
        """The same, with documents that were rejected for topics."""
        rows = np.concatenate([np.zeros(0, dtype=np.intp), *rejected.values()])
        return replace(self, rejected=rows)

    def covers(self, taxonomy: Taxonomy) -> Bools:
        """Which topics have seeds of their own; leaves that have none are named in a warning."""
        has_seeds = np.bincount(self.topics, minlength=len(taxonomy)) > 0
        bare = np.flatnonzero(taxonomy.tree.is_leaf & ~has_seeds & ~taxonomy.is_other)
        if len(bare):
            warnings.warn(
                f"{len(bare)} leaves have no seed and get no documents: "
                f"{name_some(taxonomy.paths[topic] for topic in bare)}. Give each a seed, or "
                "let its name stand in for one (seeds_from_names).",
                UnseededTopicWarning,
                stacklevel=4,
            )
        return has_seeds


def stand_ins(taxonomy: Taxonomy, earlier: Any, seeded: Ints, width: int) -> tuple[Floats, Ints]:
    """Vectors of an earlier model for leaves that have no seeds now."""
    was = topics_of(earlier, taxonomy, width)
    topics = [
        topic
        for topic in np.setdiff1d(np.flatnonzero(taxonomy.tree.is_leaf), seeded).tolist()
        if not taxonomy.is_other[topic] and was[topic] >= 0
    ]
    places = [was[topic] for topic in topics]
    return np.asarray(earlier.vectors_)[places], np.array(topics, dtype=np.intp)
