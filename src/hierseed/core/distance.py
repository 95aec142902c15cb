"""Squared distances by matrix product, and the nearest centre, decided the same way every time.

A float32 product rounds differently with the place of a row in its block. Where two centres are
so close that this could decide, the row is looked at again in float64; what is level even there
is a tie, and goes to the lower id.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
LEVEL = 1e-11  # relative difference of float64 squared distances below which they are level


def squared_norms(X: Array) -> NDArray[np.float64]:
    """Squared length of each row, in float64."""
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def squared_distances(
    X: Array, C: Array, x2: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """All squared distances between rows of X and of C, in float64; `x2`: X's squared norms."""
    if x2 is None:
        x2 = squared_norms(X)
    X = X.astype(np.float64, copy=False)
    C = C.astype(np.float64, copy=False)
    D = X @ (-2.0 * C).T
    D += x2[:, None]
    D += squared_norms(C)[None, :]
    return np.maximum(D, 0.0, out=D)


def lowest(D: NDArray[np.float64], scale: NDArray[np.float64]) -> NDArray[np.intp]:
    """Column of the least squared distance in each row; level ones go to the first column."""
    least = D.min(axis=1)
    return np.argmax((least + LEVEL * scale)[:, None] >= D, axis=1)


def nearest(
    X: Array, C: Array, x2: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Nearest centre of each row, and by how much the next one is further (not squared).

    The margin is a lower bound: rounding is taken off. With one centre it is infinite.
    """
    n, width = X.shape
    if len(C) == 1:
        return np.zeros(n, dtype=np.intp), np.full(n, np.inf)
    c2 = squared_norms(C)
    D = X @ (-2 * C).astype(X.dtype).T
    D += c2.astype(X.dtype)
    every = np.arange(n)
    best = D.argmin(axis=1)
    first = D[every, best].astype(np.float64)
    D[every, best] = np.inf
    second = D.min(axis=1).astype(np.float64)
    # the worst rounding of a sum of `width` products, for two distances
    scale = x2 + c2.max()
    error = 4 * (width + 4) * np.finfo(X.dtype).eps * scale
    close = np.flatnonzero(second - first <= error)
    d1, d2 = np.sqrt(np.maximum(first + x2, 0)), np.sqrt(np.maximum(second + x2, 0))
    margin = (second - first - error) / np.maximum(d1 + d2, np.finfo(np.float64).tiny)
    if len(close):
        exact = squared_distances(X[close], C, x2[close])
        best[close] = lowest(exact, scale[close])
        margin[close] = 0.0
    return best, margin
