"""Place documents: at every level the most probable topic, with its probability as the score.

A topic's probability is that of all components in or below it. A document goes down to the most
probable child, or stops where the topic's own documents are more probable than any child. A
document that does not belong where it ends up (see `belonging`) goes to Other of the deepest
topic that it belongs to, or to None.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY, Array, Arrays
from hierseed.core.block import Block, portable
from hierseed.core.distance import squared_distances
from hierseed.core.exact import Grid
from hierseed.core.mixture.components import Components, add_up
from hierseed.core.mixture.curve import calibrate_scores
from hierseed.core.mixture.gaussian_mixture import Mixture, shares
from hierseed.core.mixture.membership import Membership
from hierseed.core.mixture.moments import MixtureCache, pieces
from hierseed.core.score import Scored
from hierseed.core.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

FINE = Grid(40)  # probabilities closer than this are level; the first topic wins
RANKED = 5  # topics that are kept for each document, most probable first


@dataclass(frozen=True)
class Placer:
    """A fitted mixture ready to place documents.

    Attributes
    ----------
    temperature : shares are softened by it (see `calibration`)
    vectors : mean of each topic, for distances
    thresholds : score that a placement must reach at each level; 0 keeps all
    curve : of each level, from probability to score (see `curve`)
    grid : on which vectors are rounded, as in the fit
    membership : whether documents belong
    others : the Other topic below each topic, -1 where there is none
    secondary : further topics must be so many times as probable as the main one; None: one topic
    promise : score that further topics must reach: the precision asked for, which they then keep
    """

    components: Components
    mixture: Mixture
    temperature: float
    vectors: Floats
    thresholds: Floats
    curve: Floats
    grid: Grid
    membership: Membership
    others: Ints
    secondary: float | None = None
    promise: float = 0.0

    @property
    def tree(self) -> Tree:
        """Listed and Other topics."""
        return self.components.tree


@dataclass
class Descent:
    """Topic of each document, its score and belonging per level, and what came second."""

    topic: Ints
    score: Floats
    belongs: Floats
    runner_up: Ints


def descend(block: Block, placer: Placer) -> Descent:
    """Place the documents of a block."""
    own, mass = probabilities(log_joint(block, placer), placer, block.xp)
    found = go_down(own, mass, placer, block.xp, runner_up=False)
    return cut(found, placer.membership.scores(block), placer)


def log_joint(block: Block, placer: Placer) -> Array:
    """(components, documents): log of size x density; the last round of a fit may know it."""
    xp, cache = block.xp, block.cache(MixtureCache)
    known, cache.logs = cache.logs, None
    if known is None or known[0] is not placer.mixture.direction:
        return _log_joint(block.X, placer, xp)
    _, seeds, L = known
    if not len(seeds):
        return L
    at, others = xp.asarray(seeds), xp.full(len(block), True, xp.bool)
    others[at] = False
    whole = xp.full((len(L), len(block)), 0.0, xp.float64)
    whole[:, others], whole[:, at] = L, _log_joint(block.X[at], placer, xp)
    return whole


def _log_joint(X: Array, placer: Placer, xp: Arrays) -> Array:
    return placer.mixture.log_joint(placer.grid.quantize(X, xp), 2.0**-placer.grid.bits, xp=xp)


@portable
def labels(block: Block, placer: Placer) -> NDArray[np.int32]:
    """Deepest topic of each document, -1 for None."""
    return descend(block, placer).topic.astype(np.int32)


def scored(block: Block, placer: Placer, ranked: int = RANKED) -> Scored:
    """Placements of a block, with distance and score at each level; the main one first."""
    own, mass = probabilities(log_joint(block, placer), placer)
    score = placer.membership.scores(block)
    main = cut(go_down(own, mass, placer), score, placer)
    topics, chances = rank(own, placer.membership.belonging.at(score), ranked)
    more_row, more_topic = further(main.topic, own, mass, placer)
    more_path = placer.tree.ancestors[more_topic]
    row = np.concatenate([np.arange(len(block)), more_row])
    topic = np.concatenate([main.topic, more_topic])
    scores = np.concatenate([main.score, path_scores(mass, more_row, more_path, placer)])
    belongs = np.concatenate([main.belongs, _belongs(more_topic, score[more_row], placer)])
    runner_up = np.concatenate([main.runner_up, main.topic[more_row]])
    is_more = np.arange(len(row)) >= len(block)
    order = np.lexsort((-own[topic, row], is_more, row))
    row, topic = row[order], topic[order]
    path = placer.tree.ancestors[topic]
    distance = _distances(block.X.astype(np.float64), row, path, placer)
    return Scored(
        row + block.start, topic, path, distance, scores[order], runner_up[order],
        belongs[order], topics[row], chances[row],
    )  # fmt: skip


def rank(own: Floats, belongs: Floats, k: int) -> tuple[Ints, Floats]:
    """The k most probable topics of each document, and their probabilities; -1 beyond."""
    k = min(k, len(own) - 1)
    order = np.argsort(-own[:-1], axis=0, kind="stable")[:k].T
    chance = np.take_along_axis(own[:-1].T, order, axis=1)
    order = np.where(chance > 0, order, -1)
    return order, chance * belongs[:, None]


def topic_probabilities(block: Block, placer: Placer) -> Floats:
    """(documents, topics with a component): probability that a document belongs there."""
    own, _ = probabilities(log_joint(block, placer), placer)
    belongs = placer.membership.belonging.at(placer.membership.scores(block))
    return own[np.sort(placer.components.topic)].T * belongs[:, None]


def further(topic: Ints, own: Floats, mass: Floats, placer: Placer) -> tuple[Ints, Ints]:
    """Row and topic of further placements: listed topics nearly as probable as the main one."""
    if placer.secondary is None:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    every = np.arange(len(topic))
    main = own[topic, every]
    near = own >= placer.secondary * main
    near &= own > 0
    near[-1], near[topic, every], near[:, main <= 0] = False, False, False
    found, row = np.nonzero(near)
    path = placer.tree.ancestors[found]
    least = np.maximum(placer.thresholds, placer.promise)
    sure = (path < 0) | (path_scores(mass, row, path, placer) >= least)
    kept = sure.all(axis=1)
    return row[kept], found[kept]


def path_scores(mass: Floats, row: Ints, path: Ints, placer: Placer) -> Floats:
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


def go_down(
    own: Array, mass: Array, placer: Placer, xp: Arrays = NUMPY, *, runner_up: bool = True
) -> Descent:
    """Place documents by the probabilities of topics alone; the result is on the host."""
    tree, n = placer.tree, own.shape[1]
    topic = xp.full(n, -1, xp.index)
    score = xp.full((n, max(tree.height, 1)), np.nan, xp.float64)
    stops, is_leaf = placer.components.of_topic >= 0, xp.asarray(tree.is_leaf)
    waiting = [(-1, xp.arange(n))]
    while waiting:
        here, rows = waiting.pop()
        children = tree.children(here)
        options = np.append(children, here) if stops[here] else children
        value = xp.concat([mass[children][:, rows], own[[here]][:, rows]])[: len(options)]
        level = 1 if here < 0 else int(tree.level[here]) + 1
        best = xp.argmax(value, axis=0)
        chosen, worth = xp.asarray(options, xp.index)[best], value[best, xp.arange(len(rows))]
        down = chosen != here
        rows, chosen, worth = (
            rows[down],
            chosen[down],
            calibrate_scores(worth[down], placer.curve[level - 1], xp),
        )
        if here >= 0:
            worth = xp.minimum(worth, score[rows, level - 2])
        sure = worth >= placer.thresholds[level - 1]
        rows, chosen = rows[sure], chosen[sure]
        topic[rows], score[rows, level - 1] = chosen, worth[sure]
        inner = xp.where(is_leaf[chosen], -1, chosen)
        waiting.extend((child, rows[at]) for child, at in xp.by_group(inner, len(tree)))
    score[topic < 0, 0] = 0.0
    second = second_best(own, topic, xp) if runner_up else xp.full(n, -1, xp.index)
    found, scores = xp.to_numpy(topic).astype(np.intp), xp.to_numpy(score)
    return Descent(found, scores, np.full(scores.shape, np.nan), xp.to_numpy(second))


def second_best(own: Array, topic: Array, xp: Arrays = NUMPY) -> Array:
    """The most probable topic of each document beside its own; -1 where none is."""
    without = xp.copy(own[:-1])
    placed = xp.flatnonzero(topic >= 0)
    without[topic[placed], placed] = -1.0
    return xp.where(xp.max(without, axis=0) > 0, xp.argmax(without, axis=0), -1)


def cut(found: Descent, score: Floats, placer: Placer) -> Descent:
    """Take documents out of topics that they do not belong to: Other further up, or None."""
    tree, belonging = placer.tree, placer.membership.belonging
    level = np.where(found.topic >= 0, tree.level[found.topic], 0)
    keep, rejected = belonging.depth(score)
    depth = np.minimum(keep, level - 1)
    out = np.flatnonzero(rejected & (level > 0))
    path = tree.ancestors[found.topic[out]]
    depth, every = depth[out], np.arange(len(out))
    above = np.where(depth > 0, path[every, np.maximum(depth - 1, 0)], -1)
    other = np.where(depth > 0, placer.others[above], -1)
    belongs = _belongs(found.topic, score, placer)
    found.runner_up[out] = found.topic[out]
    found.topic[out] = np.where(other >= 0, other, above)
    foreign = 1.0 - belonging.at(score[out])
    kept = np.arange(found.score.shape[1]) < depth[:, None]
    found.score[out] = np.where(kept, found.score[out], np.nan)
    has_other = np.flatnonzero(other >= 0)
    at = out[has_other], depth[has_other]
    found.score[at] = np.minimum(found.score[at[0], at[1] - 1], foreign[has_other])
    none = np.flatnonzero(found.topic < 0)
    found.score[none, 0] = np.where(rejected[none], 1.0 - belonging.at(score[none], 0), 0.0)
    found.belongs[:] = np.where(tree.ancestors[found.topic] >= 0, belongs, np.nan)
    found.belongs[:, 0] = belonging.at(score, 0)
    return found


def _belongs(topic: Ints, score: Floats, placer: Placer) -> Floats:
    """Probability that a document belongs to the topic of each level; NaN below its own."""
    tree, belonging = placer.tree, placer.membership.belonging
    level = np.where(topic >= 0, tree.level[topic], 0)
    found = np.full((len(topic), max(tree.height, 1)), np.nan)
    for here in range(found.shape[1]):
        found[:, here] = np.where(level == here + 1, belonging.at(score), belonging.at(score, here))
    found[:, 0] = belonging.at(score, 0)
    return np.where(np.arange(found.shape[1]) < np.maximum(level, 1)[:, None], found, np.nan)


def probabilities(L: Array, placer: Placer, xp: Arrays = NUMPY) -> tuple[Array, Array]:
    """(topics + 1) x documents: what stops at each topic, and what is in it or below.

    The last row is the root's. L is overwritten.
    """
    components, n = placer.components, L.shape[1]
    own = xp.full((len(components.tree) + 1, n), 0.0, xp.float64)
    for at in pieces(n, xp):
        share, _ = shares(L[:, at], FINE, placer.temperature, xp=xp)
        own[components.topic, at] = FINE.dequantize(share)
    mass = add_up(components.tree, xp.copy(own))
    return own, mass.clip(max=1.0)
