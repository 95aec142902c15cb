"""One temperature that makes shares honest, from seeds that the fit has not seen.

Documents stray further from their topic than one covariance says, so raw shares are too sure of
themselves. The mixture is fitted twice more, each time without half of every topic's seeds; the
temperature is the one under which the seeds held back are most likely in their topics.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hierseed.core.anchor.em import Fitted, advance, pose, start
from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.opening import Opening
from hierseed.core.anchor.sample import Sample
from hierseed.core.anchor.seeds import Pairs, sum_seeds

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

USUAL = 3.0  # what five corpora and three embedders have in common
LONE = 4.0  # with one seed a topic nothing can be held back, and the topics are known less well
BELIEF = 1.0  # standard deviation of its logarithm
ROUNDS = 3  # of the mixtures fitted on half of the seeds
TEMPERATURES = np.geomspace(0.2, 20.0, 24)
FINER = np.geomspace(1 / 1.2, 1.2, 15)


def temperature(
    sample: Sample, pairs: Pairs, opening: Opening, whole: Fitted, lattice: Lattice
) -> float:
    """Hold back half of the seeds, twice, and find the temperature that suits them best."""
    half, problem, rest = halves(pairs), whole.problem, whole.problem.components.is_rest
    components, log_size = problem.components, whole.mixture.log_size
    logs, own, weight = [], [], []
    held = np.bincount(pairs.component[half >= 0], minlength=len(components))
    for number in (0, 1):
        out = half == number
        if not out.any():
            continue
        seeds = sum_seeds(pairs.pick(~out), components, lattice, sample.skip)
        part = pose(
            components, seeds, opening.corpus, opening.scale, problem.settings, sample.copies
        )
        mixture = start(part, whole.mixture.means[rest])
        mixture, _ = advance(part, sample.blocks, lattice, mixture, ROUNDS)
        vectors = lattice.vectors.count(pairs.vectors[out])
        logs.append(_without_siblings(mixture.log_joint(vectors, lattice.unit).T, pairs, out))
        own.append(pairs.component[out])
        # seeds are drawn per topic: weigh them as common as their topic is in the corpus
        weight.append(np.exp(log_size[own[-1]]) / held[own[-1]])
    if not logs:
        return LONE
    return most_likely(np.concatenate(logs), np.concatenate(own), np.concatenate(weight))


def most_likely(L: Floats, own: Ints, weight: Floats) -> float:
    """Temperature with the least weighted log loss, held towards the usual one."""
    count = weight.sum() ** 2 / (weight**2).sum()  # as many equal weights would be worth
    weight = weight / weight.sum()
    L = L - L.max(axis=1, keepdims=True)
    mine = L[np.arange(len(L)), own]

    def cost(value: float) -> float:
        total = np.log(np.exp(L / value).sum(axis=1))
        away = math.log(value / USUAL) / BELIEF
        return float(count * (weight @ (total - mine / value)) + 0.5 * away**2)

    best = min(TEMPERATURES, key=cost)
    return float(min(best * FINER, key=cost))


def halves(pairs: Pairs) -> Ints:
    """0 or 1 for each pair, -1 where a topic has one seed only.

    Seeds take turns in order of distance from their topic's mean, so that neither half is the
    typical one; the order of rows is no matter.
    """
    half = np.full(len(pairs.component), -1, dtype=np.intp)
    for component in np.unique(pairs.component):
        at = np.flatnonzero(pairs.component == component)
        if len(at) < 2:
            continue
        vectors = pairs.vectors[at]
        centre = vectors[np.lexsort(vectors.T[:3])].mean(axis=0)
        away = ((vectors - centre) ** 2).sum(axis=1)
        order = np.lexsort((*vectors.T[:3], np.round(away, 12)))
        half[at[order]] = np.arange(len(at)) % 2
    return half


def _without_siblings(L: Floats, pairs: Pairs, out: NDArray[np.bool_]) -> Floats:
    """Take a seed's other topics out of the comparison: they are no mistakes."""
    seed, component = pairs.seed[out], pairs.component[out]
    for row in range(len(L)):
        others = pairs.component[(pairs.seed == seed[row]) & (pairs.component != component[row])]
        L[row, others] = -np.inf
    return L
