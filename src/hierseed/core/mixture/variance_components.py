"""How far documents stray from their topic, and topics from their parent: learned, not set.

Both are variances summed over coordinates. Their ratio says how informative a parent is about
a child: among near-identical siblings the parent counts for many documents, among siblings that
are worlds apart for next to nothing (empirical Bayes).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.block import squared_norms
from hierseed.core.mixture.components import Components, Seeds
from hierseed.core.mixture.gaussian_mixture import pieces
from hierseed.core.mixture.sample import Sample

Floats = NDArray[np.float64]

USUAL = 8.0  # a parent counts as so many documents; on text it is 4 to 18
LEAST, MOST = 1e-3, 1e3
TRUST = 20.0  # the usual value, and the corpus beside the seeds, count as so many differences


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


def mean_stray(sample: Sample, seeds: Seeds) -> float:
    """Mean squared distance to the nearest seeded topic, less what the noise of few seeds adds."""
    exponent, known = sample.quantization.exponent, np.flatnonzero(seeds.counts)
    means, noise = seeds.means[known], 1.0 + 1.0 / seeds.counts[known]
    mean = _mean(sample, means, noise)
    better = sample.at_precision(mean * 4.0**exponent / sample.X.shape[1])
    if better is not sample:
        mean = _mean(better, means, noise)
    return mean * 4.0**exponent


def _mean(sample: Sample, means: Floats, noise: Floats) -> float:
    away = _nearest(sample, means, noise)
    return float(away @ sample.weight) / max(float(sample.weight.sum()), 1e-300)


def _nearest(sample: Sample, means: Floats, noise: Floats) -> Floats:
    """Squared distance to the nearest mean, in units of the longest vector's square."""
    quantization, kind = sample.quantization, sample.columns.dtype
    unit = quantization.unit * 2.0**-quantization.exponent
    scaled = means * 2.0**-quantization.exponent
    own, direction = squared_norms(scaled), (scaled.T * (-2.0 * unit)).astype(kind)
    away = [np.zeros(0)]
    for X in (sample.X[at] for at in pieces(len(sample.X), components=len(means))):
        product, square = X @ direction, squared_norms(X) * unit**2
        D = product + own.astype(kind)
        D += square.astype(kind)[:, None]
        D /= noise.astype(kind)
        best = D.argmin(axis=1)
        least = product[np.arange(len(X)), best] + own[best] + square
        away.append(np.maximum(least, 0.0) / noise[best])
    return np.concatenate(away)
