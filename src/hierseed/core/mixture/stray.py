"""How far documents lie from the nearest seeded topic, on average."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierseed.core.distance import squared_norms
from hierseed.core.mixture.moments import pieces
from hierseed.core.mixture.sample import Sample
from hierseed.core.mixture.seeds import Seeds

Floats = NDArray[np.float64]


def mean_stray(sample: Sample, seeds: Seeds) -> float:
    """Mean squared distance, less what the noise of few seeds adds to it."""
    exponent, known = sample.quantization.exponent, np.flatnonzero(seeds.counts)
    means, noise = seeds.means[known], 1.0 + 1.0 / seeds.counts[known]
    mean = _mean(sample, means, noise)
    better = sample.at_precision(mean * 4.0**exponent / sample.X.shape[1])
    if better is not sample:
        mean = _mean(better, means, noise)
    return mean * 4.0**exponent


def _mean(sample: Sample, means: Floats, noise: Floats) -> float:
    away = nearest(sample, means, noise)
    return float(away @ sample.weight) / max(float(sample.weight.sum()), 1e-300)


def nearest(sample: Sample, means: Floats, noise: Floats) -> Floats:
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
