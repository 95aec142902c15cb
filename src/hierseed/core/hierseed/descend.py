"""Inference: radii at the pivot, the nearest child below, None outside all radii; its cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY, Array, Floats
from hierseed.core.blocks import Block, Families, portable, squared_norms
from hierseed.core.distance import TIE, lowest
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.pivot import assigned
from hierseed.core.kernels.compiled import compiled


@dataclass
class Placements:
    """Documents of a block and the topic each is in, sorted by document.

    A placement is a document in one pivot topic; a document may have several, or none.
    """

    row: Array  # position in the block
    topic: Array
    nearest: Array  # per document of the block: the nearest pivot topic, reached or not
    first: Array  # True for the one of a document's placements that is in its nearest topic

    def moved(self, topic: Array) -> Placements:
        """The same documents in other topics."""
        return Placements(self.row, topic, self.nearest, self.first)


@dataclass
class LloydState:
    """State of k-means on one level of a block."""

    topic: Array  # child that each placement is in, -1 for none yet
    margin: Array  # how much farther its second nearest child is, at least


@dataclass
class PlacementCache:
    """Cache of a block for one model; `labels` are those of the last round."""

    key: str = ""
    by_level: dict[int, Placements] = field(default_factory=dict)
    lloyd: dict[int, LloydState] = field(default_factory=dict)
    labels: Array | None = None


def placement_cache(block: Block, model: Model) -> PlacementCache:
    """Return the block's cache for this model; placements of another model are dropped."""
    cache = block.cache(PlacementCache)
    if cache.key != model.cache_key:
        cache.key, cache.by_level, cache.lloyd = model.cache_key, {}, {}
    return cache


def pivot_distances(block: Block, model: Model) -> Array:
    """Squared distance of each document to each pivot topic."""
    return block.distances(model.vectors[model.pivots])


def place(block: Block, model: Model, D: Array) -> Placements:
    """Place documents at the pivot, by their squared distances to its topics."""
    xp = block.xp
    scale = block.squared_norms + squared_norms(model.vectors[model.pivots]).max(initial=0.0)
    plain = xp is NUMPY and bool(np.isnan(model.eccentricity[model.pivots]).all())
    kernels = compiled(D.size) if plain else None
    if kernels:
        return _place_at_once(kernels, model, D, TIE * scale)
    kept = assigned(D, scale, model, xp)
    pivots = xp.asarray(model.pivots, xp.int32)
    row, column = xp.nonzero(kept)
    among = xp.argmin(xp.where(kept, D, np.inf), axis=1)
    return Placements(
        xp.astype(row, xp.int32), pivots[column], pivots[lowest(D, scale, xp)], among[row] == column
    )


def _place_at_once(kernels: ModuleType, model: Model, D: Floats, limit: Floats) -> Placements:
    """`place` in one call; siblings share their documents, so a family has each at most once."""
    pivots, family = model.pivots.astype(np.int32), np.empty(len(model.pivots), dtype=np.intp)
    for number, members in enumerate(model.pivot_families):
        family[members] = number
    most, families = len(D) * len(model.pivot_families), len(model.pivot_families)
    row, column = np.empty(most, dtype=np.int32), np.empty(most, dtype=np.intp)
    first, nearest = np.empty(most, dtype=np.bool_), np.empty(len(D), dtype=np.intp)
    radius = model.radii[model.pivots]
    n = kernels.place(D, limit, radius**2, family, families, row, column, first, nearest)
    return Placements(row[:n].copy(), pivots[column[:n]], pivots[nearest], first[:n].copy())


def split(block: Block, rows: Array, topic: Array, model: Model, level: int) -> Array:
    """Move documents in inner topics of one level to their nearest child."""
    xp, (children, _, first) = block.xp, model.tree.families[level]
    result, family = xp.copy(topic), xp.asarray(model.tree.family, xp.index)[topic]
    at = xp.flatnonzero(family >= 0)
    if len(at):
        best = block.nearest(Families(model.vectors[children], first), rows[at], family[at])
        result[at] = xp.asarray(children, xp.int32)[best]
    return result


def by_topic(block: Block, topic: Array, model: Model, level: int) -> Iterator[tuple[int, Array]]:
    """Yield each inner topic of one level that occurs, and its positions."""
    xp, (_, parents, _) = block.xp, model.tree.families[level]
    family = xp.asarray(model.tree.family, xp.index)[topic]
    for number, at in xp.by_group(family, len(parents)):
        yield int(parents[number]), at


def placed(block: Block, model: Model, level: int) -> Placements:
    """Placements with every topic above `level` split; kept in the block's cache."""
    known = placement_cache(block, model).by_level
    if level not in known:
        if level <= model.pivot_level:
            known[level] = place(block, model, pivot_distances(block, model))
        else:
            above = placed(block, model, level - 1)
            known[level] = above.moved(split(block, above.row, above.topic, model, level - 1))
    return known[level]


def deepest(block: Block, model: Model) -> Placements:
    """Placements at the leaves."""
    return placed(block, model, model.tree.height)


def labels(block: Block, placements: Placements) -> Array:
    """One topic per document: that of its nearest pivot topic; -1 for None."""
    result = block.xp.full(len(block), -1, block.xp.int32)
    result[placements.row[placements.first]] = placements.topic[placements.first]
    return result


@portable
def predict(block: Block, model: Model) -> NDArray[np.int32]:
    """Deepest topic of each document, -1 for None."""
    return block.xp.to_numpy(labels(block, deepest(block, model)))
