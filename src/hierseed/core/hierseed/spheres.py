"""The largest empty spheres of all topics of a level, in one pass (`sphere`: of one topic)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Array
from hierseed.core.block import Block, Families, portable
from hierseed.core.blocks import Blocks
from hierseed.core.distance import chunks
from hierseed.core.exact import Grid
from hierseed.core.hierseed.descend import by_topic, placed
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.sphere import Candidates, Tolerance, tightest
from hierseed.core.tree import Tree

Floats = NDArray[np.float64]

MOST_DISTANCES = 4_000_000  # held at a time: a topic may have thousands of children


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
