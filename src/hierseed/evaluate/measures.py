"""The measures: B-cubed, V-measure, accuracy, macro-F1, and F1 over sets of ancestors.

B-cubed (Bagga & Baldwin 1998) is the share of the documents in a document's cluster that have its
gold label (precision), and the share of those with its gold label that are in its cluster
(recall), averaged over documents. With several labels a document (Amigó 2009), a pair of documents
that share `a` clusters and `b` gold labels is worth `min(a, b) / a` to precision and
`min(a, b) / b` to recall, averaged first over the partners of a document (itself included), then
over documents. As `min(a, b)` is the number of k >= 1 with `a >= k` and `b >= k`, the sum over all
pairs of documents is a short sum of products of matrices over *distinct label sets*: exact, and
never n x n.

V-measure (Rosenberg & Hirschberg 2007) is computed from the entropies of the contingency table. A
document with several gold labels or several clusters is divided evenly over their cells, so every
document has the same weight.

Hierarchical F1 (Kiritchenko 2005) counts a prediction as itself and every topic above it, without
the root. None is the empty set. An Other topic is never gold, so it lowers precision, while its
ancestors still count as right.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hierseed.core.tree import Tree
from hierseed.evaluate.label_sets import Labels, LabelSetCounts, count_label_sets, memberships

ROWS = 2048  # gold sets handled at once: bounds the memory of the set-by-set products


class FScore(NamedTuple):
    """Precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def bcubed(gold: Labels, predicted: Labels) -> FScore:
    """B-cubed of predicted clusters against gold ones; extended where a document has several.

    Examples
    --------
    >>> round(bcubed([0, 0, 1, 1], [0, 0, 0, 1]).f1, 3)
    0.706
    """
    return bcubed_of(_count(gold, predicted))


def bcubed_of(counted: LabelSetCounts) -> FScore:
    """B-cubed of documents already counted; 0 where there are none."""
    if not counted.n:
        return FScore(0.0, 0.0, 0.0)
    precision, recall = _hard(counted) if counted.is_hard else _extended(counted)
    return FScore(precision, recall, harmonic(precision, recall))


def _count(gold: Labels, predicted: Labels) -> LabelSetCounts:
    return count_label_sets(memberships(gold), memberships(predicted))


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


class VMeasure(NamedTuple):
    """Homogeneity, completeness and their harmonic mean."""

    homogeneity: float
    completeness: float
    v: float


def v_measure(gold: Labels, predicted: Labels) -> VMeasure:
    """V-measure of predicted clusters against gold ones.

    Examples
    --------
    >>> v_measure([0, 0, 1, 1], [1, 1, 0, 0]).v
    1.0
    """
    return v_measure_of(_count(gold, predicted))


def v_measure_of(counted: LabelSetCounts) -> VMeasure:
    """V-measure of documents already counted; 0 where there are none."""
    if not counted.n:
        return VMeasure(0.0, 0.0, 0.0)
    table = counted.contingency
    gold = entropy(table.sum(axis=1))
    clusters = entropy(table.sum(axis=0))
    # mutual information; rounding must not make it exceed either entropy
    shared = min(max(gold + clusters - entropy(table.data), 0.0), gold, clusters)
    homogeneity = shared / gold if gold > 0 else 1.0
    completeness = shared / clusters if clusters > 0 else 1.0
    return VMeasure(homogeneity, completeness, harmonic(homogeneity, completeness))


def entropy(weights: NDArray[np.float64]) -> float:
    """Entropy in nats of weights that need not sum to 1."""
    share = weights[weights > 0]
    if len(share) < 2:
        return 0.0
    share = share / share.sum()
    return float(-(share * np.log(share)).sum())


def accuracy(gold: Labels, predicted: Labels) -> float:
    """Share of placements that are right; each document counts once.

    Examples
    --------
    >>> accuracy([[0, 1], [2]], [1, 3])
    0.5
    """
    return accuracy_of(_count(gold, predicted))


def accuracy_of(counted: LabelSetCounts) -> float:
    """Mean over documents of the share of their predicted clusters that are gold ones."""
    if not counted.n:
        return 0.0
    shared = (counted.gold @ counted.predicted.T).tocsr()  # sets x sets
    right = counted.counts.multiply(shared) @ (1 / counted.predicted.sum(axis=1))
    return float(right.sum() / counted.n)


def macro_f1(gold: Labels, predicted: Labels) -> float:
    """Mean F1 over the clusters that occur in gold, each with the same weight.

    Examples
    --------
    >>> round(macro_f1([0, 0, 1], [0, 1, 1]), 3)
    0.667
    """
    return macro_f1_of(_count(gold, predicted))


def macro_f1_of(counted: LabelSetCounts) -> float:
    """Macro-F1 of documents already counted; 0 where there are none."""
    if not counted.n:
        return 0.0
    gold, predicted = counted.sizes
    occurs = gold > 0
    return float(np.mean(2 * counted.hits[occurs] / (gold + predicted)[occurs]))


def hierarchical(
    tree: Tree, levels: NDArray[Any], gold: Labels, *, rows: NDArray[Any] | None = None
) -> FScore:
    """Compare the ancestor sets of predictions and gold labels.

    Parameters
    ----------
    tree : the taxonomy of the gold labels
    levels : (m, height) predicted id per level, -1 below the deepest
    gold : one id a document, or a list of ids a document
    rows : the document of each row of `levels`, where documents have several
    """
    labels = memberships(gold)
    topic = tree.ancestors[labels.cluster]
    document = np.repeat(labels.document, topic.shape[1])
    expected = _keys(document, topic.ravel())
    predicted_document = np.arange(len(levels)) if rows is None else np.asarray(rows)
    predicted = _keys(np.repeat(predicted_document, levels.shape[1]), np.asarray(levels).ravel())
    return from_counts(
        len(np.intersect1d(expected, predicted, assume_unique=True)), len(predicted), len(expected)
    )


def from_counts(right: float, predicted: float, gold: float) -> FScore:
    """Precision and recall from counts; 0 where there is nothing to divide by."""
    precision = float(right / predicted) if predicted else 0.0
    recall = float(right / gold) if gold else 0.0
    return FScore(precision, recall, harmonic(precision, recall))


def _keys(document: NDArray[Any], topic: NDArray[Any]) -> NDArray[np.int64]:
    """One number per distinct (document, topic) pair; -1 topics are left out."""
    real = topic >= 0
    return np.unique(document[real].astype(np.int64) * (1 << 31) + topic[real])
