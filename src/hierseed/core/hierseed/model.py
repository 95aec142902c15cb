"""What the steps know of the topics while a fit runs, and all that inference needs afterwards."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Model:
    """Topic vectors, and radii at the pivot.

    `version` changes whenever something changes that a block may have remembered results of.
    """

    tree: Tree
    pivot_level: int
    vectors: Floats
    radii: Floats  # per topic, NaN away from the pivot
    eccentricity: Floats  # per topic, NaN where the nearer topic keeps a document
    version: int = 0

    def changed(self, *, vectors: Floats | None = None, radii: Floats | None = None) -> Model:
        """Return the model with other vectors or radii; what blocks remember is void."""
        return replace(
            self,
            vectors=self.vectors if vectors is None else vectors,
            radii=self.radii if radii is None else radii,
            version=self.version + 1,
        )

    @cached_property
    def pivots(self) -> Ints:
        """Topics at the pivot level, and the leaves above it."""
        return pivots(self.tree, self.pivot_level)

    @cached_property
    def pivot_families(self) -> list[Ints]:
        """Which of `pivots` are siblings, family by family."""
        parent = self.tree.parent[self.pivots]
        return [np.flatnonzero(parent == one) for one in np.unique(parent)]


def pivots(tree: Tree, pivot_level: int) -> Ints:
    """Topics at the pivot level, and the leaves above it."""
    level = tree.level
    return np.flatnonzero((level == pivot_level) | (tree.is_leaf & (level < pivot_level)))
