"""Fit the mixture: expectation-maximisation on a penalised likelihood.

Per document and up to its sign, the objective is
    documents    w b log sum_k size_k N(x; mean_k, W)          b: belonging of the document
    seeds        s log N(x; mean_k, W)                         in the component they are given
    tree         - s t/2 (mean - parent)' W^-1 (mean - parent) for every node
    smoothing    - N v/2 trace W^-1
    sizes        (1 + m) sum_k log size_k                      m: mean number of seeds
with s the seed weight, t the tree weight, v the variance that smoothing adds, w the
weight of a document and N the total weight. The M step is exact; then means that are too near
to the centre of the corpus are moved away from it (`Mixture.levelled`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Floats
from hierseed.core.blocks import Blocks
from hierseed.core.exact import Quantization
from hierseed.core.mixture.belonging import Membership
from hierseed.core.mixture.components import (
    Components,
    Seeds,
    VarianceComponents,
    learn_variance_components,
)
from hierseed.core.mixture.gaussian_mixture import Mixture, Products
from hierseed.core.mixture.moments import (
    CorpusMoments,
    DescentRule,
    Expected,
    corpus_moments,
    e_step,
)
from hierseed.core.mixture.sample import Sample, mean_stray
from hierseed.core.tree import Tree
from hierseed.threads import one_thread

Progress = Callable[[dict[str, Any]], None]

START = 5.0  # the first round takes topics for balls, with this many times their variance
PULL = 10.0  # all documents together weigh at most this many times the seeds
SIZE_PRIOR = 1.0  # documents that every component has from the start
ROUNDS = 3


@dataclass(frozen=True)
class Settings:
    """The parameters of the anchored mixture, checked by the estimator."""

    seed_weight: float = 10.0
    tree_weight: float | None = None
    smoothing: float = 1.0
    false_alarm: float = 0.05
    max_iter: int = 3
    tol: float = 1e-4


@dataclass(frozen=True)
class Problem:
    """What does not change between rounds.

    Attributes
    ----------
    document_weight : of each document
    total_weight : of documents and seeds
    variance : of a coordinate of documents around their topic
    products : of all documents and seeds, smoothed
    centre : mean of the corpus
    """

    components: Components
    seeds: Seeds
    corpus: CorpusMoments
    scale: VarianceComponents
    settings: Settings
    document_weight: float
    total_weight: float
    variance: float
    products: Products
    centre: Floats

    @property
    def strength(self) -> float:
        """Weight of a parent's mean: that of `tree_weight` seeds."""
        return self.settings.seed_weight * self.scale.tree_weight

    @property
    def ridge(self) -> float:
        """Variance added to every coordinate."""
        return self.settings.smoothing * self.variance

    def on(self, corpus: CorpusMoments) -> Problem:
        """The same problem on the whole corpus."""
        return make_problem(
            self.components, self.seeds, corpus, self.scale, self.settings, self.centre
        )


@dataclass(frozen=True)
class Fitted:
    """Result of the rounds."""

    mixture: Mixture
    node_means: Floats
    history: list[dict[str, Any]]
    problem: Problem


@dataclass(frozen=True)
class State:
    """State after a round: all that is needed to resume."""

    corpus: CorpusMoments
    mixture: Mixture
    node_means: Floats
    seen: Expected
    history: list[dict[str, Any]]
    done: bool


@dataclass(frozen=True)
class Initialisation:
    """The problem on the sample, and the mixture to start from."""

    problem: Problem
    mixture: Mixture


def initialise(
    sample: Sample, components: Components, seeds: Seeds, settings: Settings, centre: Floats
) -> Initialisation:
    """Fit the mixture to a sample, from the seeds and with round clouds."""
    scale = learn_variance_components(
        components, seeds, mean_stray(sample, seeds), settings.tree_weight
    )
    problem = make_problem(components, seeds, sample.corpus, scale, settings, centre, sample.copies)
    mixture, _ = run_rounds(problem, sample, initial_mixture(problem), ROUNDS)
    return Initialisation(problem, mixture)


def make_problem(
    components: Components,
    seeds: Seeds,
    corpus: CorpusMoments,
    scale: VarianceComponents,
    settings: Settings,
    centre: Floats,
    copies: int = 1,
) -> Problem:
    """Weigh documents and seeds; each row of a sample represents `copies` documents."""
    n, s = corpus.n, settings.seed_weight
    weight = s * float(seeds.weights.sum())
    drawn = PULL * weight / max(n * copies, 1)  # bounds the drift in large corpora
    w = min(1.0, drawn) * copies
    mass = w * n + weight
    # a corpus of doubles does not stray at all: rounding is all the variance it has
    square = float(np.trace(corpus.products) + np.trace(seeds.products)) or 1.0
    tiny = 1e-5 * square / max(n + len(seeds.counts), 1)
    variance = max(scale.within, tiny) / len(corpus.sums)
    squares = w * corpus.products
    squares += s * seeds.products
    products = Products(squares, mass, settings.smoothing * variance)
    return Problem(components, seeds, corpus, scale, settings, w, mass, variance, products, centre)


def initial_mixture(problem: Problem, growth: float = START) -> Mixture:
    """Means from seeds and the tree; round balls, equal sizes."""
    seeds, components = problem.seeds, problem.components
    s = problem.settings.seed_weight
    nodes = tree_means(
        components.nodes, components.node, s * seeds.sums, s * seeds.weights, problem.strength
    )
    means = nodes[components.node]
    size = np.full(len(components), -math.log(len(components)))
    variance = growth * problem.variance
    return Mixture.of_balls(means, variance, size).levelled(problem.centre, variance)


def run_rounds(
    problem: Problem, sample: Sample, mixture: Mixture, rounds: int
) -> tuple[Mixture, Expected]:
    """Run some rounds on a sample; also return the sums of the last one."""
    sample = sample.at_precision(problem.ridge)
    for _ in range(rounds):
        seen = sample.e_step(mixture)
        mixture, _, _ = m_step(problem, seen)
    return mixture, seen


def fit(
    blocks: Blocks,
    initial: Initialisation,
    quantization: Quantization,
    membership: Membership,
    *,
    corpus: CorpusMoments | None = None,
    seen: Expected | None = None,
    temperature: float = 1.0,
    progress: Progress | None = None,
    resume: State | None = None,
    save: Callable[[State], None] | None = None,
) -> Fitted:
    """Run the rounds on the whole corpus, from the mixture that the initialisation found.

    Parameters
    ----------
    membership : weighs documents by their belonging
    corpus : its moments, where they are known
    seen : by the initial mixture, where the sample is the corpus
    temperature : that documents will be placed with; the last round remembers where they go
    resume : state of an earlier fit to continue from
    save : called with the state after each round
    """
    problem, mixture = initial.problem, initial.mixture
    components, skip, settings = problem.components, problem.seeds.rows, problem.settings
    if seen is None:
        corpus = resume.corpus if resume else corpus
        corpus = corpus or corpus_moments(blocks, quantization, skip, membership)
        with one_thread():  # so that bits do not depend on their number
            problem = problem.on(corpus)
    if resume:
        mixture, means, seen = resume.mixture, resume.node_means, resume.seen
        value, history = resume.history[-1]["objective"], list(resume.history)
        if resume.done:
            return Fitted(mixture, means, history, problem)
    else:
        seen = seen or e_step(blocks, mixture, quantization, skip, membership)
        value, history = math.inf, []
    for number in range(len(history) + 1, settings.max_iter + 1):
        began = time.perf_counter()
        with one_thread():
            mixture, means, quadratic = m_step(problem, seen)
        last, before = number == settings.max_iter, seen
        rule = DescentRule(components, temperature) if last else None
        seen = e_step(blocks, mixture, quantization, skip, membership, rule)
        with one_thread():
            was, value = value, objective(problem, mixture, seen, quadratic)
        history.append(
            {
                "round": number,
                "objective": value,
                "coverage": problem.corpus.n / max(blocks.n - len(skip), 1),
                "moved": float(np.abs(seen.weights - before.weights).sum() / 2),
                "seconds": time.perf_counter() - began,
            }
        )
        done, model = last or was - value <= settings.tol, mixture.without_covariance()
        if save:
            save(State(problem.corpus, model, means, seen, list(history), done))
        if progress:
            progress(history[-1])
        if done:
            break
    return Fitted(mixture, means, history, problem)


def m_step(problem: Problem, seen: Expected) -> tuple[Mixture, Floats, float]:
    """M step: sizes, means and covariance that maximise the likelihood; all in closed form.

    Also the trace of W^-1 times products, tree and smoothing, which the objective is made of.
    Where the means are best, documents and tree together leave the products less means x sums,
    and W is that: so neither the steps of the tree nor an inverse have to be worked out.
    """
    seeds, components = problem.seeds, problem.components
    w, s = problem.document_weight, problem.settings.seed_weight
    sums = w * seen.sums + s * seeds.sums
    weights = w * seen.weights + s * seeds.weights
    nodes = tree_means(components.nodes, components.node, sums, weights, problem.strength)
    means = nodes[components.node]
    covariance, solved = problem.products.covariance(means, sums)
    size = w * seen.weights + _size_prior(seeds)
    mixture = Mixture.of(means, covariance, np.log(size / size.sum()), solved)
    towards = 2.0 * np.vdot(solved, sums) + 2.0 * weights @ mixture.offset
    quadratic = problem.total_weight * means.shape[1] + float(towards)
    return mixture.levelled(problem.centre), nodes, quadratic


def tree_means(
    nodes: Tree, leaf: NDArray[np.integer], sums: Floats, weights: Floats, strength: float
) -> Floats:
    """Return the mean of each node, between its own documents and its parent.

    Every node is drawn around its parent with a precision of `strength` documents; the root is
    free, and comes last. The most likely means follow exactly from one pass up the tree and one
    down; they do not depend on the covariance, because all covariances of the model are multiples
    of one.

    Parameters
    ----------
    leaf : nodes that have documents
    sums, weights : weighted sum of vectors and total weight, for each of these
    """
    n, levels = len(nodes), nodes.families
    means, mass = np.zeros((n + 1, sums.shape[1])), np.zeros(n + 1)  # the last row is the root
    means[leaf], mass[leaf] = sums, weights
    for here, parents, first in reversed(levels):
        passed = strength / (strength + mass[here])
        up = means[here]
        up *= passed[:, None]
        means[parents] += np.add.reduceat(up, first)
        mass[parents] += np.add.reduceat(mass[here] * passed, first)
    held = 1.0 / (strength + mass)
    held[n] = 1.0 / max(mass[n], 1e-300)
    means *= held[:, None]
    for here, _, _ in levels:
        above = means[nodes.parent[here]]
        above *= (strength * held[here])[:, None]
        means[here] += above
    return means


def _size_prior(seeds: Seeds) -> float:
    """Documents that every topic has to begin with: as many for all topics as seeds on average.

    How many seeds a topic has was decided by whoever chose them. It says nothing of its size.
    """
    return SIZE_PRIOR + float(seeds.weights.mean())


def objective(problem: Problem, mixture: Mixture, seen: Expected, quadratic: float) -> float:
    """Penalised negative log-likelihood per unit of weight.

    `quadratic` : the quadratic terms, from `m_step`
    """
    seeds, w, s = problem.seeds, problem.document_weight, problem.settings.seed_weight
    width, log_det = mixture.means.shape[1], mixture.log_det
    linear = np.vdot(seeds.sums, mixture.direction.T) + seeds.weights @ mixture.offset
    value = w * seen.log_likelihood + s * linear
    value += _size_prior(seeds) * mixture.log_size.sum()
    value -= 0.5 * (quadratic + problem.total_weight * (log_det + width * math.log(2 * math.pi)))
    return float(-value / problem.total_weight)
