"""Seeded and constrained k-means (Basu, Banerjee, Mooney 2002) over the leaves.

Cluster k starts at the mean of leaf k's seeds and keeps its name. Seeded: the seeds only
start the clusters. Constrained: they also stay in their cluster in every round.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hierseed_bench.competitors.nearest import nearest
from hierseed_bench.competitors.task import Documents, Ints, Task, means


class SeededKMeans:
    """Lloyd's rounds from the means of the seeds."""

    named = True

    def __init__(self, constrained: bool = False, max_iter: int = 100, tol: float = 1e-4) -> None:
        self.constrained, self.max_iter, self.tol = constrained, max_iter, tol

    def fit(self, task: Task) -> Self:
        """Cluster seeds and fitting set together; seeds of inner topics are not used."""
        tree = self.tree = task.taxonomy.tree
        rows, topics = task.seed_pairs()
        of_leaf = tree.is_leaf[topics]
        rows, topics = rows[of_leaf], topics[of_leaf]
        self.leaves, centres = means(task.seeds.vectors, rows, topics)
        X = np.vstack([task.seeds.vectors[rows], task.fitting.vectors])
        fixed = np.searchsorted(self.leaves, topics) if self.constrained else None
        self.centres = lloyd(X, centres, fixed, self.max_iter, self.tol)
        return self

    def predict(self, documents: Documents) -> Ints:
        """Nearest centre; its leaf's ancestors follow from the tree."""
        return self.tree.ancestors[self.leaves[nearest(documents.vectors, self.centres)]]


def lloyd(
    X: NDArray[Any],
    centres: NDArray[Any],
    fixed: Ints | None = None,
    max_iter: int = 100,
    tol: float = 1e-4,
) -> NDArray[np.float64]:
    """Run k-means from given centres; the first rows stay in the clusters `fixed` names.

    Stops as scikit-learn does: when nothing moves, or centres move by less than `tol`
    times the mean variance. A cluster left empty keeps its centre.
    """
    still = tol * float(np.var(X, axis=0).mean())
    before = None
    for _ in range(max_iter):
        group = nearest(X, centres)
        if fixed is not None:
            group[: len(fixed)] = fixed
        if before is not None and np.array_equal(group, before):
            break
        before = group
        moved = centres.copy()
        present, at = means(X, np.arange(len(X)), group)
        moved[present] = at
        shift = float(np.square(moved - centres).sum())
        centres = moved
        if shift <= still:
            break
    return centres
