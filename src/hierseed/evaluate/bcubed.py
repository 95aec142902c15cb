"""B-cubed (Bagga & Baldwin 1998), and its extension to several labels a document (Amigó 2009).

Hard labels: the share of the documents in a document's cluster that have its gold label
(precision), and the share of those with its gold label that are in its cluster (recall), averaged
over documents.

Several labels: a pair of documents that share `a` clusters and `b` gold labels is worth
`min(a, b) / a` to precision and `min(a, b) / b` to recall, averaged first over the partners
of a document (itself included), then over documents. As `min(a, b)` is the number of
k >= 1 with `a >= k` and `b >= k`, the sum over all pairs of documents is a short sum of
products of matrices over *distinct label sets*: exact, and never n x n.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hierseed.evaluate.label_sets import Labels, LabelSetCounts, count_label_sets, memberships

ROWS = 2048  # gold sets handled at once: bounds the memory of the set-by-set products


class BCubed(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def bcubed(gold: Labels, predicted: Labels) -> BCubed:
    """B-cubed of predicted clusters against gold ones; extended where a document has several.

    Examples
    --------
    >>> round(bcubed([0, 0, 1, 1], [0, 0, 0, 1]).f1, 3)
    0.706
    """
    return bcubed_of(count_label_sets(memberships(gold), memberships(predicted)))


def bcubed_of(counted: LabelSetCounts) -> BCubed:
    """B-cubed of documents already counted; 0 where there are none."""
    if not counted.n:
        return BCubed(0.0, 0.0, 0.0)
    precision, recall = _hard(counted) if counted.is_hard else _extended(counted)
    return BCubed(precision, recall, harmonic(precision, recall))


def harmonic(a: float, b: float) -> float:
    """Harmonic mean, 0 where both are 0."""
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


def _hard(counted: LabelSetCounts) -> tuple[float, float]:
    table = counted.counts.tocoo()
    by_gold, by_cluster = counted.counts.sum(axis=1), counted.counts.sum(axis=0)
    row, column = table.coords
    squares = table.data**2
    return (
        float((squares / by_cluster[column]).sum() / counted.n),
        float((squares / by_gold[row]).sum() / counted.n),
    )


def _extended(counted: LabelSetCounts) -> tuple[float, float]:
    counts = counted.counts
    shared_clusters = (counted.predicted @ counted.predicted.T).tocsr()
    partners = _at_least(shared_clusters, 1) @ counts.sum(axis=0)  # per predicted set
    per_gold = counts.sum(axis=1)
    one_cluster = counted.predicted.nnz == counted.predicted.shape[0]
    precision = recall = 0.0
    for first in range(0, counts.shape[0], ROWS):
        rows = slice(first, first + ROWS)
        own = counts[rows].tocoo()
        row, column = own.coords
        shared_labels = (counted.gold[rows] @ counted.gold.T).tocsr()
        pairs_p = np.zeros(own.nnz)
        pairs_r = np.zeros(own.nnz)
        deepest = int(min(shared_labels.max(), shared_clusters.max()))
        for k in range(1, deepest + 1):
            labels, clusters = _at_least(shared_labels, k), _at_least(shared_clusters, k)
            towards_p, towards_r = labels @ counts, _over(labels, shared_labels) @ counts
            if not one_cluster:  # otherwise both factors are the identity
                towards_p = towards_p @ _over(clusters, shared_clusters)
                towards_r = towards_r @ clusters
            pairs_p += _pick(towards_p, row, column)
            pairs_r += _pick(towards_r, row, column)
        sharing = _at_least(shared_labels, 1) @ per_gold
        precision += float((own.data * pairs_p / partners[column]).sum())
        recall += float((own.data * pairs_r / sharing[row]).sum())
    return precision / counted.n, recall / counted.n


def _at_least(shared: Any, k: int) -> Any:
    """1 where two sets share at least k members."""
    picked = shared.copy()  # dropping zeros works in place, on indices too
    picked.data = (shared.data >= k).astype(float)
    picked.eliminate_zeros()
    return picked


def _over(picked: Any, shared: Any) -> Any:
    """`picked` divided by the number shared, where that is not 0."""
    inverse = sparse.csr_array((1 / shared.data, shared.indices, shared.indptr), shape=shared.shape)
    return picked.multiply(inverse).tocsr()


def _pick(matrix: Any, row: Any, column: Any) -> NDArray[np.float64]:
    return np.asarray(matrix.tocsr()[row, column]).ravel()
