"""Where the rounds begin: on a sample, with a search for topics that nobody listed.

After a few rounds a listed topic has taken in what lies near it, and so the documents of a topic
that is missing. They lie on one side of it, and its seeds on the other. So every listed topic is
cut in two there, the far half is tried as a group of its own, and after some more rounds groups
are kept that are about as far from every listed topic as listed topics are from each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hierseed.core.mixture.components import Components
from hierseed.core.mixture.em import Problem, Settings, advance, pose, start
from hierseed.core.mixture.gaussian_mixture import Mixture
from hierseed.core.mixture.moments import Totals
from hierseed.core.mixture.sample import Sample
from hierseed.core.mixture.seeds import Seeds
from hierseed.core.mixture.tree_means import tree_means
from hierseed.core.mixture.unlisted import UnlistedDocuments, find_unlisted
from hierseed.core.mixture.variance_components import learn_variance_components

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

FIRST, THEN = 3, 2  # rounds before and after the search
DISTINCT = 0.9  # of the usual distance between listed topics; less, the more is believed unlisted
LEVEL = 5e-10  # what lies so near a cut is on neither side of it
LEAST = 5.0  # documents in a group
ENOUGH = 3  # seeds of a topic: what lies away from fewer says little


@dataclass(frozen=True)
class Initialisation:
    """Components with the groups that were found, and the mixture to go on from."""

    components: Components
    problem: Problem
    mixture: Mixture


def initialise(
    sample: Sample, components: Components, seeds: Seeds, settings: Settings
) -> Initialisation:
    """Begin on a sample."""
    far = find_unlisted(sample, components, seeds)
    scale = learn_variance_components(components, seeds, far.stray, settings.tree_weight)
    problem = pose(components, seeds, sample.corpus, scale, settings, sample.copies)
    mixture = start(problem, unlisted_means(problem, far))
    mixture, seen = advance(problem, sample, mixture, FIRST)
    if not components.is_unlisted.any():
        return Initialisation(components, problem, mixture)
    parents, means, weights = far_halves(problem, sample, mixture, seen)
    log_size = np.log(weights / max(sample.corpus.n, 1))
    mixture = mixture.joined(means, log_size)
    wider = components.with_unlisted(
        np.concatenate([components.parent[components.is_unlisted], parents])
    )
    problem = replace(problem, components=wider, seeds=seeds.among(len(wider)))
    mixture, seen = advance(problem, sample, mixture, THEN)
    share = DISTINCT * (1 - settings.other_share)
    kept = distinct(wider, mixture, seen, seeds.counts, share)
    found = wider.with_unlisted(wider.parent[kept[wider.is_unlisted[kept]]])
    return Initialisation(found, problem, mixture.pick(kept))


def reinitialise(initial: Initialisation, kept: Bools, sample: Sample) -> Initialisation:
    """Begin again with some of the groups: what the others took goes back to listed topics."""
    groups = kept & initial.components.is_unlisted
    components = initial.components.with_unlisted(initial.components.parent[groups])
    seeds = initial.problem.seeds.among(len(components))
    problem = replace(initial.problem, components=components, seeds=seeds)
    mixture = start(problem, initial.mixture.means[groups])
    mixture, _ = advance(problem, sample, mixture, FIRST + THEN)
    return Initialisation(components, problem, mixture)


def unlisted_means(problem: Problem, far: UnlistedDocuments) -> Floats:
    """Where components without seeds begin."""
    components, seeds = problem.components, problem.seeds
    w, s = problem.document_weight, problem.settings.seed_weight
    nodes = tree_means(
        components.nodes,
        components.node,
        s * seeds.sums + w * far.sums,
        s * seeds.weights + w * far.weights,
        problem.strength,
    )
    return np.asarray(nodes[components.node[components.is_unlisted]])


def far_halves(
    problem: Problem, sample: Sample, mixture: Mixture, seen: Totals
) -> tuple[Ints, Floats, Floats]:
    """The half of each listed topic's documents that lies away from its seeds.

    Returns the parent, the mean and the number of documents of each half that has enough.
    """
    seeds, quantization, sample = (
        problem.seeds,
        sample.quantization,
        sample.at_precision(problem.ridge),
    )
    listed = np.flatnonzero(~problem.components.is_unlisted)
    centres = seen.sums[listed] / np.maximum(seen.weights[listed], 1e-300)[:, None]
    towards = mixture.solve(seeds.means[listed] - centres)
    ready = sample.ready(towards, -np.einsum("kj,kj->k", centres, towards))
    weights, sums = np.zeros(len(listed)), np.zeros(centres.shape)
    for at, share in sample.shares(mixture):
        far = share[: len(listed)]
        far *= ready @ sample.columns[:, at] < -LEVEL
        weights += np.einsum("ij->i", far)
        sums += far @ sample.X[at]
    weights = quantization.shares.dequantize(weights)
    enough = (weights >= LEAST) & (seeds.counts[listed] >= ENOUGH)
    means = quantization.dequantize_sums(sums[enough]) / weights[enough][:, None]
    return problem.components.parent[listed[enough]], means, weights[enough]


def distinct(
    components: Components, mixture: Mixture, seen: Totals, seeds: Ints, share: float
) -> Ints:
    """Listed components, and others at this share of the usual distance from all of them.

    The mean of n documents strays by 1/n of the covariance in each dimension. So much of a
    group's distance is chance and taken off, else every small group would seem to stand apart;
    listed topics are held by their seeds and keep theirs. Where the nearest of them has few seeds
    itself, that a group is away from these says little, and it is dropped.
    """
    listed, rest = np.flatnonzero(~components.is_unlisted), np.flatnonzero(components.is_unlisted)
    between = mixture.apart[np.ix_(listed, listed)] + np.diag(np.full(len(listed), np.inf))
    if len(listed) < 2:
        return np.arange(len(components))
    usual = float(np.median(between.min(axis=1)))
    chance = mixture.means.shape[1] / np.maximum(seen.weights[rest], LEAST)
    to_listed = np.round(mixture.apart[np.ix_(rest, listed)], 9)
    fine = (to_listed.min(axis=1) - chance >= share * usual) & (seen.weights[rest] >= LEAST)
    fine &= seeds[listed[to_listed.argmin(axis=1)]] >= ENOUGH
    return np.concatenate([listed, rest[fine]])
