"""Seeds held out, and what they teach: scores that are probabilities, and the accuracy to expect.

The mixture is fitted twice more, each time without half of every topic's seeds. Where those are
placed says how far scores can be trusted. Documents stray further from their topic than one
covariance says, so raw shares are too sure of themselves. The temperature is the one under which
seeds held out are most likely in their own topics; the curves (see `accuracy`) then say how many of
them were right at each level and score. Every seed counts the same: weighed by the sizes that the
fit finds, topics that attract too much would count most, and they find their own seeds again most
easily.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Bools, Floats, Integers, Ints
from hierseed.core.blocks import Block, Blocks, portable
from hierseed.core.mixture.accuracy import (
    HeldPlacements,
    calibrate_scores,
    identity_curves,
    learn_curves,
)
from hierseed.core.mixture.components import Components, Pairs, Seeds, sum_seeds
from hierseed.core.mixture.em import (
    Fitted,
    Initialisation,
    initial_mixture,
    make_problem,
    run_rounds,
)
from hierseed.core.mixture.placement import Placer, descend, most_probable_path, probabilities
from hierseed.core.mixture.sample import Sample

USUAL = 3.0  # what five corpora and three embedders have in common
LONE = 4.0  # with one seed a topic nothing can be held back, and the topics are known less well
BELIEF = 1.0  # standard deviation of its logarithm
TEMPERATURES = np.geomspace(0.2, 20.0, 193)  # fixed steps: rounding can't move the choice
BINS = 1000  # of scores, for thresholds
ROUNDS = 2  # of the mixtures fitted on half of the seeds…
NARROW = 2.0  # …from clouds with this many times the topics' variance, to get as far as three would
PLENTY = 200  # seeds held back: where half of them are this many, the other half stays in


@dataclass(frozen=True)
class HeldOut:
    """Seeds held out, scored by a mixture that was fitted without them.

    Attributes
    ----------
    logs : (components, seeds) log of size x density
    own : the components that a seed belongs to
    """

    logs: Floats
    own: Bools


def hold_out(
    sample: Sample, pairs: Pairs, initial: Initialisation, half: Ints | None = None
) -> HeldOut | None:
    """Hold out one half of the seeds, then the other; None if no topic can spare one.

    `half` says which seeds each time, as `halves` does; both times are then done.
    """
    problem, quantization = initial.problem, sample.quantization
    plenty = PLENTY if half is None else math.inf
    half = halves(pairs, problem.seeds) if half is None else half
    components = problem.components
    logs: list[Floats] = []
    own: list[Bools] = []
    for number in (0, 1):
        out = half == number
        if not out.any() or sum(len(each) for each in logs) >= plenty:
            continue
        seeds = sum_seeds(pairs.pick(~out), components, quantization, problem.seeds.rows)
        part = make_problem(
            components,
            seeds,
            sample.corpus,
            problem.scale,
            problem.settings,
            problem.centre,
            sample.copies,
        )
        mixture, _ = run_rounds(part, sample, initial_mixture(part, NARROW), ROUNDS)
        first, mine = _topics_of(pairs.pick(out), len(components))
        vectors = quantization.vectors.quantize(pairs.vectors[out][first])
        logs.append(mixture.log_joint(vectors, quantization.unit).T)
        own.append(mine.T)
    return HeldOut(np.concatenate(logs).T, np.concatenate(own).T) if logs else None


def halves(pairs: Pairs, seeds: Seeds) -> Ints:
    """0 or 1 for each pair, -1 where a seed can't be spared; the same for all pairs of a seed.

    Seeds take turns in order of distance from their topic's mean, and topics take turns in which
    half has the nearest, so that neither half is the typical one; the order of rows is no matter.
    """
    topic, vectors = pairs.component, pairs.vectors
    away = np.round(((vectors - seeds.means[topic]) ** 2).sum(axis=1), 12)
    order = np.lexsort((*vectors.T[:3], away, topic))
    _, begin, size = np.unique(topic[order], return_index=True, return_counts=True)
    half = np.empty(len(topic), dtype=np.intp)
    rank = np.arange(len(topic)) - np.repeat(begin, size)
    half[order] = (rank + topic[order]) % 2
    _, seed, count = np.unique(pairs.seed, return_inverse=True, return_counts=True)
    if count.max(initial=1) > 1:  # of several topics the first decides
        first = np.full(len(count), -1, dtype=np.intp)
        first[seed[order][::-1]] = half[order][::-1]
        half = first[seed]
    spared = np.zeros(len(count), dtype=bool)
    for number in (0, 1):
        left = np.bincount(topic[half != number], minlength=len(seeds.counts))
        spared[seed[(left[topic] == 0) & (half == number)]] = True
    half[spared[seed]] = -1
    return half


def _topics_of(pairs: Pairs, n: int) -> tuple[Ints, Bools]:
    """A pair of each seed, and (components, seeds): which belong to it."""
    _, first, seed = np.unique(pairs.seed, return_index=True, return_inverse=True)
    mine = np.zeros((n, len(first)), dtype=bool)
    mine[pairs.component, seed] = True
    return first, mine


@dataclass(frozen=True)
class Scores:
    """Temperature, a curve for each level, and where the seeds held out were placed."""

    temperature: float
    curve: Floats
    held: HeldPlacements | None


def temperature_for(held: HeldOut | None) -> float:
    """Temperature that suits the seeds held back; the usual one where there are none."""
    return LONE if held is None else most_likely(held.logs, held.own)


def calibrate(held: HeldOut | None, whole: Fitted, temperature: float) -> Scores:
    """Curves that suit the seeds held back; usual ones where there are none."""
    components = whole.problem.components
    height = max(components.tree.height, 1)
    if held is None:
        return Scores(temperature, identity_curves(height), None)
    raw = probabilities(held.logs.copy(), components, temperature)
    found = most_probable_path(*raw, components, identity_curves(height))
    path = components.tree.ancestors[found.topic]
    right = _right(components, path, held.own)
    curve = learn_curves(np.where(path >= 0, found.score, np.nan), right)
    score = np.full(path.shape, np.nan)
    for level in range(height):
        reached = path[:, level] >= 0
        score[reached, level] = calibrate_scores(found.score[reached, level], curve[level])
    score = np.minimum.accumulate(score, axis=1)
    sizes = np.exp(whole.mixture.log_size)
    return Scores(temperature, curve, HeldPlacements(score, right, held.own, sizes))


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


@dataclass(frozen=True)
class CorpusScores:
    """Scores of a corpus in thousandths.

    Attributes
    ----------
    of_level : (levels, BINS) number of scores in each thousandth
    of_topic : (2, topics) number of documents in each topic or below it, and the sum of the
        thousandths of their scores there
    """

    of_level: Integers
    of_topic: Integers

    def topic_means(self) -> Floats:
        """Mean score of the documents in each topic or below it; NaN where there are none."""
        number, total = self.of_topic
        mean = (total / np.maximum(number, 1) + 0.5) / BINS
        return np.where(number > 0, mean, np.nan)


def label_and_count(blocks: Blocks, placer: Placer) -> tuple[NDArray[np.int32], CorpusScores]:
    """Place the corpus: topic of each document, and how high scores are."""
    found = []
    levels = np.zeros((max(placer.tree.height, 1), BINS), dtype=np.int64)
    topics = np.zeros((2, len(placer.tree)), dtype=np.int64)
    for topic, of_level, of_topic in blocks.map(_label_and_count, placer):
        found.append(topic)
        levels += of_level
        topics += of_topic
    return np.concatenate(found), CorpusScores(levels, topics)


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
def _label_and_count(block: Block, placer: Placer) -> tuple[NDArray[np.int32], Integers, Integers]:
    xp, found = block.xp, descend(block, placer)
    of_level = np.zeros((found.score.shape[1], BINS), dtype=np.int64)
    of_topic = np.zeros((2, len(placer.tree)), dtype=np.int64)
    path = xp.asarray(placer.tree.ancestors, xp.index)[found.topic]
    for level in range(path.shape[1]):
        here = path[:, level] >= 0
        topic, value = path[here, level], found.score[here, level]
        at = xp.astype(value * BINS, xp.index).clip(max=BINS - 1)
        of_level[level] = xp.to_numpy(xp.bincount(at, BINS))
        of_topic[0] += xp.to_numpy(xp.bincount(topic, len(placer.tree)))
        total = xp.bincount(topic, len(placer.tree), xp.astype(at, xp.float64))  # exact
        of_topic[1] += xp.to_numpy(total).astype(np.int64)
    return xp.to_numpy(xp.astype(found.topic, xp.int32)), of_level, of_topic
