"""Accuracy and macro-F1: the right topic by name, not only the right grouping."""

from __future__ import annotations

import numpy as np

from hierseed.evaluate.label_sets import Labels, LabelSetCounts, count_label_sets, memberships


def accuracy(gold: Labels, predicted: Labels) -> float:
    """Share of placements that are right; each document counts once.

    Examples
    --------
    >>> accuracy([[0, 1], [2]], [1, 3])
    0.5
    """
    return accuracy_of(count_label_sets(memberships(gold), memberships(predicted)))


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
    return macro_f1_of(count_label_sets(memberships(gold), memberships(predicted)))


def macro_f1_of(counted: LabelSetCounts) -> float:
    """Macro-F1 of documents already counted; 0 where there are none."""
    if not counted.n:
        return 0.0
    gold, predicted = counted.sizes
    occurs = gold > 0
    return float(np.mean(2 * counted.hits[occurs] / (gold + predicted)[occurs]))
