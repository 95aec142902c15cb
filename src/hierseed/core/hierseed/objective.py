"""The objective: the sum over topics of level times squared distances (eq. 6).

It needs counts, sums and squared lengths only: the squares around c are Q - 2 c.S + n |c|^2.

A round must not look better because it drops documents. So two costs are added that the paper's
sum leaves out: a document that no topic reaches costs what it would in its nearest pivot topic,
and a document that ends above the deepest level (in an Other, say) costs the levels below too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hierseed.core.arrays import Floats, Integers
from hierseed.core.blocks import Block, Blocks, portable
from hierseed.core.exact import Grid, merge_by_key
from hierseed.core.hierseed.descend import PlacementCache, deepest, labels, split
from hierseed.core.hierseed.model import Model
from hierseed.core.tree import Tree


@dataclass
class Weight:
    """Sums over documents by leaf: those placed there, then those that only add cost there."""

    topic: Integers
    counts: Integers
    sums: Floats
    squares: Floats
    covered: int
    placed: int
    moved: int

    def merge(self, other: Weight) -> Weight:
        """Merge with the weights of other documents."""
        keys = [self.topic, other.topic]
        topic, counts = merge_by_key(keys, [self.counts, other.counts])
        return Weight(
            topic,
            counts,
            merge_by_key(keys, [self.sums, other.sums])[1],
            merge_by_key(keys, [self.squares, other.squares])[1],
            self.covered + other.covered,
            self.placed + other.placed,
            self.moved + other.moved,
        )


@dataclass
class Objective:
    """Cost of a round: `total` counts every document at every level, `within` is the paper's."""

    total: float
    within: float
    covered: int
    placed: int
    moved: int
    n: int

    def of(self, stop_rule: str) -> float:
        """The number that must fall from round to round: ours, or the paper's sum."""
        return self.within if stop_rule == "within" else self.mean

    @property
    def mean(self) -> float:
        """Cost per placement, which must fall from round to round."""
        return self.total / max(self.placed + self.n - self.covered, 1)


def objective(
    blocks: Blocks, model: Model, grid: Grid, grid2: Grid, before: Model | None = None
) -> Objective:
    """Objective of a model; `before` is the model of the last round, to count moved documents."""
    n = len(model.tree)
    counts = np.zeros(2 * n, dtype=np.intp)
    sums, squares = np.zeros((2 * n, blocks.width)), np.zeros(2 * n)
    found = blocks.fold(weigh, model, grid, grid2, before)
    counts[found.topic], sums[found.topic] = found.counts, found.sums
    squares[found.topic] = found.squares
    placed, lost = (
        (counts[half], grid.dequantize(sums[half]), grid2.dequantize(squares[half]))
        for half in (slice(0, n), slice(n, 2 * n))
    )
    plain, full = model.tree.level.astype(np.float64), full_weights(model.tree)
    return Objective(
        total=cost(model, full, *placed) + cost(model, full, *lost),
        within=cost(model, plain, *placed),
        covered=found.covered,
        placed=found.placed,
        moved=found.moved,
        n=blocks.n,
    )


def full_weights(tree: Tree) -> Floats:
    """Level of each topic; for a leaf those of the levels below it are added."""
    below = tree.height * (tree.height + 1) / 2 - tree.level * (tree.level - 1) / 2
    return np.where(tree.is_leaf, below, tree.level)


def cost(model: Model, weight: Floats, counts: Integers, sums: Floats, squares: Floats) -> float:
    """Sum of weight times squared distances, over all topics from the pivot down."""
    tree = model.tree
    counts, sums, squares = counts.astype(np.float64), sums.copy(), squares.copy()
    total = 0.0
    for topic in range(len(tree) - 1, -1, -1):
        c, above = model.vectors[topic], tree.parent[topic]
        around = squares[topic] - 2 * c @ sums[topic] + counts[topic] * (c @ c)
        total += weight[topic] * max(around, 0.0)
        if tree.level[topic] > model.pivot_level:
            counts[above] += counts[topic]
            sums[above] += sums[topic]
            squares[above] += squares[topic]
    return float(total)


@portable
def weigh(block: Block, model: Model, grid: Grid, grid2: Grid, before: Model | None) -> Weight:
    """Counts, sums and squared lengths of a block's documents by leaf."""
    xp, n = block.xp, len(model.tree)
    previous = block.cache(PlacementCache).labels
    if previous is None and before is not None:
        previous = labels(block, deepest(block, before))
    placements = deepest(block, model)
    reached = xp.full(len(block), False, xp.bool)
    reached[placements.row] = True
    lost = xp.astype(xp.flatnonzero(~reached), xp.int32)
    charged = placements.nearest[lost]
    for level in range(model.pivot_level, model.tree.height):
        charged = split(block, lost, charged, model, level)
    row = xp.concat([placements.row, lost])
    topic = xp.concat([placements.topic, charged + n])
    present = np.flatnonzero(xp.to_numpy(xp.bincount(topic, 2 * n)))
    position = np.zeros(2 * n, dtype=np.intp)
    position[present] = np.arange(len(present))
    group = xp.asarray(position, xp.index)[topic]
    sums, counts = block.sum_by_group(row, group, len(present), grid)
    squares = xp.bincount(group, len(present), grid2.quantize(block.squared_norms[row], xp))
    now = block.cache(PlacementCache).labels = labels(block, placements)
    return Weight(
        present,
        counts,
        sums,
        xp.to_numpy(squares),
        covered=int(reached.sum()),
        placed=len(placements.row),
        moved=len(block) if previous is None else int((now != previous).sum()),
    )
