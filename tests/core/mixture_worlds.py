"""Small worlds for the parts of the mixture."""

import numpy as np
from worlds import make_world

from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.exact import Quantization
from hierseed.core.mixture.accuracy import Share
from hierseed.core.mixture.belonging import Belonging, Membership
from hierseed.core.mixture.components import Pairs, VarianceComponents, make_components, sum_seeds
from hierseed.core.mixture.em import initial_mixture, make_problem
from hierseed.core.mixture.moments import corpus_moments
from hierseed.core.mixture.neighbours import Neighbourhood
from hierseed.core.tree import Tree


def set_up(name="two levels", **world):
    """Vectors, components, seed pairs, quantization and seed rows of a small world."""
    taxonomy, X, y, _ = make_world(name, **world)
    rows = np.flatnonzero(y >= 0)
    has_seeds = np.bincount(y[rows], minlength=len(taxonomy)) > 0
    components = make_components(taxonomy.tree, has_seeds)
    pairs = Pairs(X[rows], rows, components.of_topic[y[rows]])
    quantization = Quantization.holding(len(X), float(np.linalg.norm(X, axis=1).max()))
    return X, components, pairs, quantization, rows


def graded_membership(X, components, pairs):
    """A membership that gives documents every weight from nothing to one."""
    centre = X.mean(axis=0)
    topics = np.zeros((len(components), X.shape[1]))
    np.add.at(topics, pairs.component, pairs.vectors - centre)
    neighbourhood = Neighbourhood.learn(X[:200], topics, centre)
    knots = np.quantile(neighbourhood.scores(X)[0], [0.0, 0.5, 1.0])
    below = np.tile([0.0, 0.7, 1.0], (components.tree.height + 1, 1))
    return Membership(neighbourhood, Belonging(knots, below, float(knots[0]), Share(0.4, 0.3, 0.5)))


def begun(X, components, pairs, quantization, rows, settings, block=64, membership=None):
    """Blocks, seeds, problem and the mixture of balls that the rounds start from."""
    membership = membership or Membership.certain(components.tree.height)
    blocks, seeds = ArrayBlocks(X, block), sum_seeds(pairs, components, quantization, rows)
    scale = VarianceComponents(float(X.var(axis=0).sum()), settings.tree_weight or 8.0)
    corpus = corpus_moments(blocks, quantization, rows, membership)
    centre = np.delete(X, rows, axis=0).mean(axis=0)
    problem = make_problem(components, seeds, corpus, scale, settings, centre)
    return blocks, seeds, problem, initial_mixture(problem)


def covariance(mixture):
    return np.linalg.inv(mixture.covariance.solve(np.eye(mixture.means.shape[1])))


def overlapping_topics(draw, listed, seeds, of=20, each=40, width=48):
    """Documents of 20 topics that overlap, of which some are listed, as a sample; no seed in it."""
    rng = np.random.default_rng(draw)
    topic = np.repeat(np.arange(of), each)
    X = rng.normal(size=(of, width))[topic] + 1.7 * rng.normal(size=(len(topic), width))
    chosen = np.concatenate(
        [rng.permutation(np.flatnonzero(topic == t))[:seeds] for t in range(listed)]
    )
    pairs = Pairs(X[chosen], chosen, topic[chosen])
    rest = np.setdiff1d(np.arange(len(X)), chosen)
    components = make_components(Tree([-1] * listed), np.ones(listed, bool))
    return X[rest].astype(np.float32), topic[rest] < listed, pairs, components
