"""Scores that mean what they say, learned from seeds that the fit has not seen.

Documents stray further from their topic than one covariance says, so raw shares are too sure of
themselves. The mixture is fitted twice more, each time without half of every topic's seeds. The
temperature is the one under which the seeds held back are most likely in their own topics; the
curves (see `curve`) then say how many of them were right at each level and score. Every seed
counts the same: weighed by the sizes that the fit finds, topics that attract too much would
speak loudest, and they find their own seeds again most easily.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from hierseed.core.anchor.components import Components
from hierseed.core.anchor.curve import learn, straight
from hierseed.core.anchor.em import Fitted, advance, pose, start
from hierseed.core.anchor.place import Placer, descend_by
from hierseed.core.anchor.sample import Sample
from hierseed.core.anchor.seeds import Pairs, Seeds, sum_seeds

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

USUAL = 3.0  # what five corpora and three embedders have in common
LONE = 4.0  # with one seed a topic nothing can be held back, and the topics are known less well
BELIEF = 1.0  # standard deviation of its logarithm
ROUNDS = 2  # of the mixtures fitted on half of the seeds…
NARROW = 2.0  # …from clouds with so many times the topics' variance, to get as far as three would
PLENTY = 200  # seeds held back: where half of them are so many, the other half stays in
TEMPERATURES = np.geomspace(0.2, 20.0, 193)  # fixed steps: rounding can't move the choice


@dataclass(frozen=True)
class Scores:
    """Temperature, a curve for each level, and how many of the seeds held back were lost.

    Lost are those that a group takes which nobody listed.
    """

    temperature: float
    curve: Floats
    lost: float = 0.0


def calibrate(sample: Sample, pairs: Pairs, whole: Fitted) -> Scores:
    """Hold back half of the seeds, then the rest; what suits them gives temperature and curves."""
    problem, lattice = whole.problem, sample.lattice
    components, height = problem.components, max(problem.components.tree.height, 1)
    half, rest = halves(pairs, problem.seeds), whole.mixture.means[components.is_rest]
    logs: list[Floats] = []
    own: list[Bools] = []
    for number in (0, 1):
        out = half == number
        if not out.any() or sum(len(each) for each in logs) >= PLENTY:
            continue
        seeds = sum_seeds(pairs.pick(~out), components, lattice, problem.seeds.rows)
        part = pose(
            components, seeds, sample.corpus, problem.scale, problem.settings, sample.copies
        )
        mixture, _ = advance(part, sample, start(part, rest, NARROW), ROUNDS)
        first, mine = _topics_of(pairs.pick(out), len(components))
        vectors = lattice.vectors.count(pairs.vectors[out][first])
        logs.append(mixture.log_joint(vectors, lattice.unit).T)
        own.append(mine.T)
    if not logs:
        return Scores(LONE, straight(height))
    L, mine = np.concatenate(logs).T, np.concatenate(own).T
    best = most_likely(L, mine)
    found = descend_by(
        L,
        Placer(
            components,
            whole.mixture,
            best,
            whole.node_means,
            np.zeros(height),
            straight(height),
            lattice.vectors,
        ),
    )
    path = components.tree.ancestors[found.topic]
    curve = learn(np.where(path >= 0, found.score, np.nan), _right(components, path, mine))
    return Scores(best, curve, float(components.is_rest[L.argmax(axis=0)].mean()))


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


def halves(pairs: Pairs, seeds: Seeds) -> Ints:
    """0 or 1 for each pair, -1 where a seed can't be spared; all pairs of a seed alike.

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


def _right(components: Components, path: Ints, mine: Bools) -> Bools:
    """Whether the topic at each level is one that the seed belongs to."""
    within = components.tree.ancestors[components.topic]
    right = np.zeros(path.shape, dtype=bool)
    for component, seed in zip(*np.nonzero(mine)):
        right[seed] |= (path[seed] == within[component]) & (path[seed] >= 0)
    return right
