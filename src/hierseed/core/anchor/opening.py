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

from hierseed.core.anchor.components import Components
from hierseed.core.anchor.em import Problem, Settings, advance, pose, start
from hierseed.core.anchor.mixture import Mixture
from hierseed.core.anchor.moments import Totals
from hierseed.core.anchor.sample import Sample
from hierseed.core.anchor.scale import learn_scale
from hierseed.core.anchor.seeds import Seeds
from hierseed.core.anchor.strangers import Strangers, find_strangers
from hierseed.core.anchor.tree_means import tree_means

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

FIRST, THEN = 3, 2  # rounds before and after the search
DISTINCT = 0.9  # of the usual distance between listed topics; less, the more is believed unlisted
LEVEL = 5e-10  # what lies so near a cut is on neither side of it
LEAST = 5.0  # documents in a group
ENOUGH = 3  # seeds of a topic: what lies away from fewer says little


@dataclass(frozen=True)
class Opening:
    """Components with the groups that were found, and the mixture to go on from."""

    components: Components
    problem: Problem
    mixture: Mixture


def open_up(sample: Sample, components: Components, seeds: Seeds, settings: Settings) -> Opening:
    """Begin on a sample."""
    strangers = find_strangers(sample, components, seeds)
    scale = learn_scale(components, seeds, strangers.stray, settings.tree_weight)
    problem = pose(components, seeds, sample.corpus, scale, settings, sample.copies)
    mixture = start(problem, stranger_means(problem, strangers))
    mixture, seen = advance(problem, sample, mixture, FIRST)
    if not components.is_rest.any():
        return Opening(components, problem, mixture)
    parents, means, weights = far_halves(problem, sample, mixture, seen)
    log_size = np.log(weights / max(sample.corpus.n, 1))
    mixture = mixture.joined(means, log_size)
    wider = components.with_rest(np.concatenate([components.parent[components.is_rest], parents]))
    problem = replace(problem, components=wider, seeds=seeds.among(len(wider)))
    mixture, seen = advance(problem, sample, mixture, THEN)
    share = DISTINCT * (1 - settings.other_share)
    kept = distinct(wider, mixture, seen, seeds.counts, share)
    found = wider.with_rest(wider.parent[kept[wider.is_rest[kept]]])
    return Opening(found, problem, mixture.pick(kept))


def reopen(opening: Opening, kept: Bools, sample: Sample) -> Opening:
    """Begin again with some of the groups: what the others took goes back to listed topics."""
    groups = kept & opening.components.is_rest
    components = opening.components.with_rest(opening.components.parent[groups])
    seeds = opening.problem.seeds.among(len(components))
    problem = replace(opening.problem, components=components, seeds=seeds)
    mixture = start(problem, opening.mixture.means[groups])
    mixture, _ = advance(problem, sample, mixture, FIRST + THEN)
    return Opening(components, problem, mixture)


def stranger_means(problem: Problem, strangers: Strangers) -> Floats:
    """Where components without seeds begin."""
    components, seeds = problem.components, problem.seeds
    w, s = problem.document_weight, problem.settings.seed_weight
    nodes = tree_means(
        components.nodes,
        components.node,
        s * seeds.sums + w * strangers.sums,
        s * seeds.weights + w * strangers.weights,
        problem.strength,
    )
    return np.asarray(nodes[components.node[components.is_rest]])


def far_halves(
    problem: Problem, sample: Sample, mixture: Mixture, seen: Totals
) -> tuple[Ints, Floats, Floats]:
    """The half of each listed topic's documents that lies away from its seeds.

    Returns the parent, the mean and the number of documents of each half that has enough.
    """
    seeds, lattice, sample = problem.seeds, sample.lattice, sample.telling(problem.ridge)
    listed = np.flatnonzero(~problem.components.is_rest)
    centres = seen.sums[listed] / np.maximum(seen.weights[listed], 1e-300)[:, None]
    towards = mixture.solve(seeds.means[listed] - centres)
    ready = sample.ready(towards, -np.einsum("kj,kj->k", centres, towards))
    weights, sums = np.zeros(len(listed)), np.zeros(centres.shape)
    for at, share in sample.shares(mixture):
        far = share[: len(listed)]
        far *= ready @ sample.columns[:, at] < -LEVEL
        weights += np.einsum("ij->i", far)
        sums += far @ sample.X[at]
    weights = lattice.shares.value(weights)
    enough = (weights >= LEAST) & (seeds.counts[listed] >= ENOUGH)
    means = lattice.value_of_sums(sums[enough]) / weights[enough][:, None]
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
    listed, rest = np.flatnonzero(~components.is_rest), np.flatnonzero(components.is_rest)
    between = mixture.apart[np.ix_(listed, listed)] + np.diag(np.full(len(listed), np.inf))
    if len(listed) < 2:
        return np.arange(len(components))
    usual = float(np.median(between.min(axis=1)))
    chance = mixture.means.shape[1] / np.maximum(seen.weights[rest], LEAST)
    to_listed = np.round(mixture.apart[np.ix_(rest, listed)], 9)
    fine = (to_listed.min(axis=1) - chance >= share * usual) & (seen.weights[rest] >= LEAST)
    fine &= seeds[listed[to_listed.argmin(axis=1)]] >= ENOUGH
    return np.concatenate([listed, rest[fine]])
