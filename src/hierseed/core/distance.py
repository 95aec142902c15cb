"""Squared distances by matrix product, and the nearest centre, decided the same way every time.

The rounding of a float32 product depends on the position of a row in its block. Where it could
decide between two centres, the row is compared again in float64. A tie even there goes to the
lower id.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY, Array, Arrays
from hierseed.core.blocks import chunks, squared_norms
from hierseed.core.exact import Tally

Reals = NDArray[np.floating]
WIDE_VALUES = 50_000  # the same for rows that are converted to float64
FEW = 16  # rows: for so few no set-up pays off
LANES = 8  # columns of a matrix product are padded to a multiple of this
TIE = 1e-11  # relative difference of float64 squared distances below which they are tied


def columns(C: Reals, dtype: np.dtype[Any]) -> Reals:
    """-2 C', padded with columns of zeros to a multiple of 8: 16 are faster than 13."""
    n = -(-len(C) // LANES) * LANES
    product = np.zeros((C.shape[1], n), dtype=dtype)
    np.multiply(C.T, -2.0, out=product[:, : len(C)], casting="same_kind")
    return product


def squared_distances(
    X: Reals, C: Reals, x2: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """All squared distances between rows of X and of C, in float64; `x2`: X's squared norms."""
    if x2 is None:
        x2 = squared_norms(X)
    C = C.astype(np.float64, copy=False)
    c2 = squared_norms(C)
    if len(X) <= FEW:
        D = X.astype(np.float64, copy=False) @ C.T
        D *= -2.0
        D += c2
        D += x2[:, None]
        return np.maximum(D, 0.0, out=D)
    product = columns(C, C.dtype)
    D = np.empty((len(X), len(C)))
    for at in chunks(len(X), X.shape[1], WIDE_VALUES):
        found = X[at].astype(np.float64, copy=False) @ product
        np.add(found[:, : len(C)], c2, out=D[at])
    D += x2[:, None]
    return np.maximum(D, 0.0, out=D)


def lowest(D: Array, scale: Array, xp: Arrays = NUMPY) -> Array:
    """Column of the least squared distance in each row; of tied ones the first."""
    return xp.argmax((xp.min(D, axis=1) + TIE * scale)[:, None] >= D, axis=1)


def two_least(
    D: Reals, offset: Reals
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """Column of the least of D + offset in each row, its value and the second; overwrites D."""
    D += offset
    every, best = np.arange(len(D)), D.argmin(axis=1)
    first = D[every, best].astype(np.float64)
    D[every, best] = np.inf
    return best, first, D[every, D.argmin(axis=1)].astype(np.float64)  # faster than min(axis=1)


def rounding_error(width: int, dtype: np.dtype[Any]) -> float:
    """Rounding of two distances: `width` products, the centres and their squares, one addition."""
    return max((width + 8) * float(np.finfo(dtype).eps), TIE)


class Centres:
    """Centres prepared for comparison with many documents."""

    def __init__(self, C: NDArray[np.float64], dtype: np.dtype[Any]) -> None:
        self.C, self._c2, self._dtype = np.ascontiguousarray(C), squared_norms(C), dtype
        self._largest = self._c2.max()
        self._error = rounding_error(C.shape[1], dtype)

    def nearest(
        self,
        X: Reals,
        x2: NDArray[np.float64],
        tally: Tally | None = None,
        was: NDArray[np.integer] | None = None,
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Nearest centre of each row, and how much farther the second is (not squared).

        The margin is a lower bound that allows for rounding. With one centre it is infinite. A
        tally is updated: each row is moved from the group `was` to that of its nearest centre.
        """
        best, margin = self._compare(X, x2)
        if tally and was is not None:
            tally.move(X, best, was)
        return best, margin

    def _compare(
        self, X: Reals, x2: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The same with matrix products."""
        n = len(X)
        if len(self.C) == 1:
            return np.zeros(n, dtype=np.intp), np.full(n, np.inf)
        product, offset = self._columns
        best, first, second = two_least(X @ product, offset)
        scale = x2 + self._largest
        rounding = self._error * scale
        margin = second - first
        margin -= rounding
        close = np.flatnonzero(margin <= 0)
        rounding += x2
        first += rounding  # upper bounds of the distances
        second += rounding
        apart = np.sqrt(np.maximum(first, 0, out=first), out=first)
        apart += np.sqrt(np.maximum(second, 0, out=second), out=second)
        margin /= np.maximum(apart, np.finfo(np.float64).tiny, out=apart)
        if len(close):
            exact = X[close].astype(np.float64, copy=False) @ self.C.T
            exact *= -2.0
            exact += self._c2
            best[close] = lowest(exact, scale[close])
            margin[close] = 0.0
        return best, margin

    @cached_property
    def _columns(self) -> tuple[Reals, Reals]:
        """Centres as columns of a product; padding is infinitely far."""
        product = columns(self.C, self._dtype)
        offset = np.full(product.shape[1], np.inf, dtype=self._dtype)
        offset[: len(self.C)] = self._c2
        return product, offset
