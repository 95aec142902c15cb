"""One temperature that makes shares honest, from seeds that the fit has not seen.

Documents stray further from their topic than one covariance says, so raw shares are too sure of
themselves. The mixture is fitted twice more, each time without half of every topic's seeds; the
temperature is the one under which the seeds held back are most likely in their topics.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hierseed.core.anchor.em import Fitted, fit
from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.seeds import Pairs, sum_seeds
from hierseed.core.blocks import ArrayBlocks, Block, Blocks

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

USUAL = 3.0  # what five corpora and three embedders have in common
LONE = 4.0  # with one seed a topic nothing can be held back, and the topics are known less well
BELIEF = 1.0  # standard deviation of its logarithm
ROUNDS = 3  # of the mixtures fitted on half of the seeds
SAMPLE = 4_000  # documents are plenty to learn one number from
GOLDEN = 0.6180339887498949  # its multiples fill the unit interval evenly
TEMPERATURES = np.geomspace(0.2, 20.0, 24)
FINER = np.geomspace(1 / 1.2, 1.2, 15)


def temperature(blocks: Blocks, pairs: Pairs, whole: Fitted, lattice: Lattice) -> float:
    """Hold back half of the seeds, twice, and find the temperature that suits them best."""
    half, problem = halves(pairs), whole.problem
    components, log_size = problem.components, whole.mixture.log_size
    some, copies, skip = sample(blocks, lattice, problem.seeds.rows)
    known = problem.corpus if some is blocks else None
    rounds = min(problem.settings.max_iter, ROUNDS)
    settings = replace(problem.settings, max_iter=rounds)
    logs, own, weight = [], [], []
    held = np.bincount(pairs.component[half >= 0], minlength=len(components))
    for number in (0, 1):
        out = half == number
        if not out.any():
            continue
        seeds = sum_seeds(pairs.pick(~out), components, lattice, skip)
        found = fit(
            some, components, seeds, settings, lattice,
            corpus=known, scale=problem.scale, strangers=whole.strangers.share(copies),
            copies=copies, watch=False,
        )  # fmt: skip
        known = found.problem.corpus
        vectors = lattice.vectors.count(pairs.vectors[out])
        logs.append(_without_siblings(found.mixture.log_joint(vectors, lattice.unit), pairs, out))
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


def sample(blocks: Blocks, lattice: Lattice, rows: Ints) -> tuple[Blocks, int, Ints]:
    """One document in so many, chosen by what it says and not by its place; seeds left out.

    Returns the sample, how many documents each of it stands for, and rows still to be skipped.
    """
    every = -(-blocks.n // SAMPLE)
    if every == 1:
        return blocks, 1, rows
    parts = blocks.fold(_chosen, lattice, rows, every)
    if not parts:
        return blocks, 1, rows
    kept = np.concatenate(parts)
    return ArrayBlocks(kept), max(round((blocks.n - len(rows)) / len(kept)), 1), rows[:0]


class Rows(list[NDArray[np.floating]]):
    """Rows of some blocks, in their order."""

    def merge(self, other: Rows) -> Rows:
        """Put the rows of later blocks behind."""
        return Rows([*self, *other])


def _chosen(block: Block, lattice: Lattice, rows: Ints, every: int) -> Rows:
    X = block.X
    number = np.mod(lattice.vectors.count(X).sum(axis=1) * GOLDEN, 1.0)
    mine = rows[np.searchsorted(rows, block.start) : np.searchsorted(rows, block.stop)]
    number[mine - block.start] = 1.0
    kept = X[number < 1 / every]
    return Rows([kept] if len(kept) else [])


def _without_siblings(L: Floats, pairs: Pairs, out: NDArray[np.bool_]) -> Floats:
    """Take a seed's other topics out of the comparison: they are no mistakes."""
    seed, component = pairs.seed[out], pairs.component[out]
    for row in range(len(L)):
        others = pairs.component[(pairs.seed == seed[row]) & (pairs.component != component[row])]
        L[row, others] = -np.inf
    return L
