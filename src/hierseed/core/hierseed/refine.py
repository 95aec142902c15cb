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
from hierseed.core.distance import Centres
from hierseed.core.exact import Grid, Tally, merge_by_key
from hierseed.core.hierseed.descend import Placements, by_topic, settled
from hierseed.core.hierseed.model import Model
from hierseed.core.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]

MOST = 0.8


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
            vectors[filled] = grid.dequantize(sums[filled]) / counts[filled, None]
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
            look_again(block, placements, model, level, before, grid, memory)
    now, margin = memory["topic"], memory["margin"]
    if used is not None:
        margin -= used[now]
    moves = look_again(block, placements, model, level, vectors, grid, memory)
    topic = np.where(now >= 0, now, placements.topic)
    block.memo["settled"][level + 1] = placements.moved(topic)  # the next level starts from here
    return moves


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
    grid: Grid,
    memory: dict[str, Any],
) -> Moves:
    """Find the nearest child of each document whose margin the children may have used up.

    Rows are added to their new child, and taken out of the old one, while they are at hand.
    """
    current, margin = memory["topic"], memory["margin"]
    look = np.flatnonzero(margin <= 0)
    if len(look) > MOST * len(block) and (placements.topic == placements.topic[0]).all():
        look = np.arange(len(current))  # one topic, nearly all of it: rows in order, not picked
    topics, sums, counts = [], [], []
    moved = 0
    for parent, at in by_topic(placements.topic[look], model, level):
        children = model.tree.children(parent)
        centres = Centres(vectors[children], block.dtype)
        tally = Tally(len(children), block.width, grid)
        at = look[at]
        row = placements.row[at]
        was = model.tree.place[current[at]]
        now = np.empty(len(at), dtype=np.intp)
        for piece, X in block.chunks(row):
            x2 = block.squared_norms[row[piece]]
            now[piece], margin[at[piece]] = centres.nearest(X, x2, tally, was[piece])
        current[at] = children[now]
        topics.append(children)
        sums.append(tally.sums)
        counts.append(tally.counts)
        moved += int((now != was).sum())
    placed = int((current >= 0).sum())
    if len(topics) == 1:
        return Moves(topics[0], sums[0], counts[0], moved, placed)
    return Moves(
        np.concatenate([current[:0], *topics]),
        np.concatenate([np.zeros((0, block.width)), *sums]),
        np.concatenate([np.zeros(0, np.intp), *counts]),
        moved,
        placed,
    )
