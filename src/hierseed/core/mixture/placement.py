"""Place documents: at every level the most probable topic, with its probability as the score.

A topic's probability is that of all components in or below it. A document goes down to the most
probable child, or stops where the topic's own documents are more probable than any child. Its
score at a level is the calibrated probability of the topic there, times the probability that the
document belongs to any listed topic of that level (see `belonging`). Where a score is below the
threshold of its level the document stops above. A document that does not belong where it ends up
goes to Other of the deepest topic that it belongs to, or to None.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY, Array, Arrays, Floats, Ints
from hierseed.core.blocks import Block, chunks, portable
from hierseed.core.exact import Grid
from hierseed.core.mixture.accuracy import calibrate_scores
from hierseed.core.mixture.belonging import Membership
from hierseed.core.mixture.components import Components, add_up
from hierseed.core.mixture.gaussian_mixture import Mixture, pieces, responsibilities
from hierseed.core.mixture.moments import FINE, DescentRule, MixtureCache, walk
from hierseed.core.score import Scored
from hierseed.core.tree import Tree

RANKED = 5  # topics that are kept for each document, most probable first

RATIOS = np.geomspace(0.01, 100.0, 401)  # fixed steps: rounding can't move the choice
SAMPLE = 2_000  # documents that the ratio is learned on


@dataclass(frozen=True)
class Placer:
    """A fitted mixture ready to place documents.

    Attributes
    ----------
    temperature : shares are softened by it (see `calibration`)
    vectors : mean of each topic, for distances
    thresholds : score that a placement must reach at each level; 0 keeps all
    curve : of each level, from probability to score (see `accuracy`)
    grid : on which vectors are rounded, as in the fit
    membership : whether documents belong
    others : the Other topic below each topic, -1 where there is none
    secondary : further topics must be this many times as probable as the main one; None: one topic
    promise : score that further topics must reach: the requested precision; 0 where no score
        decides
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

    def without(self, topics: Sequence[int]) -> Placer:
        """Place documents that belong neither to these topics nor below them."""
        above = self.tree.ancestors[self.components.topic]
        gone = np.isin(above, topics).any(axis=1)
        if gone.all():  # nothing reaches a score above 1: all go to None
            return replace(self, thresholds=np.full_like(self.thresholds, 2.0), secondary=None)
        size = np.where(gone, -np.inf, self.mixture.log_size)
        return replace(self, mixture=replace(self.mixture, log_size=size))


@dataclass
class Descent:
    """Topic of each document, its score per level, and what came second."""

    topic: Array
    score: Array
    runner_up: Array


def descend(block: Block, placer: Placer) -> Descent:
    """Place the documents of a block."""
    found = most_probable_path_compiled(block, placer)
    if found is None:
        found = most_probable_path(
            *probabilities_of(block, placer), placer.components, placer.curve, block.xp
        )
    known, decide = placer.membership, placer.promise > 0 or placer.thresholds.any()
    inlier_score = known.inlier_scores(block) if decide else known.deciding_scores(block)
    found = apply_thresholds(found, inlier_score, placer, block.xp)
    return reject(found, inlier_score, placer, block.xp)


def most_probable_path_compiled(block: Block, placer: Placer) -> Descent | None:
    """`most_probable_path` in one call, where the engine has compiled kernels."""
    cache, rule = block.cache(MixtureCache), DescentRule(placer.components, placer.temperature)
    walked, cache.walked = cache.walked, None
    if walked is None or not walked.is_by(placer.mixture, rule):
        found = None if cache.logs else walk(block, placer.mixture, placer.grid, rule)
        if found is None:
            return None
        walked = found[0]
    path, chance = walked.path, walked.chance
    topic = np.full(len(block), -1, dtype=np.intp)
    score, alive = np.full(path.shape, np.nan), np.arange(len(block))
    for level in range(path.shape[1]):
        alive = alive[path[alive, level] >= 0]
        worth = calibrate_scores(chance[alive, level], placer.curve[level])
        if level:
            worth = np.minimum(worth, score[alive, level - 1])
        topic[alive], score[alive, level] = path[alive, level], worth
    return Descent(topic, score, np.full(len(block), -1, dtype=np.intp))


def log_joint(block: Block, placer: Placer) -> Array:
    """(components, documents): log of size x density; cached by the last round of a fit."""
    xp, cache = block.xp, block.cache(MixtureCache)
    known, cache.logs = cache.logs, None
    if known is not None and known[0] is placer.mixture.direction:
        return known[1]
    return placer.mixture.log_joint(block.quantized(placer.grid), 2.0**-placer.grid.bits, xp=xp)


@portable
def labels(block: Block, placer: Placer) -> NDArray[np.int32]:
    """Deepest topic of each document, -1 for None."""
    xp = block.xp
    return xp.to_numpy(xp.astype(descend(block, placer).topic, xp.int32))


@portable
def scored(block: Block, placer: Placer, ranked: int = RANKED) -> Scored:
    """Placements of a block, with distance and score at each level; the main one first."""
    xp, ancestors = block.xp, _ancestors(placer, block.xp)
    stops_here, subtree = probabilities_of(block, placer)
    inlier_score = placer.membership.inlier_scores(block)
    reached = most_probable_path(stops_here, subtree, placer.components, placer.curve, xp)
    reached = apply_thresholds(reached, inlier_score, placer, xp)
    topics, chances = xp.largest_in_columns(stops_here[:-1], max(ranked, 2))
    reached.runner_up = second_best(topics, reached.topic, xp)
    belongs = _belongs(reached.topic, inlier_score, placer, xp)
    main = reject(reached, inlier_score, placer, xp)
    belongs[(ancestors[main.topic] < 0) & (xp.arange(belongs.shape[1]) > 0)] = np.nan
    topics = topics[:, :ranked]
    chances = chances[:, :ranked] * placer.membership.belonging.at(inlier_score, xp=xp)[:, None]
    more, topic = secondary_placements(main.topic, stops_here, subtree, inlier_score, placer, xp)
    scores, runner_up = main.score, main.runner_up
    row, topic = xp.concat([xp.arange(len(block)), more]), xp.concat([main.topic, topic])
    if len(more):
        of_more = topic[len(block) :]
        of_level = _belongs(of_more, inlier_score[more], placer, xp)
        belongs = xp.concat([belongs, of_level])
        path = ancestors[of_more]
        scores = xp.concat([scores, path_scores(subtree, more, path, of_level, placer, xp)])
        runner_up = xp.concat([runner_up, main.topic[more]])
        order = xp.argsort(-stops_here[topic, row])
        is_more = order >= len(block)
        order = order[xp.argsort(2 * row[order] + is_more)]
        row, topic, scores = row[order], topic[order], scores[order]
        belongs, runner_up = belongs[order], runner_up[order]
    path = ancestors[topic]
    distance = _distances(block, row, path, placer)
    found = (topic, path, distance, scores, runner_up, belongs, topics[row], chances[row])
    return Scored(xp.to_numpy(row) + block.start, *map(xp.to_numpy, found))


@portable
def topic_probabilities(block: Block, placer: Placer) -> Floats:
    """(documents, topics with a component): probability that a document belongs there."""
    xp = block.xp
    stops_here, _ = probabilities_of(block, placer)
    belongs = placer.membership.belonging.at(placer.membership.inlier_scores(block), xp=xp)
    found: Floats = xp.to_numpy(stops_here[np.sort(placer.components.topic)].T * belongs[:, None])
    return found


def secondary_placements(
    topic: Array,
    stops_here: Array,
    subtree: Array,
    inlier_score: Array,
    placer: Placer,
    xp: Arrays = NUMPY,
) -> tuple[Array, Array]:
    """Row and topic of further placements: listed topics nearly as probable as the main one."""
    if placer.secondary is None:
        return xp.arange(0), xp.full(0, -1, xp.index)
    every = xp.arange(len(topic))
    main = stops_here[topic, every]
    near = stops_here >= placer.secondary * main
    near &= stops_here > 0
    near[-1], near[topic, every], near[:, main <= 0] = False, False, False
    found, row = xp.nonzero(near)
    path = _ancestors(placer, xp)[found]
    least = xp.asarray(np.maximum(placer.thresholds, placer.promise))
    belongs = _belongs(found, inlier_score[row], placer, xp)
    sure = (path < 0) | (path_scores(subtree, row, path, belongs, placer, xp) >= least)
    kept = xp.all_in_rows(sure)
    return row[kept], xp.astype(found[kept], xp.index)


def path_scores(
    subtree: Array, row: Array, path: Array, belongs: Array, placer: Placer, xp: Arrays = NUMPY
) -> Array:
    """Score of the topic of each level, NaN where there is none; never rises on the way down."""
    score = xp.full(tuple(path.shape), np.nan, xp.float64)
    for level in range(path.shape[1]):
        at = xp.flatnonzero(path[:, level] >= 0)
        mine = calibrate_scores(subtree[path[at, level], row[at]], placer.curve[level], xp)
        score[at, level] = xp.minimum(mine, score[at, level - 1]) if level else mine
    return score * belongs


def _distances(block: Block, row: Array, path: Array, placer: Placer) -> Array:
    """To the topic of each level; for None, at level 1, to the nearest topic."""
    xp, vectors = block.xp, block.xp.asarray(placer.vectors)
    X = block.X
    distance = xp.full(tuple(path.shape), np.nan, xp.float64)
    for level in range(path.shape[1]):
        every = xp.flatnonzero(path[:, level] >= 0)
        for some in chunks(len(every), block.width, xp.piece * block.width or None):
            at = every[some]
            offset = xp.astype(X[row[at]], xp.float64) - vectors[path[at, level]]
            distance[at, level] = xp.sqrt(xp.squared_norms(offset))
    lost = xp.flatnonzero(path[:, 0] < 0)
    if len(lost):
        away = block.distances(placer.vectors[placer.tree.children(-1)], row[lost])
        distance[lost, 0] = xp.sqrt(xp.min(away, axis=1))
    return distance


def _ancestors(placer: Placer, xp: Arrays) -> Array:
    return xp.asarray(placer.tree.ancestors, xp.index)


def most_probable_path(
    stops_here: Array, subtree: Array, components: Components, curve: Floats, xp: Arrays = NUMPY
) -> Descent:
    """Place documents by the probabilities of topics alone; runners-up are left out."""
    tree, n = components.tree, stops_here.shape[1]
    topic = xp.full(n, -1, xp.index)
    score = xp.full((n, max(tree.height, 1)), np.nan, xp.float64)
    stops, is_leaf = components.of_topic >= 0, xp.asarray(tree.is_leaf)
    waiting = [(-1, xp.arange(n))]
    while waiting:
        here, rows = waiting.pop()
        children = tree.children(here)
        options = np.append(children, here) if stops[here] else children
        value = xp.concat([subtree[children][:, rows], stops_here[[here]][:, rows]])[: len(options)]
        level = 1 if here < 0 else int(tree.level[here]) + 1
        best = xp.argmax(value, axis=0)
        chosen, worth = xp.asarray(options, xp.index)[best], value[best, xp.arange(len(rows))]
        down = chosen != here
        rows, chosen = rows[down], chosen[down]
        worth = calibrate_scores(worth[down], curve[level - 1], xp)
        if here >= 0:
            worth = xp.minimum(worth, score[rows, level - 2])
        topic[rows], score[rows, level - 1] = chosen, worth
        inner = xp.where(is_leaf[chosen], -1, chosen)
        waiting.extend((child, rows[at]) for child, at in xp.by_group(inner, len(tree)))
    return Descent(topic, score, xp.full(n, -1, xp.index))


def apply_thresholds(
    found: Descent, inlier_score: Array, placer: Placer, xp: Arrays = NUMPY
) -> Descent:
    """Multiply scores by belonging; stop each document above the first level that is not sure."""
    level = _level(found.topic, placer, xp)
    found.score = found.score * _belongs(found.topic, inlier_score, placer, xp)
    unsure = (found.score < xp.asarray(placer.thresholds)) & (level[:, None] > 0)
    row = xp.flatnonzero(~xp.all_in_rows(~unsure))
    if len(row):
        depth = xp.argmax(xp.astype(unsure[row], xp.index), axis=1)
        path = _ancestors(placer, xp)[found.topic[row]]
        above = path[xp.arange(len(row)), (depth - 1).clip(min=0)]
        found.topic[row] = xp.where(depth > 0, above, -1)
        kept = xp.arange(path.shape[1]) < depth[:, None]
        found.score[row] = xp.where(kept, found.score[row], np.nan)
    found.score[found.topic < 0, 0] = 0.0
    return found


def second_best(ranked: Array, topic: Array, xp: Arrays = NUMPY) -> Array:
    """The most probable topic of each document besides its own; -1 if there is none."""
    second = ranked[:, 1] if ranked.shape[1] > 1 else xp.full(len(topic), -1, xp.index)
    return xp.where(ranked[:, 0] == topic, second, ranked[:, 0])


def reject(found: Descent, inlier_score: Array, placer: Placer, xp: Arrays = NUMPY) -> Descent:
    """Take documents out of topics that they do not belong to: Other further up, or None."""
    belonging = placer.membership.belonging
    out, depth, above, rejected = stop_where_they_belong(found.topic, inlier_score, placer, xp)
    other = xp.where(depth > 0, xp.asarray(placer.others, xp.index)[above], -1)
    found.runner_up[out] = found.topic[out]
    found.topic[out] = xp.where(other >= 0, other, above)
    foreign = 1.0 - belonging.at(inlier_score[out], xp=xp)
    kept = xp.arange(found.score.shape[1]) < depth[:, None]
    found.score[out] = xp.where(kept, found.score[out], np.nan)
    has_other = xp.flatnonzero(other >= 0)
    row, column = out[has_other], depth[has_other]
    found.score[row, column] = xp.minimum(found.score[row, column - 1], foreign[has_other])
    none = xp.flatnonzero(found.topic < 0)
    nowhere = 1.0 - belonging.at(inlier_score[none], 0, xp)
    found.score[none, 0] = xp.where(rejected[none], nowhere, 0.0)
    return found


def stop_where_they_belong(
    topic: Array, inlier_score: Array, placer: Placer, xp: Arrays = NUMPY
) -> tuple[Array, Array, Array, Array]:
    """Where documents stop that do not belong to the topic found for them.

    Returns their rows, the level of the deepest topic that each belongs to, this topic (-1 for
    none), and for every document whether it is rejected.
    """
    level = _level(topic, placer, xp)
    keep, rejected = placer.membership.belonging.depth(inlier_score, xp)
    out = xp.flatnonzero(rejected & (level > 0))
    path, every = _ancestors(placer, xp)[topic[out]], xp.arange(len(out))
    depth = xp.minimum(keep[out], level[out] - 1)
    return out, depth, xp.where(depth > 0, path[every, (depth - 1).clip(min=0)], -1), rejected


def _level(topic: Array, placer: Placer, xp: Arrays) -> Array:
    """Level of each topic, 0 for None."""
    return xp.asarray(np.append(placer.tree.level, 0), xp.index)[topic]


def _belongs(topic: Array, inlier_score: Array, placer: Placer, xp: Arrays = NUMPY) -> Array:
    """Probability that a document belongs to the topic of each level; NaN below its own."""
    belonging, level = placer.membership.belonging, _level(topic, placer, xp)
    found = xp.full((len(topic), max(placer.tree.height, 1)), np.nan, xp.float64)
    where_placed = belonging.at(inlier_score, xp=xp)
    for here in range(1, found.shape[1]):
        inner = xp.where(level == here + 1, where_placed, belonging.at(inlier_score, here, xp))
        found[:, here] = xp.where(level > here, inner, np.nan)
    found[:, 0] = belonging.at(inlier_score, 0, xp)
    return found


def probabilities_of(block: Block, placer: Placer) -> tuple[Array, Array]:
    """`probabilities` of the documents of a block."""
    return probabilities(log_joint(block, placer), placer.components, placer.temperature, block.xp)


def probabilities(
    L: Array, components: Components, temperature: float, xp: Arrays = NUMPY
) -> tuple[Array, Array]:
    """(topics + 1) x documents: what stops at each topic, and what is in it or below.

    The last row is the root's. L is overwritten.
    """
    n = L.shape[1]
    stops_here = xp.full((len(components.tree) + 1, n), 0.0, xp.float64)
    for at in pieces(n, xp):
        share, _ = responsibilities(L[:, at], FINE, temperature, xp=xp)
        stops_here[components.topic, at] = FINE.dequantize(share)
    subtree = add_up(components.tree, xp.copy(stops_here))
    return stops_here, subtree.clip(max=1.0)


def learn_secondary_ratio(X: NDArray[np.floating], placer: Placer, each: float) -> float | None:
    """How many times as probable as the main topic secondary ones must be; None: there are none.

    Seeds with two topics show that documents may have two. The ratio is the one with which
    documents have as many topics as seeds, on average. It may be more than 1: the main topic is
    found on the way down the tree, where siblings count together, and another may be more probable
    by itself.

    Parameters
    ----------
    X : documents, in whole multiples of the placer's grid
    each : topics that a seed has, on average
    """
    if each <= 1.0:
        return None
    X = X[:: -(-len(X) // SAMPLE) or 1]
    L = placer.mixture.log_joint(X.astype(np.float64), 2.0**-placer.grid.bits)
    stops_here, subtree = probabilities(L, placer.components, placer.temperature)
    topic = most_probable_path(stops_here, subtree, placer.components, placer.curve).topic
    certain = np.full(len(X), np.inf)  # which documents belong makes no difference here
    low, high = 0, len(RATIOS) - 1
    while low < high:
        middle = (low + high) // 2
        ratio = replace(placer, secondary=float(RATIOS[middle]))
        found, _ = secondary_placements(topic, stops_here, subtree, certain, ratio)
        few = len(found) <= round((each - 1.0) * len(X))
        low, high = (low, middle) if few else (middle + 1, high)
    return float(RATIOS[low])
