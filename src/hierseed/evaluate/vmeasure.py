"""Homogeneity, completeness and V-measure (Rosenberg & Hirschberg 2007).

Entropies of the contingency table. A document with several gold labels or several clusters is
divided evenly over their cells, so every document has the same weight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.evaluate.bcubed import harmonic
from hierseed.evaluate.label_sets import Labels, LabelSetCounts, count_label_sets, memberships


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
    return v_measure_of(count_label_sets(memberships(gold), memberships(predicted)))


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
