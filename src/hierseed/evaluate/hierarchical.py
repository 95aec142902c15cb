"""Hierarchical precision, recall and F1 (Kiritchenko 2005) over sets of ancestors.

A prediction counts as itself and every topic above it, without the root. Topics are
ids, so the same name under two parents is two topics. None is the empty set; an Other
topic is never gold, so it lowers precision while its ancestors still count as right.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree
from hierseed.evaluate.bcubed import harmonic
from hierseed.evaluate.label_sets import Labels, memberships


class Hierarchical(NamedTuple):
    """Precision, recall and their harmonic mean, over all (document, topic) pairs."""

    precision: float
    recall: float
    f1: float


def hierarchical(
    tree: Tree, levels: NDArray[Any], gold: Labels, *, rows: NDArray[Any] | None = None
) -> Hierarchical:
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


def from_counts(right: float, predicted: float, gold: float) -> Hierarchical:
    """Precision and recall from counts; 0 where there is nothing to divide by."""
    precision = float(right / predicted) if predicted else 0.0
    recall = float(right / gold) if gold else 0.0
    return Hierarchical(precision, recall, harmonic(precision, recall))


def _keys(document: NDArray[Any], topic: NDArray[Any]) -> NDArray[np.int64]:
    """One number per distinct (document, topic) pair; -1 topics are left out."""
    real = topic >= 0
    return np.unique(document[real].astype(np.int64) * (1 << 31) + topic[real])
