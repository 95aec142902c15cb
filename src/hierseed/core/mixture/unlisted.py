"""Documents far from every seeded topic: where Other and None begin.

Whoever looks for what a taxonomy lacks looks among the documents that lie furthest from it. If
they have something in common, their mean is a topic nobody listed; if they are merely odd, they
cancel out and Other starts at its parent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.distance import squared_norms
from hierseed.core.exact import sum_by_group
from hierseed.core.mixture.components import Components
from hierseed.core.mixture.moments import pieces
from hierseed.core.mixture.sample import Sample
from hierseed.core.mixture.seeds import Seeds
from hierseed.core.mixture.variance_components import average_up

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

FAR = 1.5  # standard deviations beyond the mean squared distance
SAME = 1e-5  # of the mean: all documents are equally far


@dataclass(frozen=True)
class UnlistedDocuments:
    """Mean squared distance from the nearest seeded topic, and the documents far beyond it.

    `weights` and `sums` are per component and not zero for Other and None only.
    """

    stray: float
    weights: Floats
    sums: Floats


def find_unlisted(sample: Sample, components: Components, seeds: Seeds) -> UnlistedDocuments:
    """How far documents are, and who is far. The seeds' own noise is taken off."""
    quantization, known = sample.quantization, np.flatnonzero(seeds.counts)
    means, noise = seeds.means[known], 1.0 + 1.0 / seeds.counts[known]
    best, away = nearest(sample, means, noise)
    n, shape = len(away), (len(components), sample.X.shape[1])
    mean = float(away.sum()) / max(n, 1)
    better = sample.at_precision(mean * 4.0**quantization.exponent / shape[1])
    if better is not sample:
        best, away = nearest(better, means, noise)
        mean = float(away.sum()) / max(n, 1)
    deviation = max(float((away**2).sum()) / max(n, 1) - mean**2, 0.0) ** 0.5
    stray = mean * 4.0**quantization.exponent
    if not components.is_unlisted.any() or deviation <= SAME * mean:
        return UnlistedDocuments(stray, np.zeros(shape[0]), np.zeros(shape))
    far = np.flatnonzero(away > mean + FAR * deviation)
    X = quantization.vectors.dequantize(sample.X[far].astype(np.float64))
    rest = unlisted_beside(components)[known][best[far]]
    at_root = np.flatnonzero(components.is_unlisted & (components.parent < 0))
    if len(at_root):  # strangers go to Other beside their nearest topic, or where the root is
        middle, _ = average_up(components, seeds)  # nearer yet, to None
        own = ((X - middle[components.parent[rest]]) ** 2).sum(axis=1)
        rest = np.where(own < ((X - middle[-1]) ** 2).sum(axis=1), rest, at_root[0])
    X, rest = X[rest >= 0], rest[rest >= 0]
    weights = np.bincount(rest, minlength=shape[0]).astype(np.float64)
    return UnlistedDocuments(stray, weights, sum_by_group(rest, X, shape[0]))


def unlisted_beside(components: Components) -> NDArray[np.intp]:
    """Other beside each component, or the next one above; -1 where there is none."""
    nodes = components.nodes
    beside = np.full(len(nodes) + 1, -1, dtype=np.intp)
    for component in np.flatnonzero(components.is_unlisted):
        beside[nodes.parent[components.node[component]]] = component
    for node in range(len(nodes)):
        if beside[node] < 0:
            beside[node] = beside[nodes.parent[node]]
    return beside[nodes.parent[components.node]]


def nearest(sample: Sample, means: Floats, noise: Floats) -> tuple[Ints, Floats]:
    """Nearest mean and its squared distance, in units of the longest vector's square."""
    quantization, kind = sample.quantization, sample.columns.dtype
    unit, scaled = (
        quantization.unit * 2.0**-quantization.exponent,
        means * 2.0**-quantization.exponent,
    )
    own, direction = squared_norms(scaled), (scaled.T * (-2.0 * unit)).astype(kind)
    found, away = [np.zeros(0, dtype=np.intp)], [np.zeros(0)]
    for X in (sample.X[at] for at in pieces(len(sample.X))):
        product, square = X @ direction, squared_norms(X) * unit**2
        D = product + own.astype(kind)
        D += square.astype(kind)[:, None]
        D /= noise.astype(kind)
        best = D.argmin(axis=1)
        least = product[np.arange(len(X)), best] + own[best] + square
        found.append(best)
        away.append(np.maximum(least, 0.0) / noise[best])
    return np.concatenate(found), np.concatenate(away)
