"""The model while a fit runs: topic vectors and radii, and all that inference needs afterwards."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from uuid import uuid4

import numpy as np

from hierseed.core.arrays import Floats, Ints
from hierseed.core.tree import Tree


def new_key() -> str:
    """A key that no other model has."""
    return uuid4().hex


@dataclass(frozen=True)
class Model:
    """Topic vectors, and radii at the pivot; its arrays can't be written to.

    Blocks keep placements under `cache_key`. A model that would place documents otherwise has
    another key.
    """

    tree: Tree
    pivot_level: int
    vectors: Floats
    radii: Floats  # per topic, NaN away from the pivot
    eccentricity: Floats  # per topic, NaN where the nearer topic keeps a document
    cache_key: str = field(default_factory=new_key)

    def __post_init__(self) -> None:
        if not 1 <= self.pivot_level <= self.tree.height:
            raise ValueError(f"a tree of {self.tree.height} levels has no level {self.pivot_level}")
        for name in ("vectors", "radii", "eccentricity"):
            view = getattr(self, name).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    def with_radii(self, radii: Floats) -> Model:
        """The model with other radii."""
        return replace(self, radii=radii, cache_key=new_key())

    def refined(self, vectors: Floats) -> Model:
        """The model with other vectors, for which the blocks' placements are up to date."""
        return replace(self, vectors=vectors)

    def without_overlap_rule(self) -> Model:
        """The model whose topics keep every document that they reach (Eq. 3 alone)."""
        every = np.ones_like(self.eccentricity)
        return replace(self, eccentricity=every, cache_key=new_key())

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
