"""Agreement between coders: Krippendorff's alpha, Cohen's kappa and shares, with intervals."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

Codes = Sequence[Sequence[Hashable | None]]  # one list per coder; None where a coder gave no code


class Estimate(NamedTuple):
    """A value with its interval; NaN where the data do not determine it."""

    value: float
    low: float
    high: float
    n: int


def krippendorff_alpha(
    codes: Codes, *, confidence: float = 0.95, resamples: int = 1000, random_state: int = 0
) -> Estimate:
    """Krippendorff's alpha for nominal codes, with missing codes, and a bootstrap interval.

    Parameters
    ----------
    codes : for each coder one code per document, None where the coder gave none
    confidence : of the interval, from documents drawn with replacement

    Examples
    --------
    >>> round(krippendorff_alpha([[1, 2, 3, 3], [1, 2, 3, 1]]).value, 3)
    0.667
    """
    counts = _count(codes)
    each = counts.sum(axis=1)
    counts = counts[each >= 2]  # agreement needs two codes
    n = len(counts)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    value = float(_alpha(counts, np.ones((1, n)))[0])
    random = np.random.default_rng(random_state)
    weights = random.multinomial(n, np.full(n, 1 / n), size=resamples).astype(float)
    drawn = _alpha(counts, weights)
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn) or math.isnan(value):
        return Estimate(value, math.nan, math.nan, n)
    outside = (1 - confidence) / 2
    low, high = np.quantile(drawn, [outside, 1 - outside])
    return Estimate(value, float(low), float(high), n)


def _count(codes: Codes) -> NDArray[np.float64]:
    """Documents x values: how many coders gave each value."""
    values = {code for line in codes for code in line if code is not None}
    number = {value: i for i, value in enumerate(sorted(values, key=repr))}
    length = len(codes[0]) if codes else 0
    counts = np.zeros((length, len(number)))
    for line in codes:
        for document, code in enumerate(line):
            if code is not None:
                counts[document, number[code]] += 1
    return counts


def _alpha(counts: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Alpha for each row of weights of the documents."""
    each = counts.sum(axis=1)
    observed = (each**2 - (counts**2).sum(axis=1)) / (each - 1)
    total = weights @ each
    by_value = weights @ counts
    expected = (total**2 - (by_value**2).sum(axis=1)) / (total - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(expected > 0, 1 - (weights @ observed) / expected, np.nan))


def cohen_kappa(one: Sequence[Hashable | None], two: Sequence[Hashable | None]) -> float:
    """Cohen's kappa of two coders over the documents that both coded; NaN where undefined."""
    pairs = [(a, b) for a, b in zip(one, two) if a is not None and b is not None]
    values = sorted({value for pair in pairs for value in pair}, key=repr)
    if len(values) < 2:
        return math.nan
    from sklearn.metrics import cohen_kappa_score

    number = {value: i for i, value in enumerate(values)}
    return float(cohen_kappa_score([number[a] for a, _ in pairs], [number[b] for _, b in pairs]))


def proportion(
    right: NDArray[np.bool_] | Sequence[bool],
    weights: NDArray[np.float64] | Sequence[float] | None = None,
    *,
    confidence: float = 0.95,
) -> Estimate:
    """A share with its Wilson interval.

    With weights, as of a stratified sample, the interval is that of Kish's effective size.
    """
    hits = np.asarray(right, dtype=float)
    n = len(hits)
    if n == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    shares = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    value = float((shares * hits).sum() / shares.sum())
    size = float(shares.sum() ** 2 / (shares**2).sum())
    z = float(norm.ppf(0.5 + confidence / 2))
    middle = (value + z**2 / (2 * size)) / (1 + z**2 / size)
    reach = z / (1 + z**2 / size) * math.sqrt(value * (1 - value) / size + z**2 / (4 * size**2))
    return Estimate(value, max(0.0, middle - reach), min(1.0, middle + reach), n)
