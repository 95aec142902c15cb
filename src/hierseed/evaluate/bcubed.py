"""B-cubed (Bagga & Baldwin 1998), and its extension to several labels a document (Amigó 2009).

Hard labels: of the documents in my cluster, which share my gold label (precision), and
the other way round (recall), averaged over documents.

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

from hierseed.evaluate.crossing import Crossing, Labels, cross, memberships

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
    return bcubed_of(cross(memberships(gold), memberships(predicted)))


def bcubed_of(crossing: Crossing) -> BCubed:
    """B-cubed of documents already counted; 0 where there are none."""
    if not crossing.n:
        return BCubed(0.0, 0.0, 0.0)
    precision, recall = _hard(crossing) if crossing.is_hard else _extended(crossing)
    return BCubed(precision, recall, harmonic(precision, recall))


def harmonic(a: float, b: float) -> float:
    """Harmonic mean, 0 where both are 0."""
    return 2 * a * b / (a + b) if a + b > 0 else 0.0


def _hard(crossing: Crossing) -> tuple[float, float]:
    table = crossing.counts.tocoo()
    by_gold, by_cluster = crossing.counts.sum(axis=1), crossing.counts.sum(axis=0)
    row, column = table.coords
    squares = table.data**2
    return (
        float((squares / by_cluster[column]).sum() / crossing.n),
        float((squares / by_gold[row]).sum() / crossing.n),
    )


def _extended(crossing: Crossing) -> tuple[float, float]:
    counts = crossing.counts
    shared_clusters = (crossing.predicted @ crossing.predicted.T).tocsr()
    partners = _at_least(shared_clusters, 1) @ counts.sum(axis=0)  # per predicted set
    per_gold = counts.sum(axis=1)
    one_cluster = crossing.predicted.nnz == crossing.predicted.shape[0]
    precision = recall = 0.0
    for first in range(0, counts.shape[0], ROWS):
        rows = slice(first, first + ROWS)
        own = counts[rows].tocoo()
        row, column = own.coords
        shared_labels = (crossing.gold[rows] @ crossing.gold.T).tocsr()
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
        kin = _at_least(shared_labels, 1) @ per_gold
        precision += float((own.data * pairs_p / partners[column]).sum())
        recall += float((own.data * pairs_r / kin[row]).sum())
    return precision / crossing.n, recall / crossing.n


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
