"""LES, the largest empty sphere among children (paper: step M-bottom-up, appendix B).

A document about equally far from three children is an approximate Voronoi vertex; the sphere is
the one of these with the largest radius. Of all triples of a document's distances the one with
the least spread is three neighbours in sorted order, so B - 2 windows replace B(B-1)(B-2)/6
triples. With two children a pair takes the place of the triple. Of all triples with the same
farthest child the window has both the least spread and the largest radius, so that windows also
decide the largest sphere over all triples under a tolerance.

Which documents count as vertices is decided after all have been seen. So each block returns the
documents that no other beats in both spread and radius, the Pareto front: enough for any
tolerance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY, Array, Arrays, Floats
from hierseed.core.blocks import Block, Blocks, Families, chunks, portable
from hierseed.core.exact import Grid
from hierseed.core.hierseed.descend import by_topic, placed
from hierseed.core.hierseed.model import Model
from hierseed.core.kernels.compiled import compiled
from hierseed.core.tree import Tree

MOST_DISTANCES = 4_000_000  # held at a time: a topic may have thousands of children


@dataclass(frozen=True)
class Tolerance:
    """Which documents count as vertices.

    `rule` is "ratio", "deviation" or "empty"; `all_triples` lets every triple of a document
    count, in place of its tightest one.
    """

    rule: str = "ratio"
    all_triples: bool = False


def tightest(D: Array, *, empty: bool = False, xp: Arrays = NUMPY) -> tuple[Array, Array]:
    """`windows` of squared distances, which may be overwritten."""
    kernels = compiled(D.size) if xp is NUMPY else None
    if kernels is None:
        return windows(xp.sqrt(D), empty=empty, xp=xp)
    found: tuple[Array, Array] = kernels.windows(D, empty)
    return found


def windows(distances: Array, *, empty: bool = False, xp: Arrays = NUMPY) -> tuple[Array, Array]:
    """Least spread of three sorted distances, and the mean of those three, for each document.

    With `empty` only the three nearest children count: then the sphere holds no child.
    """
    width = min(3, distances.shape[1])
    ordered = xp.sort_rows(distances)
    if empty:
        ordered = ordered[:, :width]
    spread, radius = all_windows(ordered)
    at = xp.argmin(spread, axis=1)
    every = xp.arange(len(ordered))
    return spread[every, at], radius[every, at]


def all_windows(ordered: Array) -> tuple[Array, Array]:
    """Spread and mean of every three neighbours among sorted distances, one column a window."""
    width = min(3, ordered.shape[1])
    count = ordered.shape[1] - width + 1
    total = sum(ordered[:, step : step + count] for step in range(width))
    return ordered[:, width - 1 :] - ordered[:, :count], total / width


def triple_sums(ordered: Array, grid: Grid, grid2: Grid, xp: Arrays) -> tuple[int, float, float]:
    """Count, sum and sum of squares of the spreads of all triples, on the grids.

    Two children that are `step` places apart are the ends of `step - 1` triples.
    """
    n, width = ordered.shape
    if width < 3:
        spread = ordered[:, 1] - ordered[:, 0]
        total, squares = grid.quantize(spread, xp).sum(), grid2.quantize(spread**2, xp).sum()
        return n, float(total), float(squares)
    count, total, squares = 0, 0.0, 0.0
    for step in range(2, width):
        spread = ordered[:, step:] - ordered[:, : width - step]
        count += (step - 1) * n * (width - step)
        total += (step - 1) * float(grid.quantize(spread, xp).sum())
        squares += (step - 1) * float(grid2.quantize(spread**2, xp).sum())
    return count, total, squares


def unbeaten(spread: Array, radius: Array, xp: Arrays = NUMPY) -> Array:
    """Positions of the documents that no other beats or equals in spread and in radius."""
    kernels = compiled(len(spread)) if xp is NUMPY else None
    if kernels:
        found: Array = kernels.unbeaten(spread, radius)
        return found
    order = xp.argsort(-radius)
    order = order[xp.argsort(spread[order])]
    radius = radius[order]
    kept = xp.full(len(order), True, xp.bool)
    kept[1:] = radius[1:] > xp.cumulative_max(radius)[:-1]
    return order[kept]


@dataclass
class Candidates:
    """Documents of one topic that may be the centre, and the sums behind the tolerance."""

    spread: Floats
    radius: Floats
    row: NDArray[np.integer]
    count: int = 0
    sum: float = 0.0  # whole multiples of the grid, see `exact`
    sum_of_squares: float = 0.0

    @classmethod
    def of_triples(
        cls, distances: Array, row: Array, grid: Grid, grid2: Grid, start: int, xp: Arrays
    ) -> Candidates:
        """Keep the unbeaten triples of one block; the tolerance is computed from all triples."""
        ordered = xp.sort_rows(distances)
        spread, radius = all_windows(ordered)
        count = spread.shape[1]
        document = row[xp.arange(len(row) * count) // count]
        made = cls.of(spread.reshape(-1), radius.reshape(-1), document, grid, grid2, start, xp)
        triples, total, squares = triple_sums(ordered, grid, grid2, xp)
        return replace(made, count=triples, sum=total, sum_of_squares=squares)

    @classmethod
    def of(
        cls,
        spread: Array,
        radius: Array,
        row: Array,
        grid: Grid,
        grid2: Grid,
        start: int = 0,
        xp: Arrays = NUMPY,
    ) -> Candidates:
        """Keep the unbeaten documents of one block, which begins at the row `start`."""
        kept = unbeaten(spread, radius, xp)
        return cls(
            xp.to_numpy(spread[kept]), xp.to_numpy(radius[kept]),
            xp.to_numpy(row[kept]).astype(np.intp) + start, len(row),
            float(grid.quantize(spread, xp).sum()), float(grid2.quantize(spread**2, xp).sum()),
        )  # fmt: skip

    def merge(self, other: Candidates) -> Candidates:
        """Merge with the candidates of other documents."""
        spread = np.concatenate([self.spread, other.spread])
        radius = np.concatenate([self.radius, other.radius])
        kept = unbeaten(spread, radius)
        return Candidates(
            spread[kept], radius[kept], np.concatenate([self.row, other.row])[kept],
            self.count + other.count, self.sum + other.sum,
            self.sum_of_squares + other.sum_of_squares,
        )  # fmt: skip

    def centre(self, rule: str, grid: Grid, grid2: Grid) -> int:
        """Row of the document at the centre: the largest radius within the tolerance.

        Spread at most 10 times the least (the published code); with `deviation`, at most the mean
        less one standard deviation of all spreads, and never less than the least (the paper).
        """
        least = self.spread.min()
        if rule != "deviation":
            limit = 10.0 * least
        else:
            mean = np.ldexp(self.sum, -grid.bits) / self.count
            mean_square = np.ldexp(self.sum_of_squares, -grid2.bits) / self.count
            limit = max(least, mean - np.sqrt(max(mean_square - mean**2, 0.0)))
        return int(self.row[np.where(self.spread <= limit, self.radius, -np.inf).argmax()])


class Found(dict[int, Candidates]):
    """Candidates by topic."""

    def merge(self, other: Found) -> Found:
        """Merge with the candidates of other documents."""
        for topic, candidates in other.items():
            self[topic] = self[topic].merge(candidates) if topic in self else candidates
        return self


def spheres_of_level(
    blocks: Blocks, model: Model, tolerance: Tolerance, largest: float, level: int, vectors: Floats
) -> dict[int, Floats]:
    """Sphere centre of each topic of a level, among the documents assigned to it.

    `model` holds the assigned sets, `vectors` where the children are now. Topics with fewer than
    two children, or no document, have none.
    """
    return _centres(blocks, candidates_of_level, model, tolerance, largest, level, vectors)


def spheres_above_pivot(
    blocks: Blocks, model: Model, tolerance: Tolerance, largest: float
) -> dict[int, Floats]:
    """Sphere centre of each topic just above the pivot (-1: the root).

    No documents are assigned to these; those nearest to one of its children are used instead.
    """
    return _centres(blocks, candidates_above_pivot, model, tolerance, largest)


def _centres(
    blocks: Blocks,
    step: Callable[..., Found],
    model: Model,
    tolerance: Tolerance,
    largest: float,
    *where: Any,
) -> dict[int, Floats]:
    terms = blocks.n * (_triples(model.tree) if tolerance.all_triples else 1)
    grid = Grid.holding(terms, 2 * largest)
    grid2 = Grid.holding(terms, 4 * largest**2)
    found = blocks.fold(step, model, tolerance, grid, grid2, *where)
    rows = [candidates.centre(tolerance.rule, grid, grid2) for candidates in found.values()]
    return dict(zip(found, blocks.take(np.array(rows, dtype=np.intp)))) if rows else {}


def _triples(tree: Tree) -> int:
    """Triples among the children of the topic that has most."""
    most = max(len(tree.children(topic)) for topic in (-1, *range(len(tree))))
    return max(most * (most - 1) * (most - 2) // 6, 1)


@portable
def candidates_of_level(
    block: Block,
    model: Model,
    tolerance: Tolerance,
    grid: Grid,
    grid2: Grid,
    level: int,
    vectors: Floats,
) -> Found:
    """Candidates of each topic of a level, among its assigned documents."""
    placements = placed(block, model, level)
    sets = (
        (topic, placements.row[at]) for topic, at in by_topic(block, placements.topic, model, level)
    )
    return Found(_candidates(block, sets, model, vectors, tolerance, grid, grid2))


@portable
def candidates_above_pivot(
    block: Block, model: Model, tolerance: Tolerance, grid: Grid, grid2: Grid
) -> Found:
    """Candidates of each topic just above the pivot, among the documents nearest to it."""
    xp, at_level = block.xp, model.tree.at_level(model.pivot_level)
    parents, family = np.unique(model.tree.parent[at_level], return_inverse=True)
    if len(parents) == 1:  # every document is nearest to one of its children
        best = xp.full(len(block), 0, xp.index)
    else:
        best = block.nearest(Families.one(model.vectors[at_level]))
    groups = xp.by_group(xp.asarray(family, xp.index)[best], len(parents))
    sets = ((int(parents[number]), rows) for number, rows in groups)
    return Found(_candidates(block, sets, model, model.vectors, tolerance, grid, grid2))


def _candidates(
    block: Block,
    sets: Iterable[tuple[int, Array]],
    model: Model,
    vectors: Floats,
    tolerance: Tolerance,
    grid: Grid,
    grid2: Grid,
) -> Iterator[tuple[int, Candidates]]:
    xp = block.xp
    for topic, rows in sets:
        children = model.tree.children(topic)
        if len(children) < 2 or not len(rows):
            continue
        C, empty = vectors[children], tolerance.rule == "empty"
        if tolerance.all_triples and not empty:
            D = xp.sqrt(block.distances(C, rows))
            yield topic, Candidates.of_triples(D, rows, grid, grid2, block.start, xp)
            continue
        values = xp.piece * len(C) or MOST_DISTANCES
        parts = [
            tightest(block.distances(C, rows[at]), empty=empty, xp=xp)
            for at in chunks(len(rows), len(C), values)
        ]
        spread, radius = (xp.concat(some) if len(parts) > 1 else some[0] for some in zip(*parts))
        yield topic, Candidates.of(spread, radius, rows, grid, grid2, block.start, xp)
