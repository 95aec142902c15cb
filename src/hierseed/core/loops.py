"""Loops that numpy can't do in one sweep, compiled by numba; `compiled` decides when.

Each has a twin in numpy that gives the same bits: `exact.Tally.move`, `half.floats`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def move(sums: Any, X: Any, to: Any, out_of: Any, scale: float) -> None:
    """Round rows to whole multiples of a grid; add each to a group, take it out of another."""
    for i in range(X.shape[0]):
        x, gains, source = X[i], sums[to[i]], out_of[i]
        if source < 0:
            for j in range(x.shape[0]):
                gains[j] += np.rint(np.float64(x[j]) * scale)
        else:
            loses = sums[source]
            for j in range(x.shape[0]):
                whole = np.rint(np.float64(x[j]) * scale)
                gains[j] += whole
                loses[j] -= whole


@njit(nogil=True, cache=True)
def widen(halves: Any, floats: Any) -> int:
    """Shift the bits of halves to where a float has them; the largest, without its sign."""
    largest = np.int32(0)
    for i in range(halves.shape[0]):
        row, wide = halves[i], floats[i]
        for j in range(row.shape[0]):
            half = np.int32(row[j])
            largest = max(largest, half & np.int32(0x7FFF))
            wide[j] = (half << np.int32(13)) & np.int32(-0x7000_2000)
    return int(largest)
