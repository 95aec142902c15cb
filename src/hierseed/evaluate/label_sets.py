"""Documents counted by (gold label set, predicted label set): all that the measures need.

A million documents have few distinct label sets, so everything after this file works
on small matrices. A cluster id of -1 is None and takes column 0: column = id + 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from hierseed.errors import CorpusError

Ints = NDArray[np.int64]
Labels = ArrayLike | Sequence[Sequence[int]]
"""One cluster id a document, or a list of ids a document (an empty list: None)."""


@dataclass(frozen=True)
class Memberships:
    """(document, cluster) pairs, each once, sorted; every document has at least one."""

    document: Ints
    cluster: Ints  # -1 is None
    n: int

    @property
    def is_hard(self) -> bool:
        """True where every document has exactly one cluster."""
        return len(self.document) == self.n


@dataclass(frozen=True)
class LabelSetCounts:
    """How many documents have gold set u and predicted set v.

    Parameters
    ----------
    gold, predicted : 0/1 rows, one per distinct set; column c + 1 is cluster c
    counts : (gold sets x predicted sets) number of documents
    """

    gold: Any  # scipy.sparse.csr_array, here and below
    predicted: Any
    counts: Any

    @cached_property
    def n(self) -> float:
        """Documents counted."""
        return float(self.counts.sum())

    @cached_property
    def contingency(self) -> Any:
        """Gold cluster x predicted cluster; a document in several counts for each in part."""
        shares = [sets.multiply(1 / sets.sum(axis=1)[:, None]) for sets in self._sets]
        return (shares[0].T @ self.counts @ shares[1]).tocsr()

    @cached_property
    def hits(self) -> NDArray[np.float64]:
        """Documents that have a cluster both in gold and predicted, per column."""
        both = self.gold.multiply((self.counts @ self.predicted).tocsr())
        return np.asarray(both.sum(axis=0)).ravel()

    @cached_property
    def sizes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Documents per gold cluster, and per predicted cluster, by column."""
        by_gold = self.gold.T @ self.counts.sum(axis=1)
        return np.asarray(by_gold), np.asarray(self.predicted.T @ self.counts.sum(axis=0))

    @property
    def is_hard(self) -> bool:
        """True where every set has exactly one cluster."""
        return all(sets.nnz == sets.shape[0] for sets in self._sets)

    @property
    def _sets(self) -> tuple[Any, Any]:
        return self.gold, self.predicted

    def without_none(self) -> LabelSetCounts:
        """Leave out the documents that are predicted None."""
        is_none = np.zeros(self.predicted.shape[0], dtype=bool)
        is_none[self.predicted[:, [0]].tocoo().coords[0]] = True
        kept = np.flatnonzero(~is_none)
        counts = self.counts[:, kept]
        rows = np.flatnonzero(counts.sum(axis=1))
        return LabelSetCounts(self.gold[rows], self.predicted[kept], counts[rows])


def memberships(labels: Labels) -> Memberships:
    """Return labels as pairs, from one id a document or a list of ids a document."""
    if isinstance(labels, np.ndarray) and labels.ndim == 1 and labels.dtype != object:
        cluster = _whole(labels)
        return Memberships(np.arange(len(cluster)), cluster, len(cluster))
    every: list[Any] = list(labels)  # type: ignore[arg-type]
    several = [hasattr(item, "__len__") for item in every]
    if not any(several):
        return memberships(np.asarray(every, dtype=None if every else np.int64))
    lists = every if all(several) else [i if s else [i] for i, s in zip(every, several)]
    document = np.repeat(np.arange(len(lists)), [len(item) for item in lists])
    cluster = _whole(np.array(list(chain.from_iterable(lists)), dtype=None))
    return pair_up(document, cluster, len(lists))


def pair_up(document: NDArray[Any], cluster: NDArray[Any], n: int) -> Memberships:
    """Sort pairs and drop duplicates; only a document without any cluster has -1."""
    width = int(cluster.max(initial=-1)) + 2
    key = document.astype(np.int64) * width + cluster.astype(np.int64) + 1
    key.sort(kind="stable")  # mostly sorted already; np.unique hashes, which is far slower
    key = key[np.append(True, key[1:] != key[:-1])] if len(key) else key
    document, cluster = key // width, key % width - 1
    real = cluster >= 0
    bare = np.flatnonzero(np.bincount(document[real], minlength=n) == 0)
    if not len(bare) and real.all():
        return Memberships(document, cluster, n)
    document = np.concatenate([document[real], bare])
    cluster = np.concatenate([cluster[real], np.full(len(bare), -1)])
    order = np.argsort(document, kind="stable")
    return Memberships(document[order], cluster[order], n)


def count_label_sets(gold: Memberships, predicted: Memberships) -> LabelSetCounts:
    """Count documents by their pair of label sets."""
    if gold.n != predicted.n:
        raise CorpusError(
            f"{gold.n:,} documents have gold labels but {predicted.n:,} have predictions. "
            "Give one of each per document, in the same order."
        )
    width = int(max(gold.cluster.max(initial=-1), predicted.cluster.max(initial=-1))) + 2
    gold_code, gold_sets = _distinct(gold, width)
    code, predicted_sets = _distinct(predicted, width)
    shape = gold_sets.shape[0], predicted_sets.shape[0]
    if shape[0] * shape[1] <= 1 << 24:  # a dense count is one pass; 128 MB at most
        counts = np.bincount(gold_code * shape[1] + code, minlength=shape[0] * shape[1])
        table = sparse.csr_array(counts.reshape(shape).astype(float))
    else:
        ones = np.ones(gold.n)
        table = sparse.coo_array((ones, (gold_code, code)), shape=shape).tocsr()
    return LabelSetCounts(gold_sets, predicted_sets, table)


def _distinct(members: Memberships, width: int) -> tuple[Ints, Any]:
    """Number the distinct sets: a code per document, and each set as a 0/1 row."""
    column = members.cluster + 1
    if members.is_hard:
        present = np.flatnonzero(np.bincount(column, minlength=width))
        number = np.zeros(width, dtype=np.int64)
        number[present] = np.arange(len(present))
        return number[column], _rows(np.arange(len(present)), present, (len(present), width))
    size = np.bincount(members.document, minlength=members.n)
    start = np.cumsum(size) - size
    code = column[start]
    for slot in range(1, size.max()):  # fold in one label at a time: exact, no hashing
        more = np.full(members.n, width)
        longer = size > slot
        more[longer] = column[start[longer] + slot]
        code = np.unique(code * (width + 1) + more, return_inverse=True)[1]
    code, first = _renumber(code)
    row = np.repeat(np.arange(len(first)), size[first])
    within = np.arange(len(row)) - np.repeat(np.cumsum(size[first]) - size[first], size[first])
    return code, _rows(
        row, column[np.repeat(start[first], size[first]) + within], (len(first), width)
    )


def _renumber(code: Ints) -> tuple[Ints, Ints]:
    _, first, code = np.unique(code, return_index=True, return_inverse=True)
    return code, first


def _rows(row: Ints, column: Ints, shape: tuple[int, int]) -> Any:
    return sparse.coo_array((np.ones(len(row)), (row, column)), shape=shape).tocsr()


def _whole(values: NDArray[Any]) -> Ints:
    """Refuse labels that are no cluster ids."""
    if values.size and values.dtype.kind not in "iub":
        raise CorpusError(
            f"labels must be whole numbers, these are {values.dtype}. "
            "Turn topic paths into ids with Taxonomy.index first."
        )
    if values.size and values.min() < -1:
        raise CorpusError(f"a label is {values.min()}; ids are 0 and up, -1 is None")
    return values.astype(np.int64)
