"""Distances and scores of placements, level by level.

A score is a softmax of squared distances in units of the typical margin between the nearest and
the second topic, multiplied down the path. It ranks placements and compares documents; it is not
a calibrated probability.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Array, Floats, Integers
from hierseed.core.blocks import Block, Blocks, portable
from hierseed.core.exact import Grid
from hierseed.core.hierseed.descend import (
    Placements,
    by_topic,
    deepest,
    pivot_distances,
    place,
    placed,
    placement_cache,
    predict,
)
from hierseed.core.hierseed.model import Model
from hierseed.core.score import Scored

TINY = 1e-10  # of a document's squared length


def placed_and_margins(
    blocks: Blocks, model: Model, largest: float
) -> tuple[NDArray[np.int32], Floats]:
    """Topic of each document, and the typical margin at each level."""
    grid = Grid.holding(blocks.n * max(len(model.pivots), 1), 4 * largest**2)
    found = []
    sums, counts = np.zeros(model.tree.height), np.zeros(model.tree.height)
    for topic, part, count in blocks.map(_label_and_sum_margins, model, grid):
        found.append(topic)
        sums, counts = sums + part, counts + count
    mean = grid.dequantize(sums) / np.maximum(counts, 1)
    return np.concatenate(found), np.where(mean > 0, mean, 1.0)


@portable
def _label_and_sum_margins(
    block: Block, model: Model, grid: Grid
) -> tuple[NDArray[np.int32], Floats, Integers]:
    xp, height = block.xp, model.tree.height
    sums, counts = np.zeros(height), np.zeros(height, dtype=np.intp)

    def add(level: int, D: Array) -> None:
        if D.shape[1] > 1:
            first, second = xp.two_smallest(D)
            sums[level - 1] += float(grid.quantize(second - first, xp).sum())
            counts[level - 1] += len(D)

    D, known = pivot_distances(block, model), placement_cache(block, model).by_level
    add(model.pivot_level, D)
    if model.pivot_level not in known:
        known[model.pivot_level] = place(block, model, D)
    for level in range(model.pivot_level, height):
        placements = placed(block, model, level)
        for topic, at in by_topic(block, placements.topic, model, level):
            children = model.vectors[model.tree.children(topic)]
            add(level + 1, block.distances(children, placements.row[at]))
    return predict(block, model), sums, counts


@portable
def scored(block: Block, model: Model, margins: Floats) -> Scored:
    """Distance, score and runner-up of every placement in a block.

    The block computes distances; the few numbers per document are processed on the host.
    """
    tree, fetch = model.tree, block.xp.to_numpy
    top = _on_host(block, placed(block, model, model.pivot_level))
    D = fetch(pivot_distances(block, model))
    share = _softmax(D, margins[model.pivot_level - 1])
    column = np.searchsorted(model.pivots, np.asarray(top.topic))
    score = np.full((len(top.row), tree.height), np.nan)
    _score_down_to_pivot(score, share, top.row, top.topic, model)
    runner = np.full(len(top.row), -1, dtype=np.intp)
    if len(model.pivots) > 1:
        order = np.argsort(D, axis=1, kind="stable")[top.row, :2]
        runner = model.pivots[np.where(order[:, 0] == column, order[:, 1], order[:, 0])]
    squares = _squares_down_to_pivot(D, top, column, block, model)
    for level in range(model.pivot_level, tree.height):
        placements = placed(block, model, level)
        after = fetch(placed(block, model, level + 1).topic)
        for topic, there in by_topic(block, placements.topic, model, level):
            children = tree.children(topic)
            below = fetch(block.distances(model.vectors[children], placements.row[there]))
            at = fetch(there)
            every, chosen = np.arange(len(at)), np.searchsorted(children, after[at])
            squares[at, level] = below[every, chosen]
            score[at, level] = score[at, level - 1] * _softmax(below, margins[level])[every, chosen]
            if len(children) > 1:
                below[every, chosen] = np.inf
                runner[at] = children[below.argmin(axis=1)]
    last = _on_host(block, deepest(block, model))
    path = tree.ancestors[last.topic]
    distance = _lengths(squares, last.row, path, block, model)
    parts = Scored.ungraded(last.row + block.start, last.topic, path, distance, score, runner)
    return _with_none(parts, block, model, D)


def _on_host(block: Block, some: Placements) -> Placements:
    return Placements(*map(block.xp.to_numpy, (some.row, some.topic, some.nearest, some.first)))


def _squares_down_to_pivot(
    D: Floats, top: Placements, column: Integers, block: Block, model: Model
) -> Floats:
    """Placements x levels: squared distances to the pivot topic and to those above it."""
    tree = model.tree
    squares = np.full((len(top.row), tree.height), np.nan)
    path = tree.ancestors[top.topic]
    for level in range(model.pivot_level - 1):
        topics = np.unique(tree.ancestors[model.pivots, level])
        at = np.flatnonzero(path[:, level] >= 0)
        above = block.xp.to_numpy(block.distances(model.vectors[topics]))
        squares[at, level] = above[top.row[at], np.searchsorted(topics, path[at, level])]
    squares[np.arange(len(top.row)), tree.level[top.topic] - 1] = D[top.row, column]
    return squares


def _lengths(squares: Floats, row: Integers, path: Integers, block: Block, model: Model) -> Floats:
    """Distances from squared ones; tiny ones, which are rounding errors, from the vectors."""
    norms = block.xp.to_numpy(block.squared_norms)[row]
    at, level = np.nonzero(squares <= TINY * norms[:, None])
    if len(at):
        X = block.xp.to_numpy(block.X)[row[at]].astype(np.float64)
        squares[at, level] = ((X - model.vectors[path[at, level]]) ** 2).sum(axis=1)
    return np.sqrt(squares)


def _score_down_to_pivot(
    score: Floats, share: Floats, row: Integers, topic: Integers, model: Model
) -> None:
    """Fill in levels 1 to the pivot: a topic above it has the shares of all pivots below it."""
    above = model.tree.ancestors[model.pivots]
    for level in range(model.pivot_level):
        mine = model.tree.ancestors[topic, level]
        for ancestor in np.unique(mine[mine >= 0]):
            at = np.flatnonzero(mine == ancestor)
            score[at, level] = share[row[at]][:, above[:, level] == ancestor].sum(axis=1)
    np.minimum(score, 1.0, out=score)


def _with_none(parts: Scored, block: Block, model: Model, D: Floats) -> Scored:
    """Add documents outside all radii, and sort by document, nearest topic first."""
    lost = np.setdiff1d(np.arange(len(block)), parts.row - block.start)
    height = model.tree.height
    distance = np.full((len(lost), height), np.nan)
    distance[:, 0] = np.sqrt(D[lost].min(axis=1))
    score = np.zeros((len(lost), height))
    score[:, 1:] = np.nan
    nearest = model.pivots[D[lost].argmin(axis=1)]
    row = np.concatenate([parts.row, lost + block.start])
    all_distance = np.concatenate([parts.distance, distance])
    order = np.lexsort((all_distance[:, model.pivot_level - 1], row))
    none = np.full(len(lost), -1)
    return Scored.ungraded(
        row[order],
        np.concatenate([parts.topic, none])[order],
        np.concatenate([parts.path, np.full((len(lost), height), -1)])[order],
        all_distance[order],
        np.concatenate([parts.score, score])[order],
        np.concatenate([parts.runner_up, nearest])[order],
    )


def _softmax(D: Floats, unit: float) -> Floats:
    share = np.exp(-(D - D.min(axis=1, keepdims=True)) / unit)
    return share / share.sum(axis=1, keepdims=True)
