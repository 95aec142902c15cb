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
from hierseed.core.descend import Placements, by_topic, settled
from hierseed.core.distance import nearest
from hierseed.core.exact import Grid, merge_by_key, sum_by_group
from hierseed.core.model import Model

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
        vectors, before = model.vectors.copy(), None
        sums, counts = np.zeros_like(vectors), np.zeros(len(tree), dtype=np.intp)
        last = max_iter
        for iteration in range(max_iter + 1):
            moves = blocks.fold(move, model, level, vectors, before, grid)
            sums[moves.topic] += moves.sums
            counts[moves.topic] += moves.counts
            if moves.moved == 0 or iteration == last:
                break
            if iteration and moves.moved <= tol * moves.placed:
                last = iteration + 1
            filled = np.flatnonzero(counts)
            before, vectors = vectors, vectors.copy()
            vectors[filled] = grid.value(sums[filled]) / counts[filled, None]
        # documents are with the nearest of these vectors: what blocks remember stays true
        model.vectors[:] = vectors
    return model


def move(
    block: Block, model: Model, level: int, vectors: Floats, before: Floats | None, grid: Grid
) -> Moves:
    """Send each document to its nearest child, and tell what that changed.

    `before` are the vectors of the last pass, None in the first: a block that has forgotten
    where its documents were finds it again from these.
    """
    placements = settled(block, model, level)
    memory = block.memo.setdefault(("lloyd", level), {})
    if not memory:
        memory["topic"] = np.full(len(placements.topic), -1, dtype=np.int32)
        memory["margin"] = np.full(len(placements.topic), -np.inf)
        if before is not None:
            look_again(block, placements, model, level, before, None, memory)
    was = memory["topic"].copy()
    look_again(block, placements, model, level, vectors, before, memory)
    now = memory["topic"]
    topic = np.where(now >= 0, now, placements.topic)
    block.memo["settled"][level + 1] = placements.moved(topic)  # the next level starts from here
    return changes(block, placements, was, now, grid)


def look_again(
    block: Block,
    placements: Placements,
    model: Model,
    level: int,
    vectors: Floats,
    before: Floats | None,
    memory: dict[str, Any],
) -> None:
    """Find the nearest child of each document whose margin the children may have used up."""
    current, margin = memory["topic"], memory["margin"]
    for parent, at in by_topic(placements.topic, model, level):
        children = model.tree.children(parent)
        if before is not None:
            shift = np.linalg.norm(vectors[children] - before[children], axis=1)
            own = shift[np.searchsorted(children, current[at])]
            margin[at] -= own + shift.max()
        look = at[margin[at] <= 0]
        if len(look):
            row = placements.row[look]
            best, margin[look] = nearest(
                block.pick(row), vectors[children], block.squared_norms[row]
            )
            current[look] = children[best]


def changes(block: Block, placements: Placements, was: Ints, now: Ints, grid: Grid) -> Moves:
    """Sums and counts that the topics gained less what they lost."""
    changed = np.flatnonzero(now != was)
    placed = int((now >= 0).sum())
    if not len(changed):
        return Moves(now[:0], np.zeros((0, block.width)), np.zeros(0, dtype=np.intp), 0, placed)
    values = grid.count(block.pick(placements.row[changed]))
    present, place = np.unique(np.concatenate([now[changed], was[changed]]), return_inverse=True)
    to, out = np.split(place, 2)
    n = len(present)
    sums = sum_by_group(to, values, n) - sum_by_group(out, values, n)
    counts = np.bincount(to, minlength=n) - np.bincount(out, minlength=n)
    real = present >= 0  # -1: not placed before
    return Moves(present[real], sums[real], counts[real], len(changed), placed)
