"""Seeds held out: predictions of the mixture for documents whose topic is known but was not used.

The mixture is fitted twice more, each time without half of every topic's seeds. What becomes of
those says how far scores can be trusted (see `calibration`), and what share of placements to
expect right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.mixture.components import Pairs, Seeds, sum_seeds
from hierseed.core.mixture.em import Initialisation, advance, pose, start
from hierseed.core.mixture.sample import Sample
from hierseed.core.share import Share

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

ROUNDS = 2  # of the mixtures fitted on half of the seeds…
NARROW = 2.0  # …from clouds with so many times the topics' variance, to get as far as three would
PLENTY = 200  # seeds held back: where half of them are so many, the other half stays in


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
        part = pose(
            components,
            seeds,
            sample.corpus,
            problem.scale,
            problem.settings,
            problem.centre,
            sample.copies,
        )
        mixture, _ = advance(part, sample, start(part, NARROW), ROUNDS)
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
class HeldPlacements:
    """Where a fit places the seeds that it has not seen, and how many placements will be right.

    The mean score of the corpus would promise too much: documents shape the topics that they are
    placed in, so a fit is surer of them than of documents that it has not seen. Seeds held out
    are such documents. They are drawn topic by topic, though, and say nothing of how large topics
    are. They are therefore counted twice, each topic by its number of seeds and each by the size
    that the fit found. The middle of both is expected, and the interval spans both.

    Attributes
    ----------
    score : (seeds, levels), NaN below the deepest topic that a seed reaches
    right : (seeds, levels) whether the seed belongs there
    own : (components, seeds) which a seed belongs to
    sizes : share of the corpus in each component
    """

    score: Floats
    right: Bools
    own: Bools
    sizes: Floats

    def accuracy(self, thresholds: Floats) -> list[Share]:
        """Share of placements at each level that are right, of those that reach its threshold."""
        own = self.own.astype(np.float64)
        seeds = own.sum(axis=1)
        sized = np.where(seeds > 0, self.sizes, 0.0) / np.maximum(seeds, 1)
        found, reaches = [Share(1.0, 0.0, 1.0)], np.ones(len(self.score), dtype=bool)
        for score, right, least in zip(self.score.T, self.right.T, thresholds):
            reaches = reaches & (score >= least)
            placed, hits = own @ reaches, own @ (reaches & right)
            if placed.any():
                found.append(_either(*(share_right(hits, placed, each) for each in (1.0, sized))))
            else:  # no more is known than that it is no easier than the level above
                found.append(Share(found[-1].value, 0.0, found[-1].high))
        return found[1:]


def share_right(hits: Floats, placed: Floats, weight: Floats | float) -> Share:
    """Share of hits, where each seed of a topic counts with the topic's weight.

    Topics differ in how easy they are, and how large each is is known roughly. So the interval is
    as wide as if topics were drawn at random, and at least as wide as if seeds were.
    """
    size = weight * placed / (weight * placed).sum()
    part = hits / np.maximum(placed, 1)
    value = float(size @ part)
    seeds = 1.0 / float((size**2 / np.maximum(placed, 1)).sum())
    spread = float(((size * (part - value)) ** 2).sum())
    return Share.from_counts(value, min(seeds, value * (1.0 - value) / spread) if spread else seeds)


def _either(one: Share, other: Share) -> Share:
    """The middle of two shares, with an interval that spans both intervals."""
    low, high = min(one.low, other.low), max(one.high, other.high)
    return Share((one.value + other.value) / 2.0, low, high)
