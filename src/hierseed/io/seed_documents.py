"""Seed documents of a fit, recognised by their id and vector.

An id alone is not enough: many corpora use row numbers as ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hierseed.io.documents import RowNumbers

Labels = NDArray[np.intp] | list[list[int]]  # the `y` of `fit` and `assign`

NO_SEED: list[int] = []  # shared by all rows without a topic: a million lists would take 60 MB
NEAR = 0.1  # of its length: how far the vector of a text may vary between batches


@dataclass
class SeedDocuments:
    """Topics of each seed document, and its vector as the embedder made it."""

    topics: dict[str, list[int]] = field(default_factory=dict)
    vectors: NDArray[np.floating] = field(default_factory=lambda: np.zeros((0, 0), np.float16))

    @classmethod
    def among(cls, topics: dict[str, list[int]], ids: Sequence[str], X: Any) -> Self:
        """Pick the vectors of the seeds out of those of the corpus."""
        row = {ids[number]: number for number in cls(topics).rows(ids)}
        if not row:
            return cls()
        rows = np.array([row[id] for id in topics], dtype=np.intp)
        return cls(topics, np.asarray(X[rows], dtype=np.float16))

    @classmethod
    def from_saved(cls, topics: dict[str, list[int]], vectors: NDArray[np.floating]) -> Self:
        """Check and return what a model folder holds."""
        if len(topics) != len(vectors):
            raise ValueError(f"{len(topics)} documents and {len(vectors)} vectors")
        return cls({id: [int(topic) for topic in some] for id, some in topics.items()}, vectors)

    def __len__(self) -> int:
        return len(self.topics)

    def rows(self, ids: Sequence[str]) -> list[int]:
        """Rows of documents that have the id of a seed."""
        if isinstance(ids, RowNumbers):
            return ids.rows(self.topics)
        return [row for row, id in enumerate(ids) if id in self.topics]

    def labels(self, ids: Sequence[str], X: Any) -> Labels:
        """Topics of the documents that were seeds: the `y` of `assign`. X: as embedded."""
        at = np.array(self.rows(ids), dtype=np.intp)
        found: dict[int, list[int]] = {}
        if len(at):
            number = {id: number for number, id in enumerate(self.topics)}
            saved = self.vectors[[number[ids[row]] for row in at.tolist()]].astype(np.float32)
            away = np.linalg.norm(np.asarray(X[at], dtype=np.float32) - saved, axis=1)
            for row in at[away <= NEAR * np.linalg.norm(saved, axis=1)].tolist():
                found[row] = self.topics[ids[row]]
        return as_labels(found, len(ids))


def as_labels(topics: dict[int, list[int]], n: int) -> Labels:
    """Topics of n rows as `y`: an array if no row has several, else lists; -1 for no topic."""
    if any(len(some) > 1 for some in topics.values()):
        return [topics.get(row, NO_SEED) for row in range(n)]
    found = np.full(n, -1, dtype=np.intp)
    for row, some in topics.items():
        found[row] = some[0] if some else -1
    return found
