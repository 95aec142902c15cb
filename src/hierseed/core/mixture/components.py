"""The components of the mixture, the node of each in the tree, sums and variances of their seeds.

A component is a kind of document with a place in the taxonomy: a leaf with seeds, or an inner
topic that has seeds of its own (its documents stop there).

How far documents lie from their topic, and topics from their parent, is learned: both are
variances summed over coordinates. Their ratio says how informative a parent is about a child.
Among near-identical siblings the parent counts for many documents, among siblings that are worlds
apart for next to nothing (empirical Bayes).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hierseed.core.arrays import Bools, Floats, Ints
from hierseed.core.exact import Quantization
from hierseed.core.tree import Tree

N = TypeVar("N", bound=NDArray[Any])

USUAL = 8.0  # documents that a parent counts as; on text it is 4 to 18
LEAST, MOST = 1e-3, 1e3
TRUST = 20.0  # differences that the usual value, and the corpus beside the seeds, count as


@dataclass(frozen=True)
class Components:
    """Components of a mixture over a tree.

    Attributes
    ----------
    tree : listed topics and Other topics
    nodes : the same, with one node more for each inner topic's own documents
    node : node of each component, a leaf of `nodes`
    topic : topic that documents of the component are placed in
    """

    tree: Tree
    nodes: Tree
    node: Ints
    topic: Ints

    def __len__(self) -> int:
        return len(self.node)

    @property
    def of_topic(self) -> Ints:
        """The component of each topic, -1 where it has none; the last entry is for None."""
        place = np.full(len(self.tree) + 1, -1, dtype=np.intp)
        place[self.topic] = np.arange(len(self))
        return place


def make_components(tree: Tree, has_seeds: Bools) -> Components:
    """List the components of a tree: topics with seeds, leaves first."""
    leaves = np.flatnonzero(tree.is_leaf & has_seeds)
    own = np.flatnonzero(~tree.is_leaf & has_seeds)
    nodes = Tree(np.concatenate([tree.parent, own]).astype(np.intp))
    node = np.concatenate([leaves, len(tree) + np.arange(len(own))]).astype(np.intp)
    return Components(tree, nodes, node, np.concatenate([leaves, own]).astype(np.intp))


def sum_up(components: Components, own: Floats) -> Floats:
    """(topics, …): a value per component, added up over each topic and all below."""
    total = np.zeros((len(components.tree), *own.shape[1:]))
    total[components.topic] = own
    return add_up(components.tree, total)


def add_up(tree: Tree, total: N) -> N:
    """Add to each topic what lies below it, in place."""
    for topic in np.flatnonzero(~tree.is_leaf)[::-1]:
        total[topic] += total[tree.children(topic)].sum(axis=0)
    return total


@dataclass(frozen=True)
class Pairs:
    """One entry for each seed and each of its topics; a seed of two topics counts half in each.

    Attributes
    ----------
    vectors : of the seed
    seed : number of the seed, the same in all its pairs
    component : that the topic belongs to
    """

    vectors: Floats
    seed: Ints
    component: Ints

    @property
    def weights(self) -> Floats:
        """One over the number of topics of the seed."""
        _, inverse, count = np.unique(self.seed, return_inverse=True, return_counts=True)
        return 1.0 / count[inverse]

    def pick(self, kept: NDArray[np.bool_]) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.vectors[kept], self.seed[kept], self.component[kept])


@dataclass(frozen=True)
class Seeds:
    """Sums over seeds, per component, and the corpus rows that are seeds (sorted).

    `scatter` is the sum of squared distances from the mean of each component's seeds.
    """

    weights: Floats
    counts: Ints
    sums: Floats
    products: Floats
    scatter: float
    rows: Ints

    @property
    def freedom(self) -> int:
        """Independent differences that the scatter is made of."""
        return int(self.counts.sum() - np.count_nonzero(self.counts))

    @property
    def means(self) -> Floats:
        """Mean of each component's seeds, zero where it has none."""
        return self.sums / np.where(self.counts > 0, self.weights, 1.0)[:, None]


def sum_seeds(
    pairs: Pairs, components: Components, quantization: Quantization, rows: Ints
) -> Seeds:
    """Sum over seeds; their order does not matter."""
    vectors = quantization.vectors.quantize(pairs.vectors)
    whole = quantization.responsibilities.quantize(pairs.weights)
    n, edges = len(components), np.arange(len(whole) + 1)
    share = sparse.csc_matrix((whole, pairs.component, edges), shape=(n, len(whole)))
    weights = quantization.responsibilities.dequantize(share @ np.ones(len(whole)))
    sums = quantization.dequantize_sums(share @ vectors)
    _, first = np.unique(pairs.seed, return_index=True)
    once = vectors[first] if len(first) < len(vectors) else vectors
    squares = whole * np.einsum("ij,ij->i", vectors, vectors)
    order = np.argsort(pairs.component, kind="stable")
    edges = np.searchsorted(pairs.component[order], np.arange(1, len(components)))
    inner = np.einsum("kj,kj->k", sums, sums) / np.maximum(weights, 1e-300)
    own = (
        np.array([math.fsum(mine) for mine in np.split(squares[order], edges)])
        * quantization.unit**2
    )
    scatter = own * 2.0**-quantization.responsibilities.bits - inner
    return Seeds(
        weights,
        np.bincount(pairs.component, minlength=len(components)),
        sums,
        quantization.dequantize_squares(once.T @ once),
        # a seed of two topics counts half in each, and its square is no less a square
        math.fsum(np.maximum(scatter, 0.0) * _per_weight(pairs, weights)),
        np.unique(rows),
    )


def _per_weight(pairs: Pairs, weights: Floats) -> Floats:
    """Number of seeds over their weight, for each component."""
    counts = np.bincount(pairs.component, minlength=len(weights))
    return np.where(counts > 0, counts / np.where(counts > 0, weights, 1.0), 0.0)


@dataclass(frozen=True)
class VarianceComponents:
    """Variance of documents around their topic, and how many documents a parent counts as."""

    within: float
    tree_weight: float


def learn_variance_components(
    components: Components, seeds: Seeds, stray: float, tree_weight: float | None
) -> VarianceComponents:
    """Learn both from seeds and from how far the corpus strays from them (`stray`).

    A tree weight that is given is taken as it is.
    """
    within = (seeds.scatter + TRUST * stray) / (seeds.freedom + TRUST)
    if tree_weight is not None:
        return VarianceComponents(within, tree_weight)
    between, count = sibling_variance(components, seeds, within)
    usual = within / USUAL
    variance = (count * max(between, 0.0) + TRUST * usual) / (count + TRUST)
    learned = within / max(variance, 1e-300)
    # with one seed a topic the strays are known from the corpus alone, and come out too small
    trust = (seeds.freedom + TRUST) / (seeds.freedom + 2 * TRUST)
    weight = float(learned**trust * USUAL ** (1 - trust))
    return VarianceComponents(within, min(max(weight, LEAST), MOST))


def sibling_variance(components: Components, seeds: Seeds, within: float) -> tuple[float, int]:
    """Variance of siblings around their mean beyond what few seeds explain, over all groups."""
    means, noise = average_up(components, seeds)
    node = np.flatnonzero(np.isfinite(noise[:-1]))
    parents, family, size = np.unique(
        components.nodes.parent[node], return_inverse=True, return_counts=True
    )
    free = (size - 1)[family] / size[family]  # an only child is where its parent is
    squares = ((means[node] - means[parents[family]]) ** 2).sum(axis=1)
    squares = squares[free > 0].sum() - within * (noise[node] * free).sum()
    count = int((size - 1).sum())
    return float(squares) / max(count, 1), count


def average_up(components: Components, seeds: Seeds) -> tuple[Floats, Floats]:
    """Plain mean of each node's children, from the seeds up; the last row is the root.

    Also the variance of each mean, in units of one document's; NaN where no seed lies below.
    """
    nodes, known = components.nodes, seeds.counts > 0
    means = np.zeros((len(nodes) + 1, seeds.sums.shape[1]))
    noise = np.full(len(nodes) + 1, np.nan)
    means[components.node[known]] = seeds.means[known]
    noise[components.node[known]] = 1.0 / seeds.counts[known]
    for here, _, _ in reversed(nodes.families):
        here = here[np.isfinite(noise[here])]
        if len(here):
            parents, first, size = np.unique(
                nodes.parent[here], return_index=True, return_counts=True
            )
            means[parents] = np.add.reduceat(means[here], first) / size[:, None]
            noise[parents] = np.add.reduceat(noise[here], first) / size**2
    return means, noise
