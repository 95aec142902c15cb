"""Means of all topics at once: each leaf between its own documents and its parent.

Every node is drawn around its parent with a precision of `strength` documents, the root is free.
The most likely means follow exactly from one pass up the tree and one down; they do not depend
on the covariance, because all covariances of the model are multiples of one.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree

Floats = NDArray[np.float64]


def tree_means(
    nodes: Tree, leaf: NDArray[np.integer], sums: Floats, weights: Floats, strength: float
) -> Floats:
    """Return the mean of each node; the last row is the root.

    Parameters
    ----------
    leaf : nodes that have documents
    sums, weights : weighted sum of vectors and total weight, for each of these
    """
    n, levels = len(nodes), nodes.families
    order = np.concatenate(
        [[n], *(here for here, _, _ in levels)]
    )  # level by level, the root first
    place = np.empty(n + 1, dtype=np.intp)
    place[order] = np.arange(n + 1)
    means, mass = np.zeros((n + 1, sums.shape[1])), np.zeros(n + 1)
    means[place[leaf]], mass[place[leaf]] = sums, weights
    edges = np.cumsum([1, *(len(here) for here, _, _ in levels)])
    spans = [slice(*edge) for edge in pairwise(edges)]
    for here, (_, parents, first) in zip(reversed(spans), reversed(levels)):
        passed = strength / (strength + mass[here])
        means[place[parents]] += np.add.reduceat(means[here] * passed[:, None], first)
        mass[place[parents]] += np.add.reduceat(mass[here] * passed, first)
    held = 1.0 / np.append(max(mass[0], 1e-300), strength + mass[1:])
    means *= held[:, None]
    for here, (topics, _, _) in zip(spans, levels):
        above = means[place[nodes.parent[topics]]]
        above *= strength * held[here, None]
        means[here] += above
    return means[place]
