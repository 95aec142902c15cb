"""Top-down k-means: Lloyd inside each topic, level by level (paper: M- and E-top-down).

All topics of a level move together, so an iteration is one pass. A document remembers by how
much its second nearest child is further; while the children have moved less than that it can't
change, and is skipped. Sums are exact, so they are kept up to date by what moved alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Block, Blocks
from hierseed.core.descend import Placements, by_topic, nearest_child, settled
from hierseed.core.exact import Grid, Tally, merge_by_key
from hierseed.core.model import Model
from hierseed.core.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]


@dataclass
class Moves:
    """What one pass changed: sums and counts of the children that gained or lost documents."""

    topic: Ints
    sums: Floats  # whole multiples of the grid
    counts: Ints
    moved: int
    placed: int

    def merge(self, other: Moves) -> Moves:
        """Join the moves of two blocks."""
        keys = [self.topic, other.topic]
        topic, sums = merge_by_key(keys, [self.sums, other.sums])
        _, counts = merge_by_key(keys, [self.counts, other.counts])
        return Moves(topic, sums, counts, self.moved + other.moved, self.placed + other.placed)


def refine(blocks: Blocks, model: Model, grid: Grid, *, max_iter: int, tol: float) -> Model:
    """Return the model with each topic below the pivot at the centre of its documents.

    A topic left without documents keeps its vector. An iteration ends the level when no more
    than the share `tol` of its documents moved.
    """
    tree = model.tree
    for level in range(model.pivot_level, tree.height):
        vectors, before, used = model.vectors.copy(), None, None
        sums, counts = np.zeros_like(vectors), np.zeros(len(tree), dtype=np.intp)
        last = max_iter
        for iteration in range(max_iter + 1):
            moves = blocks.fold(move, model, level, vectors, before, used, grid)
            sums[moves.topic] += moves.sums
            counts[moves.topic] += moves.counts
            if moves.moved == 0 or iteration == last:
                break
            if iteration and moves.moved <= tol * moves.placed:
                last = iteration + 1
            filled = np.flatnonzero(counts)
            before, vectors = vectors, vectors.copy()
            vectors[filled] = grid.value(sums[filled]) / counts[filled, None]
            used = used_up(tree, vectors, before)
        # documents are with the nearest of these vectors: what blocks remember stays true
        model.vectors[:] = vectors
    return model


def move(
    block: Block,
    model: Model,
    level: int,
    vectors: Floats,
    before: Floats | None,
    used: Floats | None,
    grid: Grid,
) -> Moves:
    """Send each document to its nearest child, and tell what that changed.

    `before` are the vectors of the last pass, None in the first: a block that has forgotten
    where its documents were finds it again from these. `used`: see `used_up`.
    """
    placements = settled(block, model, level)
    memory = block.memo.setdefault(("lloyd", level), {})
    if not memory:
        memory["topic"] = np.full(len(placements.topic), -1, dtype=np.int32)
        memory["margin"] = np.full(len(placements.topic), -np.inf)
        if before is not None:
            look_again(block, placements, model, level, before, memory)
    was = memory["topic"].copy()
    if used is not None:
        memory["margin"] -= used[was]
    look_again(block, placements, model, level, vectors, memory)
    now = memory["topic"]
    topic = np.where(now >= 0, now, placements.topic)
    block.memo["settled"][level + 1] = placements.moved(topic)  # the next level starts from here
    return changes(block, placements, was, now, grid)


def used_up(tree: Tree, vectors: Floats, before: Floats) -> Floats:
    """How much of a document's margin the topics have used up by moving, for each it may be in.

    Its own topic may have moved away, another child of the same parent towards it. The last entry
    is for documents in none.
    """
    shift = np.linalg.norm(vectors - before, axis=1)
    result = np.zeros(len(tree) + 1)
    for parent in range(-1, len(tree)):
        children = tree.children(parent)
        if len(children) > 1:
            second, first = np.partition(shift[children], -2)[-2:]
            rival = np.where(shift[children] == first, second, first)
            result[children] = shift[children] + rival
    return result


def look_again(
    block: Block,
    placements: Placements,
    model: Model,
    level: int,
    vectors: Floats,
    memory: dict[str, Any],
) -> None:
    """Find the nearest child of each document whose margin the children may have used up."""
    current, margin = memory["topic"], memory["margin"]
    look = np.flatnonzero(margin <= 0)
    for parent, at in by_topic(placements.topic[look], model, level):
        these = look[at]
        current[these], margin[these] = nearest_child(
            block, placements.row[these], parent, model, vectors
        )


def changes(block: Block, placements: Placements, was: Ints, now: Ints, grid: Grid) -> Moves:
    """Sums and counts that the topics gained less what they lost."""
    changed = np.flatnonzero(now != was)
    placed = int((now >= 0).sum())
    topics, place = np.unique(np.concatenate([now[changed], was[changed]]), return_inverse=True)
    to, out = np.split(place, 2)
    none = int(np.searchsorted(topics, 0))  # 1 where some were in no topic before, -1 comes first
    tally = Tally(len(topics) - none, block.width, grid)
    for at, X in block.chunks(placements.row[changed]):
        tally.move(X, to[at] - none, out[at] - none)
    counts = np.bincount(to, minlength=len(topics)) - np.bincount(out, minlength=len(topics))
    return Moves(topics[none:], tally.sums, counts[none:], len(changed), placed)
