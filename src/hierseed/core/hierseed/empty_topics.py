"""How far pivot topics reach; an empty one reaches for its nearest document (paper: 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Block, Blocks
from hierseed.core.hierseed.descend import pivot_distances, place, remembered
from hierseed.core.hierseed.model import Model

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def widen(blocks: Blocks, model: Model, alpha: float) -> tuple[Model, Ints]:
    """Let an empty topic reach `alpha` times its nearest document, if within twice its radius.

    Answers with the model and the topics that stay empty all the same.
    """
    found = blocks.fold(reach, model)
    nearest = np.sqrt(found.nearest)
    own = model.radii[model.pivots]
    empty = found.inside == 0
    reachable = empty & (nearest <= 2 * own)
    if reachable.any():
        radii = model.radii.copy()
        radii[model.pivots[reachable]] = alpha * nearest[reachable]
        model = model.changed(radii=radii)
    return model, model.pivots[empty & ~reachable]


@dataclass
class Reach:
    """Squared distance of the nearest document to each pivot topic, and how many lie inside."""

    nearest: Floats
    inside: Ints

    def merge(self, other: Reach) -> Reach:
        """Join what two blocks found."""
        return Reach(np.minimum(self.nearest, other.nearest), self.inside + other.inside)


def reach(block: Block, model: Model) -> Reach:
    """Measure what lies near each pivot topic.

    The block places its documents on the way: the radii seldom change after this.
    """
    D = pivot_distances(block, model)
    remembered(block, model)[model.pivot_level] = place(block, model, D)
    own = model.radii[model.pivots] ** 2
    return Reach(D.min(axis=0), np.less_equal(D, own).sum(axis=0))
