"""Top-down k-means: Lloyd inside each topic, level by level (paper: M- and E-top-down).

All topics of a level move together, so an iteration is one pass. The state keeps how much farther
the second nearest child of each document is; while the children have moved less than that the
document can't change its child and is skipped. Sums are exact, so they are updated by the
documents that moved alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hierseed.core.arrays import Floats, Integers
from hierseed.core.blocks import Block, Blocks, Families, portable
from hierseed.core.exact import Grid, merge_by_key
from hierseed.core.hierseed.descend import LloydState, Placements, placed, placement_cache
from hierseed.core.hierseed.model import Model
from hierseed.core.tree import Tree

MOST = 0.8  # of a block: above this share all rows are read in order


@dataclass
class Moves:
    """Changes of one pass: sums and counts of children that gained or lost documents."""

    topic: Integers
    sums: Floats  # whole multiples of the grid
    counts: Integers
    moved: int
    placed: int

    def merge(self, other: Moves) -> Moves:
        """Merge with the moves of other documents."""
        keys = [self.topic, other.topic]
        topic, sums = merge_by_key(keys, [self.sums, other.sums])
        _, counts = merge_by_key(keys, [self.counts, other.counts])
        return Moves(topic, sums, counts, self.moved + other.moved, self.placed + other.placed)


def refine(blocks: Blocks, model: Model, grid: Grid, *, max_iter: int, tol: float) -> Model:
    """Return the model with each topic below the pivot at the mean of its documents.

    A topic without documents keeps its vector. A level ends after an iteration in which no more
    than the share `tol` of its documents moved.
    """
    tree = model.tree
    for level in range(model.pivot_level, tree.height):
        children, _, first = tree.families[level]
        vectors, before, used = model.vectors, None, None
        centres = Families(vectors[children], first)
        sums, counts = np.zeros_like(vectors), np.zeros(len(tree), dtype=np.intp)
        last = max_iter
        for iteration in range(max_iter + 1):
            moves = blocks.fold(move, model, level, centres, before, used, grid)
            sums[moves.topic] += moves.sums
            counts[moves.topic] += moves.counts
            if moves.moved == 0 or iteration == last:
                break
            if iteration and moves.moved <= tol * moves.placed:
                last = iteration + 1
            filled = np.flatnonzero(counts)
            earlier, vectors = vectors, vectors.copy()
            vectors[filled] = grid.dequantize(sums[filled]) / counts[filled, None]
            used = consumed_margin(tree, vectors, earlier)
            before, centres = centres, Families(vectors[children], first)
        model = model.refined(vectors)  # `move` has cached the placements for these vectors
    return model


@portable
def move(
    block: Block,
    model: Model,
    level: int,
    centres: Families,
    before: Families | None,
    used: Floats | None,
    grid: Grid,
) -> Moves:
    """Move each document to its nearest child, and return the changes.

    `centres` are the children's vectors, family by family; `before` those of the last pass, None
    in the first: a block that has lost its cache finds from these where its documents were.
    `used`: see `consumed_margin`.
    """
    xp, placements, cache = block.xp, placed(block, model, level), placement_cache(block, model)
    state = cache.lloyd.get(level)
    if state is None:
        n = len(placements.row)
        state = LloydState(xp.full(n, -1, xp.int32), xp.full(n, -np.inf, xp.float64))
        cache.lloyd[level] = state
        if before is not None:
            reassign(block, placements, model, level, before, None, state)
    moves = reassign(block, placements, model, level, centres, grid, state, used)
    topic = xp.where(state.topic >= 0, state.topic, placements.topic)
    cache.by_level[level + 1] = placements.moved(topic)
    return moves


def consumed_margin(tree: Tree, vectors: Floats, before: Floats) -> Floats:
    """Margin consumed by the movement of centres, for the documents of each topic.

    Its own topic may have moved away from a document, and a sibling towards it. The last entry is
    for documents in no topic.
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


def reassign(
    block: Block,
    placements: Placements,
    model: Model,
    level: int,
    centres: Families,
    grid: Grid | None,
    state: LloydState,
    used: Floats | None = None,
) -> Moves:
    """Find the nearest child of each document whose margin is consumed; updates the state."""
    xp, tree = block.xp, model.tree
    children = tree.families[level][0]
    if grid:
        at_once = block.lloyd(centres, children, tree, placements, state, used, grid)
        if at_once:
            made, moved, total = at_once
            return Moves(children[made.centre], made.sums, made.counts, moved, total)
    if used is not None:
        state.margin -= xp.asarray(used)[state.topic]
    at = xp.flatnonzero(state.margin <= 0)
    if len(at) > MOST * len(block) and bool((placements.topic == placements.topic[0]).all()):
        at = xp.arange(len(state.topic))
    family = xp.asarray(tree.family, xp.index)[placements.topic[at]]
    inner = xp.flatnonzero(family >= 0)
    if len(inner) < len(at):
        at, family = at[inner], family[inner]
    was = xp.asarray(tree.position, xp.index)[state.topic[at]]
    best, margin, gains = block.reassign(centres, placements.row[at], family, was, grid)
    state.topic[at], state.margin[at] = xp.asarray(children, xp.int32)[best], margin
    moved, total = int((best != was).sum()), int((state.topic >= 0).sum())
    if gains is None:
        return Moves(children[:0], np.zeros((0, block.width)), children[:0], moved, total)
    return Moves(children[gains.centre], gains.sums, gains.counts, moved, total)
