"""One pass that finds the sphere centre of every topic (see `sphere` for one topic's)."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Block, Blocks
from hierseed.core.descend import by_topic, settled
from hierseed.core.distance import lowest, squared_distances, squared_norms
from hierseed.core.exact import Grid
from hierseed.core.model import Model
from hierseed.core.sphere import Candidates, windows

Floats = NDArray[np.float64]
Found = dict[int, Candidates]


def sphere_centres(
    blocks: Blocks, model: Model, tolerance: str, largest: float, *, at_pivot: bool = False
) -> dict[int, Floats]:
    """Sphere centre among the children of each topic that has two or more and documents.

    Topics from the pivot down use their assigned sets. With `at_pivot`, instead, the topics just
    above the pivot (-1: the root) use the documents nearest to one of their children.
    """
    grid = Grid.holding(blocks.n, 2 * largest)
    grid2 = Grid.holding(blocks.n, 4 * largest**2)
    step: Callable[..., Found] = candidates_above if at_pivot else candidates_below
    found: Found = {}
    for part in blocks.map(step, model, tolerance, grid, grid2):
        for topic, candidates in part.items():
            found[topic] = found[topic].merge(candidates) if topic in found else candidates
    topics = sorted(found)
    method = "ratio" if tolerance == "empty" else tolerance
    rows = [found[topic].centre(method, grid, grid2) for topic in topics]
    return dict(zip(topics, blocks.take(np.array(rows, dtype=np.intp)))) if rows else {}


def candidates_below(block: Block, model: Model, tolerance: str, grid: Grid, grid2: Grid) -> Found:
    """Candidates of each topic from the pivot down, among its assigned documents."""
    return dict(_candidates(block, _assigned_sets(block, model), model, tolerance, grid, grid2))


def candidates_above(block: Block, model: Model, tolerance: str, grid: Grid, grid2: Grid) -> Found:
    """Candidates of each topic just above the pivot, among the documents nearest to it."""
    return dict(_candidates(block, _nearest_sets(block, model), model, tolerance, grid, grid2))


def _assigned_sets(block: Block, model: Model) -> Iterator[tuple[int, NDArray[np.integer]]]:
    for level in range(model.pivot_level, model.tree.height):
        placements = settled(block, model, level)
        for topic, at in by_topic(placements.topic, model, level):
            yield topic, placements.row[at]


def _nearest_sets(block: Block, model: Model) -> Iterator[tuple[int, NDArray[np.integer]]]:
    at_level = model.tree.at_level(model.pivot_level)
    vectors = model.vectors[at_level]
    scale = block.squared_norms + squared_norms(vectors).max(initial=0.0)
    D = squared_distances(block.X, vectors, block.squared_norms)
    closest = at_level[lowest(D, scale)]
    above = model.tree.parent[closest]
    for topic in np.unique(above):
        yield int(topic), np.flatnonzero(above == topic)


def _candidates(
    block: Block,
    sets: Iterator[tuple[int, NDArray[np.integer]]],
    model: Model,
    tolerance: str,
    grid: Grid,
    grid2: Grid,
) -> Iterator[tuple[int, Candidates]]:
    for topic, rows in sets:
        children = model.tree.children(topic)
        if len(children) < 2 or not len(rows):
            continue
        distances = np.sqrt(
            squared_distances(block.pick(rows), model.vectors[children], block.squared_norms[rows])
        )
        spread, radius = windows(distances, empty=tolerance == "empty")
        yield topic, Candidates.of(spread, radius, rows + block.start, grid, grid2)
