"""Squared distances by matrix product, and the nearest centre, decided the same way every time.

A float32 product rounds differently with the place of a row in its block. Where two centres are
so close that this could decide, the row is looked at again in float64; what is level even there
is a tie, and goes to the lower id.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY, Array, Arrays
from hierseed.core.exact import Grid, Tally
from hierseed.core.kernels.compiled import compiled

Reals = NDArray[np.floating]
CHUNK_VALUES = 400_000  # numbers that stay in a core's own cache with what is made of them
WIDE_VALUES = 50_000  # the same where rows are made float64 for a product with a few centres
FEW = 16  # rows for which nothing is prepared
LANES = 8  # the matrix product is slow with a remainder of columns
NOTHING = Tally(0, 0, Grid(0))
LEVEL = 1e-11  # relative difference of float64 squared distances below which they are level


def chunks(n: int, width: int, values: int | None = None) -> Iterator[slice]:
    """Cut n rows into pieces that a core can hold close while it works on them."""
    most = max(64, (values or CHUNK_VALUES) // max(width, 1))
    size = -(-n // -(-n // most)) if n else 1  # all alike: no crumb at the end
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def squared_norms(X: Reals) -> NDArray[np.float64]:
    """Squared length of each row, in float64."""
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def columns(C: Reals, dtype: np.dtype[Any]) -> Reals:
    """-2 C', with columns of zeros up to a multiple of 8: 16 take less time than 13."""
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
    return xp.argmax((xp.min(D, axis=1) + LEVEL * scale)[:, None] >= D, axis=1)


def two_least(
    D: Reals, offset: Reals
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.float64]]:
    """Column of the least of D + offset in each row, its value and the next; D is overwritten."""
    n = len(D)
    loops = compiled(D.size)
    if loops:
        best, first, second = np.empty(n, dtype=np.intp), np.empty(n), np.empty(n)
        loops.two_least(D, offset, best, first, second)
        return best, first, second
    D += offset
    every, best = np.arange(n), D.argmin(axis=1)
    first = D[every, best].astype(np.float64)
    D[every, best] = np.inf
    return best, first, D[every, D.argmin(axis=1)].astype(np.float64)  # faster than min(axis=1)


class Centres:
    """Centres made ready to be compared with many documents."""

    def __init__(self, C: NDArray[np.float64], dtype: np.dtype[Any]) -> None:
        self.C, self._c2, self._dtype = np.ascontiguousarray(C), squared_norms(C), dtype
        self._largest = self._c2.max()
        # a sum of `width` products, C and its squares rounded, one addition; for two distances
        self._error = max((C.shape[1] + 8) * float(np.finfo(dtype).eps), LEVEL)

    def nearest(
        self,
        X: Reals,
        x2: NDArray[np.float64],
        tally: Tally | None = None,
        was: NDArray[np.integer] | None = None,
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Nearest centre of each row, and by how much the next one is further (not squared).

        The margin is a lower bound: rounding is taken off. With one centre it is infinite. Into
        a tally each row is moved from where it was, while it is at hand.
        """
        n = len(X)
        loops = compiled(X.size) if X.dtype == np.float32 and len(self.C) > 1 else None
        if loops and n >= loops.ROWS:
            best, margin = np.empty(n, dtype=np.intp), np.empty(n)
            groups = tally or NOTHING
            was = best if was is None else np.ascontiguousarray(was, dtype=np.intp)
            X, x2 = np.ascontiguousarray(X), np.ascontiguousarray(x2)
            loops.sweep(
                X, *self._panels, self.C, self._c2, x2, self._error, LEVEL,
                was, groups.sums, groups.counts, groups.step, best, margin,
            )  # fmt: skip
            return best, margin
        best, margin = self._compare(X, x2)
        if tally and was is not None:
            tally.move(X, best, was)
        return best, margin

    def _compare(
        self, X: Reals, x2: NDArray[np.float64]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """The same by the matrix library."""
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
        first += rounding  # not less than the distances are
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
        """Made ready for the matrix library; columns that only fill up are infinitely far."""
        product = columns(self.C, self._dtype)
        offset = np.full(product.shape[1], np.inf, dtype=self._dtype)
        offset[: len(self.C)] = self._c2
        return product, offset

    @cached_property
    def _panels(self) -> tuple[Reals, Reals]:
        """Made ready for the compiled loop."""
        loops = compiled(0)
        assert loops
        packed: tuple[Reals, Reals] = loops.pack(self.C, self._c2)
        return packed
