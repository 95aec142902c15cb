"""Scores that mean what they say, learned from seeds that the fit has not seen.

Documents stray further from their topic than one covariance says, so raw shares are too sure of
themselves. The temperature is the one under which seeds that were held back are most likely in
their own topics; the curves (see `curve`) then say how many of them were right at each level and
score. Every seed counts the same: weighed by the sizes that the fit finds, topics that attract too
much would speak loudest, and they find their own seeds again most easily.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hierseed.core.block import Block, portable
from hierseed.core.blocks import Blocks
from hierseed.core.exact import Quantization
from hierseed.core.mixture.components import Components
from hierseed.core.mixture.curve import calibrate_scores, identity, learn
from hierseed.core.mixture.em import Fitted
from hierseed.core.mixture.hold_out import HeldOut, HeldPlacements
from hierseed.core.mixture.membership import Membership
from hierseed.core.mixture.placement import Placer, descend, go_down, probabilities

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
Integers = NDArray[np.integer]

USUAL = 3.0  # what five corpora and three embedders have in common
LONE = 4.0  # with one seed a topic nothing can be held back, and the topics are known less well
BELIEF = 1.0  # standard deviation of its logarithm
TEMPERATURES = np.geomspace(0.2, 20.0, 193)  # fixed steps: rounding can't move the choice
BINS = 1000  # of scores, for thresholds


@dataclass(frozen=True)
class Scores:
    """Temperature, a curve for each level, and where the seeds held out were placed."""

    temperature: float
    curve: Floats
    held: HeldPlacements | None


def calibrate(held: HeldOut | None, whole: Fitted, quantization: Quantization) -> Scores:
    """Temperature and curves that suit the seeds held back; usual ones where there are none."""
    components = whole.problem.components
    height = max(components.tree.height, 1)
    if held is None:
        return Scores(LONE, identity(height), None)
    best = most_likely(held.logs, held.own)
    placer = Placer(
        components,
        whole.mixture,
        best,
        whole.node_means,
        np.zeros(height),
        identity(height),
        quantization.vectors,
        Membership.certain(height),
        np.full(len(components.tree), -1),
    )
    found = go_down(*probabilities(held.logs.copy(), placer), placer)
    path = components.tree.ancestors[found.topic]
    right = _right(components, path, held.own)
    curve = learn(np.where(path >= 0, found.score, np.nan), right)
    score = np.full(path.shape, np.nan)
    for level in range(height):
        reached = path[:, level] >= 0
        score[reached, level] = calibrate_scores(found.score[reached, level], curve[level])
    score = np.minimum.accumulate(score, axis=1)
    sizes = np.exp(whole.mixture.log_size)
    return Scores(best, curve, HeldPlacements(score, right, held.own, sizes))


def most_likely(L: Floats, mine: Bools) -> float:
    """Temperature under which documents are most likely in their own topics.

    Parameters
    ----------
    L : (components, documents) log of size x density
    mine : the components that a document belongs to
    """
    L, (at, document) = L - L.max(axis=0), np.nonzero(mine)
    own = L[at, document]

    @cache
    def cost(number: int) -> float:
        value = float(TEMPERATURES[number])
        total = np.log(np.exp(L / value).sum(axis=0)).sum()
        total -= np.log(np.bincount(document, np.exp(own / value))).sum()
        return float(total) + 0.5 * (math.log(value / USUAL) / BELIEF) ** 2

    low, high = 0, len(TEMPERATURES) - 1
    while low < high:  # the cost falls to the best, and rises after it
        middle = (low + high) // 2
        low, high = (low, middle) if cost(middle) <= cost(middle + 1) else (middle + 1, high)
    return float(TEMPERATURES[low])


def held_out_losses(held: HeldOut) -> Floats:
    """Negative log probability of its own topics, for each seed held out."""
    L = (held.logs - held.logs.max(axis=0)) / most_likely(held.logs, held.own)
    joint = np.exp(L)
    own = (joint * held.own).sum(axis=0) / joint.sum(axis=0)
    return np.asarray(-np.log(own))


def _right(components: Components, path: Ints, mine: Bools) -> Bools:
    """Whether the topic at each level is one that the seed belongs to."""
    within = components.tree.ancestors[components.topic]
    right = np.zeros(path.shape, dtype=bool)
    component, seed = np.nonzero(mine)
    np.logical_or.at(right, seed, (path[seed] == within[component]) & (path[seed] >= 0))
    return right


def label_and_count(blocks: Blocks, placer: Placer) -> tuple[NDArray[np.int32], Integers]:
    """Topic of each document, and the number of scores in each thousandth, per level."""
    found = []
    counts = np.zeros((max(placer.tree.height, 1), BINS), dtype=np.int64)
    for topic, part in blocks.map(_label_and_count, placer):
        found.append(topic)
        counts += part
    return np.concatenate(found), counts


def mean_scores(counts: Integers) -> list[float]:
    """Mean score of each level that documents reach."""
    middle = (np.arange(BINS) + 0.5) / BINS
    total = counts.sum(axis=1)
    return [float(row @ middle / n) for row, n in zip(counts, total) if n]


def thresholds(counts: Integers, precision: float) -> Floats:
    """Lowest threshold of each level that promises the precision; above 1 where none does.

    The precision expected of all placements that score at least t is the mean of their scores, so
    with calibrated scores no labels are needed.
    """
    middle = (np.arange(BINS) + 0.5) / BINS
    kept = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
    right = np.cumsum((counts * middle)[:, ::-1], axis=1)[:, ::-1]
    fine = (kept > 0) & (right >= precision * kept)
    lowest = np.where(fine.any(axis=1), fine.argmax(axis=1) / BINS, 2.0)
    lowest[kept[:, 0] == 0] = 0.0
    return np.asarray(lowest, dtype=np.float64)


@portable
def _label_and_count(block: Block, placer: Placer) -> tuple[NDArray[np.int32], Integers]:
    xp, found = block.xp, descend(block, placer)
    counts = np.zeros((found.score.shape[1], BINS), dtype=np.int64)
    path = xp.asarray(placer.tree.ancestors, xp.index)[found.topic]
    for level in range(path.shape[1]):
        value = found.score[path[:, level] >= 0, level]
        at = xp.astype(value * BINS, xp.index).clip(max=BINS - 1)
        counts[level] = xp.to_numpy(xp.bincount(at, BINS))
    return xp.to_numpy(xp.astype(found.topic, xp.int32)), counts
