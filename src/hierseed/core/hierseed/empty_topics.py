"""How many documents pivot topics reach; an empty one gets a larger radius (paper: 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hierseed.core.arrays import Floats, Ints
from hierseed.core.blocks import Block, Blocks, portable, squared_norms
from hierseed.core.distance import TIE
from hierseed.core.hierseed.descend import pivot_distances, place, placement_cache
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.pivot import reached


def widen(blocks: Blocks, model: Model, alpha: float) -> tuple[Model, Ints]:
    """Give empty topics a radius of `alpha` times the distance of their nearest document.

    Only where that document lies within twice the radius. Returns the model, and the topics that
    stay empty.
    """
    around = blocks.fold(reach, model)
    empty = around.inside == 0
    reachable = empty & (np.sqrt(around.nearest) <= 2 * model.radii[model.pivots])
    if reachable.any():
        topics, radii = model.pivots[reachable], model.radii.copy()
        radii[topics] = alpha * np.sqrt(blocks.fold(nearest, model.vectors[topics]).squares)
        model = model.with_radii(radii)
    return model, model.pivots[empty & ~reachable]


@dataclass
class Reach:
    """Squared distance of the nearest document to each pivot topic, and how many lie inside."""

    nearest: Floats
    inside: Ints

    def merge(self, other: Reach) -> Reach:
        """Merge with the statistic of other documents."""
        return Reach(np.minimum(self.nearest, other.nearest), self.inside + other.inside)


@portable
def reach(block: Block, model: Model) -> Reach:
    """Measure the documents around each pivot topic.

    The placements are cached: the radii seldom change after this.
    """
    xp, D = block.xp, pivot_distances(block, model)
    placement_cache(block, model).by_level[model.pivot_level] = place(block, model, D)
    vectors = model.vectors[model.pivots]
    scale = block.squared_norms + squared_norms(vectors).max(initial=0.0)
    inside = reached(D, scale, model.radii[model.pivots], xp).sum(axis=0)
    return Reach(xp.to_numpy(xp.min(D, axis=0)), xp.to_numpy(inside))


@dataclass
class Nearest:
    """Squared distance of the nearest document to each place."""

    squares: Floats

    def merge(self, other: Nearest) -> Nearest:
        """Merge with that of other documents."""
        return Nearest(np.minimum(self.squares, other.squares))


@portable
def nearest(block: Block, places: Floats) -> Nearest:
    """Measure the nearest document to each place.

    Distances by products differ between engines in their last digits. So those that may be the
    least are computed again from the differences, by numpy in every engine.
    """
    xp, D = block.xp, block.distances(places)
    scale = block.squared_norms + squared_norms(places).max(initial=0.0)
    least = xp.min(D + TIE * scale[:, None], axis=0)
    found = np.empty(len(places))
    for k in range(len(places)):
        rows = block.rows_at(xp.flatnonzero(D[:, k] <= least[k]))
        away = xp.to_numpy(xp.astype(rows, xp.float64)) - places[k]
        found[k] = squared_norms(away).min(initial=np.inf)
    return Nearest(found)
