"""Top-down k-means: Lloyd inside each topic, level by level (paper: M- and E-top-down).

All topics of a level move together, so an iteration is one pass. A document remembers by how
much its second nearest child is further; while the children have moved less than that it can't
change, and is skipped. Sums are exact, so they are kept up to date by what moved alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Block, Blocks
from hierseed.core.descend import Placements, by_topic, settled
from hierseed.core.distance import nearest
from hierseed.core.exact import Grid, sum_by_group
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


def refine(blocks: Blocks, model: Model, grid: Grid, *, max_iter: int, tol: float) -> Model:
    """Return the model with each topic below the pivot at the centre of its documents.

    A topic left without documents keeps its vector. An iteration ends the level when no more
    than the share `tol` of its documents moved.
    """
    tree = model.tree
    for level in range(model.pivot_level, tree.height):
        vectors = model.vectors.copy()
        sums, counts = np.zeros_like(vectors), np.zeros(len(tree), dtype=np.intp)
        shift = np.zeros(len(tree))
        for iteration in range(max_iter + 1):
            moved = placed = 0
            for moves in blocks.map(move, model, level, vectors, shift, grid):
                sums[moves.topic] += moves.sums
                counts[moves.topic] += moves.counts
                moved, placed = moved + moves.moved, placed + moves.placed
            if moved == 0 or iteration == max_iter:
                break
            if iteration and moved <= tol * placed:
                max_iter = iteration + 1
            filled = np.flatnonzero(counts)
            means = vectors.copy()
            means[filled] = grid.value(sums[filled]) / counts[filled, None]
            shift = np.linalg.norm(means - vectors, axis=1)
            vectors = means
        # documents are with the nearest of these vectors: what blocks remember stays true
        model.vectors[:] = vectors
    return model


def move(
    block: Block, model: Model, level: int, vectors: Floats, shift: Floats, grid: Grid
) -> Moves:
    """Send each document to its nearest child, looking only at those that may have changed."""
    placements = settled(block, model, level)
    topic, width = placements.topic, vectors.shape[1]
    memory = block.memo.setdefault(("lloyd", level), {})
    if "topic" not in memory:
        memory["topic"] = np.full(len(topic), -1, dtype=np.int32)
        memory["margin"] = np.full(len(topic), -np.inf)
    current, margin = memory["topic"], memory["margin"]
    before = current.copy()
    for parent, at in by_topic(topic, model, level):
        children = model.tree.children(parent)
        known = current[at] >= 0
        margin[at] -= np.where(known, shift[current[at]], 0) + shift[children].max()
        look = at[margin[at] <= 0]
        if len(look):
            row = placements.row[look]
            best, margin[look] = nearest(
                block.pick(row), vectors[children], block.squared_norms[row]
            )
            current[look] = children[best]
    changed = np.flatnonzero(current != before)
    remember(block, model, level, placements, current)
    if not len(changed):
        return Moves(current[:0], np.zeros((0, width)), current[:0], 0, int((current >= 0).sum()))
    values = grid.count(block.pick(placements.row[changed]))
    both = np.concatenate([current[changed], before[changed]])
    present, place = np.unique(both, return_inverse=True)
    gain = sum_by_group(place[: len(changed)], values, len(present))
    loss = sum_by_group(place[len(changed) :], values, len(present))
    counts = np.bincount(place[: len(changed)], minlength=len(present)) - np.bincount(
        place[len(changed) :], minlength=len(present)
    )
    real = present >= 0
    return Moves(
        present[real],
        (gain - loss)[real],
        counts[real],
        len(changed),
        int((current >= 0).sum()),
    )


def remember(block: Block, model: Model, level: int, placements: Placements, current: Ints) -> None:
    """Keep the split of this level, so that the next need not repeat it."""
    topic = np.where(current >= 0, current, placements.topic)
    block.memo["settled"][level + 1] = placements.moved(topic)
