"""Kernels that read rows: float32 as they are, float16 converted on the way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from hierseed.core.kernels.jit import inner, kernel
from hierseed.core.kernels.llvm_kernels import LANES, prefetch, widening

AHEAD = 16  # rows that are fetched before they are read

_widen_one, _widen_many = widening(1), widening(LANES)


def source(X: NDArray[Any]) -> NDArray[Any]:
    """Rows as the kernels take them: float16 as its bits, and read-only, so one compilation."""
    X = X.view(np.int16) if X.dtype == np.float16 else X.view()
    X.flags.writeable = False
    return X


def read_row(X: Any, i: Any, rows: Any, to: Any) -> Any:
    """Copy a row to a place among float32 rows; float16 is given as int16 bits."""


@overload(read_row)
def _read_row(X: Any, i: Any, rows: Any, to: Any) -> Any:
    if X.dtype != types.int16:

        def copy(X: Any, i: Any, rows: Any, to: Any) -> Any:
            for j in range(X.shape[1]):
                rows[to, j] = X[i, j]

        return copy

    def convert(X: Any, i: Any, rows: Any, to: Any) -> Any:
        width = X.shape[1]
        whole = width - width % LANES
        for at in range(0, whole, LANES):
            _widen_many(X, i * width + at, rows, to * width + at)
        for at in range(whole, width):
            _widen_one(X, i * width + at, rows, to * width + at)

    return convert


@inner()
def read_strip(X: Any, start: int, rows: Any, begin: int, some: int, strip: Any) -> None:
    """Copy some rows, from `begin` on, into a strip; no `rows`: rows in their order."""
    for i in range(some):
        if len(rows):
            prefetch(X, start + rows[min(begin + i + AHEAD, len(rows) - 1)])
            read_row(X, start + rows[begin + i], strip, i)
        else:
            read_row(X, start + begin + i, strip, i)


@kernel()
def widen(halves: Any, floats: Any) -> None:
    """Convert rows of float16, given as int16 bits, to float32."""
    for i in range(halves.shape[0]):
        read_row(halves, i, floats, i)


@kernel()
def half_norms(X: Any, start: int, found: Any) -> None:
    """Squared lengths of rows of float16: exact, so in any order, while they are below 32."""
    row = np.empty((1, X.shape[1]), np.float32)
    for i in range(len(found)):
        read_row(X, start + i, row, 0)
        found[i] = squared(row, 0)


@inner(fastmath={"reassoc", "contract"})
def squared(X: Any, i: int) -> float:
    """Squared length of a row, in float64."""
    total = 0.0
    for j in range(X.shape[1]):
        total += np.float64(X[i, j]) * np.float64(X[i, j])
    return total
