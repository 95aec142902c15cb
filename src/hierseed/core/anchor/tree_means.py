"""Means of all topics at once: each leaf between its own documents and its parent.

Every node is drawn around its parent with a precision of `strength` documents, the root is free.
The most likely means follow exactly from one pass up the tree and one down; they do not depend
on the covariance, because all covariances of the model are multiples of one.
"""

from __future__ import annotations

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
    n, width = len(nodes), sums.shape[1]
    total, mass = np.zeros((n + 1, width)), np.zeros(n + 1)  # the last row is the root
    total[leaf], mass[leaf] = sums, weights
    for level in range(nodes.height, 0, -1):
        here = nodes.at_level(level)
        passed = strength / (strength + mass[here])
        parents, which = np.unique(nodes.parent[here], return_inverse=True)
        children = np.zeros((len(parents), len(here)))
        children[which, np.arange(len(here))] = passed
        total[parents] += children @ total[here]
        mass[parents] += children @ mass[here]
    means = np.zeros((n + 1, width))
    if mass[n] > 0:
        means[n] = total[n] / mass[n]
    for level in range(1, nodes.height + 1):
        here = nodes.at_level(level)
        above = means[nodes.parent[here]]
        means[here] = (total[here] + strength * above) / (strength + mass[here])[:, None]
    return means
