"""Seeds held out: predictions of the mixture for documents whose topic is known but was not used.

The mixture is fitted twice more, each time without half of every topic's seeds. What becomes of
those says how far scores can be trusted (see `calibration`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.mixture.components import Pairs, Seeds, sum_seeds
from hierseed.core.mixture.em import Initialisation, advance, pose, start
from hierseed.core.mixture.sample import Sample

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
