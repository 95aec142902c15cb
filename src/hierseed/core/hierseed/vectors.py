"""Topic vectors from seeds, and the bottom-up weighted mean (paper: lines 1 and 3-4)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Floats
from hierseed.core.tree import Tree

Spheres = Callable[[int, Floats], dict[int, Floats]]


def start(tree: Tree, means: Floats, has_seeds: NDArray[np.bool_]) -> Floats:
    """Mean of each topic's seeds; an inner topic without seeds starts at its children's mean."""
    vectors = means.copy()
    for topic in range(len(tree) - 1, -1, -1):
        if not has_seeds[topic] and not tree.is_leaf[topic]:
            vectors[topic] = vectors[tree.children(topic)].mean(axis=0)
    return vectors


def bottom_up(
    tree: Tree,
    vectors: Floats,
    spheres: Spheres | None = None,
    *,
    pivot_level: int,
    self_weight: float,
    les_weight: float,
) -> Floats:
    """Move each inner topic, from the deepest level up to the pivot.

    `c = WM({c} u children u {sphere})`: weight `self_weight` for itself, 1 for the children
    together, `les_weight` for the sphere where there is one: `spheres(level, vectors)` finds
    those of a level among children that have moved already. Above the pivot a topic is the mean
    of its children.
    """
    vectors = vectors.copy()
    for level in range(tree.height - 1, 0, -1):
        centres: dict[int, Floats] = {}
        if spheres is not None and les_weight > 0 and level >= pivot_level:
            centres = spheres(level, vectors)
        for topic in tree.at_level(level):
            children = tree.children(topic)
            if not len(children):
                continue
            mean = vectors[children].mean(axis=0)
            if level < pivot_level:
                vectors[topic] = mean
                continue
            total, weight = self_weight * vectors[topic] + mean, self_weight + 1.0
            if topic in centres:
                total, weight = total + les_weight * centres[topic], weight + les_weight
            vectors[topic] = total / weight
    return vectors
