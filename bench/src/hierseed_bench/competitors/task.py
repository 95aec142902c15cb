"""Inputs and outputs of a method, the same for every row of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hierseed.core.arrays import Ints
from hierseed.taxonomy import Taxonomy


class Documents(NamedTuple):
    """Vectors and texts of the same documents, row by row."""

    vectors: NDArray[Any]
    texts: Sequence[str]

    def __len__(self) -> int:  # a NamedTuple would answer 2
        return len(self.texts)


@dataclass(frozen=True)
class Task:
    """All that a method may look at before it sees the test documents.

    Parameters
    ----------
    seed_topics : the topics that each seed serves, most specific ones only
    fitting : documents without labels
    names : vectors of the names of all topics, for methods that read them
    labelled, labelled_topics : the whole training part with its labels, for the methods
        that show what full supervision reaches; the others must not look
    """

    taxonomy: Taxonomy
    seeds: Documents
    seed_topics: Sequence[Sequence[int]]
    fitting: Documents
    labelled: Documents | None = None
    labelled_topics: Sequence[Sequence[int]] = ()
    random_state: int = 0
    names: NDArray[Any] | None = None

    def seed_pairs(self) -> tuple[Ints, Ints]:
        """Row and topic of every (seed, topic) pair: a seed of two topics is two examples."""
        return pairs(self.seed_topics)

    def with_seeds(self) -> NDArray[Any]:
        """Vectors of seeds and fitting set in one matrix, seeds first."""
        return np.vstack([self.seeds.vectors, self.fitting.vectors])


class Method(Protocol):
    """One system. `named` says whether its answers are topics or clusters without names."""

    named: bool

    def fit(self, task: Task) -> Self:
        """Learn from the seeds and, where the method uses it, the fitting set."""

    def predict(self, documents: Documents) -> Ints:
        """Return (documents, height) topic per level, -1 below the deepest and for None."""


@runtime_checkable
class Several(Protocol):
    """A method that can give a document several topics, where the data set does so too."""

    def place(self, documents: Documents) -> tuple[Ints, Ints]:
        """Return the document of each placement, and its topic per level."""


def pairs(topics: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Row and topic of every pair in a list of topics per row."""
    rows = np.repeat(np.arange(len(topics)), [len(each) for each in topics])
    return rows, np.array([topic for each in topics for topic in each], dtype=np.intp)


def means(vectors: NDArray[Any], rows: Ints, topics: Ints) -> tuple[Ints, NDArray[np.float64]]:
    """Topics that have seeds, and the mean vector of each."""
    present, group, size = np.unique(topics, return_inverse=True, return_counts=True)
    each = (1 / size[group]).astype(vectors.dtype)
    shares = sparse.csr_array((each, (group, rows)), shape=(len(present), len(vectors)))
    return present, (shares @ vectors).astype(np.float64)
