"""How far pivot topics reach; an empty one reaches for its nearest document (paper: 3.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Block, Blocks
from hierseed.core.descend import pivot_distances, place, remembered
from hierseed.core.model import Model

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def widen(blocks: Blocks, model: Model, alpha: float) -> tuple[Model, Ints]:
    """Let an empty topic reach `alpha` times its nearest document, if within twice its radius.

    Answers with the model and the topics that stay empty all the same.
    """
    nearest = np.full(len(model.pivots), np.inf)
    inside = np.zeros(len(model.pivots), dtype=np.intp)
    for near, count in blocks.map(reach, model):
        nearest, inside = np.minimum(nearest, near), inside + count
    nearest = np.sqrt(nearest)
    own = model.radii[model.pivots]
    empty = inside == 0
    reachable = empty & (nearest <= 2 * own)
    if reachable.any():
        radii = model.radii.copy()
        radii[model.pivots[reachable]] = alpha * nearest[reachable]
        model = model.changed(radii=radii)
    return model, model.pivots[empty & ~reachable]


def reach(block: Block, model: Model) -> tuple[Floats, Ints]:
    """Squared distance of the nearest document to each pivot topic, and how many lie inside.

    The block places its documents on the way: the radii seldom change after this.
    """
    D = pivot_distances(block, model)
    remembered(block, model)[model.pivot_level] = place(block, model, D)
    return D.min(axis=0), (model.radii[model.pivots] ** 2 >= D).sum(axis=0)
