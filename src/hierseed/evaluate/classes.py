"""Accuracy and macro-F1: is it the right topic by name, not only the right grouping?"""

from __future__ import annotations

import numpy as np

from hierseed.evaluate.crossing import Crossing, Labels, cross, memberships


def accuracy(gold: Labels, predicted: Labels) -> float:
    """Share of placements that are right; each document counts once.

    Examples
    --------
    >>> accuracy([[0, 1], [2]], [1, 3])
    0.5
    """
    return accuracy_of(cross(memberships(gold), memberships(predicted)))


def accuracy_of(crossing: Crossing) -> float:
    """Mean over documents of the share of their predicted clusters that are gold ones."""
    if not crossing.n:
        return 0.0
    shared = (crossing.gold @ crossing.predicted.T).tocsr()  # sets x sets
    right = crossing.counts.multiply(shared) @ (1 / crossing.predicted.sum(axis=1))
    return float(right.sum() / crossing.n)


def macro_f1(gold: Labels, predicted: Labels) -> float:
    """Mean F1 over the clusters that occur in gold, each with the same weight.

    Examples
    --------
    >>> round(macro_f1([0, 0, 1], [0, 1, 1]), 3)
    0.667
    """
    return macro_f1_of(cross(memberships(gold), memberships(predicted)))


def macro_f1_of(crossing: Crossing) -> float:
    """Macro-F1 of documents already counted; 0 where there are none."""
    if not crossing.n:
        return 0.0
    gold, predicted = crossing.sizes
    occurs = gold > 0
    return float(np.mean(2 * crossing.hits[occurs] / (gold + predicted)[occurs]))
