"""How many topics a document has: as many as seeds do.

Seeds with two topics show that documents may have two. A secondary topic must reach a certain
share of the main topic's probability. That share is learned: documents then have as many topics as
seeds, on average.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hierseed.core.mixture.placement import Placer, further, go_down, probabilities

STEPS = np.geomspace(0.01, 100.0, 401)  # fixed steps: rounding can't move the choice
ENOUGH = 2_000  # documents


def learn_secondary_ratio(X: NDArray[np.floating], placer: Placer, each: float) -> float | None:
    """How many times as probable as the main topic further ones must be; None: no further ones.

    It may be more than 1: the main topic is found on the way down the tree, where siblings count
    together, and another may be more probable by itself.

    Parameters
    ----------
    X : documents, in whole multiples of the placer's grid
    each : topics that a seed has, on average
    """
    if each <= 1.0:
        return None
    X = X[:: -(-len(X) // ENOUGH) or 1]
    L = placer.mixture.log_joint(X.astype(np.float64), 2.0**-placer.grid.bits)
    own, mass = probabilities(L, placer)
    topic = go_down(own, mass, placer).topic
    low, high = 0, len(STEPS) - 1
    while low < high:
        middle = (low + high) // 2
        found, _ = further(topic, own, mass, replace(placer, secondary=float(STEPS[middle])))
        few = len(found) <= round((each - 1.0) * len(X))
        low, high = (low, middle) if few else (middle + 1, high)
    return float(STEPS[low])
