"""Placements of a block's documents, and the cache that keeps them between steps."""

from __future__ import annotations

from dataclasses import dataclass, field

from hierseed.core.arrays import Array
from hierseed.core.block import Block
from hierseed.core.hierseed.model import Model


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
