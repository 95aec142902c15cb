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
    n, levels = len(nodes), nodes.families
    means, mass = np.zeros((n + 1, sums.shape[1])), np.zeros(n + 1)  # the last row is the root
    means[leaf], mass[leaf] = sums, weights
    for here, parents, first in reversed(levels):
        passed = strength / (strength + mass[here])
        up = means[here]
        up *= passed[:, None]
        means[parents] += np.add.reduceat(up, first)
        mass[parents] += np.add.reduceat(mass[here] * passed, first)
    held = 1.0 / (strength + mass)
    held[n] = 1.0 / max(mass[n], 1e-300)
    means *= held[:, None]
    for here, _, _ in levels:
        above = means[nodes.parent[here]]
        above *= (strength * held[here])[:, None]
        means[here] += above
    return means
