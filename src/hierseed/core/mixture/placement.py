"""Place documents: at every level the most probable topic, with its probability as the score.

A topic's probability is that of all components in or below it. A document goes down to the most
probable child, or stops where the topic's own documents are more probable than any child.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Block
from hierseed.core.distance import squared_distances
from hierseed.core.exact import Grid
from hierseed.core.mixture.components import Components, add_up, gather
from hierseed.core.mixture.curve import calibrate_scores
from hierseed.core.mixture.gaussian_mixture import Mixture, shares
from hierseed.core.mixture.moments import LOGS, pieces
from hierseed.core.score import Scored
from hierseed.core.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

FINE = Grid(40)  # probabilities closer than this are level; the first topic wins


@dataclass(frozen=True)
class Placer:
    """A fitted mixture ready to place documents.

    Attributes
    ----------
    temperature : shares are softened by it (see `calibrate`)
    vectors : mean of each topic, for distances
    thresholds : score that a placement must reach at each level; 0 keeps all
    curve : of each level, from probability to score (see `curve`)
    grid : on which vectors are rounded, as in the fit
    several : further topics must be so many times as probable as the main one; None: one topic
    promise : score that further topics must reach: the precision asked for, which they then keep
    """

    components: Components
    mixture: Mixture
    temperature: float
    vectors: Floats
    thresholds: Floats
    curve: Floats
    grid: Grid
    several: float | None = None
    promise: float = 0.0

    @property
    def tree(self) -> Tree:
        """Listed and Other topics."""
        return self.components.tree


@dataclass
class Descent:
    """Topic, its score per level, and what came second at the last choice."""

    topic: Ints
    score: Floats
    runner_up: Ints


def descend(block: Block, placer: Placer) -> Descent:
    """Place the documents of a block."""
    return descend_by(log_joint(block, placer), placer)


def descend_by(L: Floats, placer: Placer) -> Descent:
    """Place documents by the log of size x density of each component; L is overwritten."""
    return _descend(*probabilities(L, placer), placer)


def log_joint(block: Block, placer: Placer) -> Floats:
    """(components, documents): log of size x density; the last round of a fit may know it."""
    direction, seeds, L = block.memo.pop(LOGS, (None, None, None))
    if direction is not placer.mixture.direction:
        return _log_joint(block.X, placer)
    if not len(seeds):
        return np.asarray(L)
    whole, others = np.empty((len(L), len(block))), np.ones(len(block), dtype=bool)
    others[seeds] = False
    whole[:, others], whole[:, seeds] = L, _log_joint(block.X[seeds], placer)
    return whole


def _log_joint(X: NDArray[np.floating], placer: Placer) -> Floats:
    return placer.mixture.log_joint(placer.grid.quantize(X), 2.0**-placer.grid.bits)


def labels(block: Block, placer: Placer) -> NDArray[np.int32]:
    """Deepest topic of each document, -1 for None."""
    return descend(block, placer).topic.astype(np.int32)


def scored(block: Block, placer: Placer) -> Scored:
    """Placements of a block, with distance and score at each level; the main one first."""
    own, mass = probabilities(log_joint(block, placer), placer)
    main = _descend(own, mass, placer)
    more_row, more_topic = further(main.topic, own, mass, placer)
    more_path = placer.tree.ancestors[more_topic]
    more_score = scores(mass, more_row, more_path, placer)
    row = np.concatenate([np.arange(len(block)), more_row])
    topic = np.concatenate([main.topic, more_topic])
    score = np.concatenate([main.score, more_score])
    runner_up = np.concatenate([main.runner_up, main.topic[more_row]])
    is_more = np.arange(len(row)) >= len(block)
    order = np.lexsort((-own[topic, row], is_more, row))
    row, topic = row[order], topic[order]
    path = placer.tree.ancestors[topic]
    distance = _distances(block.X.astype(np.float64), row, path, placer)
    return Scored(row + block.start, topic, path, distance, score[order], runner_up[order])


def further(topic: Ints, own: Floats, mass: Floats, placer: Placer) -> tuple[Ints, Ints]:
    """Row and topic of further placements: listed topics nearly as probable as the main one."""
    if placer.several is None:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    every = np.arange(len(topic))
    near = own >= placer.several * own[topic, every]
    near &= own > 0
    near[placer.components.topic[placer.components.is_unlisted]] = False
    near[-1], near[topic, every], near[:, topic < 0] = False, False, False
    found, row = np.nonzero(near)
    path = placer.tree.ancestors[found]
    least = np.maximum(placer.thresholds, placer.promise)
    sure = (path < 0) | (scores(mass, row, path, placer) >= least)
    kept = sure.all(axis=1)
    return row[kept], found[kept]


def scores(mass: Floats, row: Ints, path: Ints, placer: Placer) -> Floats:
    """Score of the topic of each level, NaN where there is none; never rises on the way down."""
    score = np.full(path.shape, np.nan)
    for level in range(path.shape[1]):
        at = np.flatnonzero(path[:, level] >= 0)
        mine = calibrate_scores(mass[path[at, level], row[at]], placer.curve[level])
        score[at, level] = np.minimum(mine, score[at, level - 1]) if level else mine
    return score


def _distances(X: Floats, row: Ints, path: Ints, placer: Placer) -> Floats:
    """To the topic of each level; for None, at level 1, to the nearest topic."""
    distance = np.full(path.shape, np.nan)
    for level in range(path.shape[1]):
        at = np.flatnonzero(path[:, level] >= 0)
        offset = X[row[at]] - placer.vectors[path[at, level]]
        distance[at, level] = np.sqrt(np.einsum("ij,ij->i", offset, offset))
    lost = np.flatnonzero(path[:, 0] < 0)
    if len(lost):
        away = squared_distances(X[row[lost]], placer.vectors[placer.tree.children(-1)])
        distance[lost, 0] = np.sqrt(away.min(axis=1))
    return distance


def _descend(own: Floats, mass: Floats, placer: Placer) -> Descent:
    tree, n = placer.tree, own.shape[1]
    topic = np.full(n, -1, dtype=np.intp)
    runner = np.full(n, -1, dtype=np.intp)
    score = np.full((n, max(tree.height, 1)), np.nan)
    stops = placer.components.of_topic >= 0
    waiting = [(-1, np.arange(n))]
    while waiting:
        here, rows = waiting.pop()
        children = tree.children(here)
        options = np.append(children, here) if stops[here] else children
        value = np.concatenate([mass[children][:, rows], own[[here]][:, rows]])[: len(options)]
        level = 1 if here < 0 else int(tree.level[here]) + 1
        best, second = _first_two(value)
        chosen, worth = options[best], value[best, np.arange(len(rows))]
        if len(options) > 1:
            runner[rows] = options[second]
        if here < 0:  # stays: None at the root
            score[rows[chosen < 0], 0] = worth[chosen < 0]
        down = chosen != here
        rows, chosen, worth = (
            rows[down],
            chosen[down],
            calibrate_scores(worth[down], placer.curve[level - 1]),
        )
        if here >= 0:
            worth = np.minimum(worth, score[rows, level - 2])
        sure = worth >= placer.thresholds[level - 1]
        runner[rows[~sure]] = chosen[~sure]
        rows, chosen = rows[sure], chosen[sure]
        topic[rows], score[rows, level - 1] = chosen, worth[sure]
        for child in np.unique(chosen[~tree.is_leaf[chosen]]).tolist():
            waiting.append((child, rows[chosen == child]))
    score[(topic < 0) & np.isnan(score[:, 0]), 0] = 0.0
    return Descent(topic, score, runner)


def probabilities(L: Floats, placer: Placer) -> tuple[Floats, Floats]:
    """(topics + 1) x documents: what stops at each topic, and what is in it or below.

    The last row is None. L is overwritten.
    """
    components, n = placer.components, L.shape[1]
    own = np.zeros((len(components.tree) + 1, n))
    for at in pieces(n):
        share, _ = shares(L[:, at], FINE, placer.temperature)
        gather(components, FINE.dequantize(share), own[:, at])
    mass = add_up(components.tree, own.copy())
    return own, np.minimum(mass, 1.0, out=mass)


def _first_two(value: Floats) -> tuple[Ints, Ints]:
    """Rows of the largest and the next in each column; of level ones the first."""
    best = value.argmax(axis=0)
    if len(value) == 1:
        return best, best
    without = value.copy()
    without[best, np.arange(value.shape[1])] = -1.0
    return best, without.argmax(axis=0)
