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
    for here, parents, first in reversed(nodes.families):
        passed = strength / (strength + mass[here])
        total[parents] += np.add.reduceat(total[here] * passed[:, None], first)
        mass[parents] += np.add.reduceat(mass[here] * passed, first)
    means = np.zeros((n + 1, width))
    if mass[n] > 0:
        means[n] = total[n] / mass[n]
    for here, _, _ in nodes.families:
        above = means[nodes.parent[here]]
        means[here] = (total[here] + strength * above) / (strength + mass[here])[:, None]
    return means
