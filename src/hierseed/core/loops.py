"""Loops that numpy can't do in one sweep, compiled by numba; `compiled` decides when.

Each has a twin in numpy that gives the same bits: `exact.Tally.move`, `half.floats`,
`distance.two_least`.
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


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def two_least(D: Any, offset: Any, best: Any, first: Any, second: Any) -> None:
    """Place of the least of D + offset in each row, its value and the next; 4 columns at a time."""
    for i in range(D.shape[0]):
        d = D[i]
        for j in range(d.shape[0]):
            d[j] += offset[j]
        least0 = least1 = least2 = least3 = next0 = next1 = next2 = next3 = d.dtype.type(np.inf)
        whole = d.shape[0] - d.shape[0] % 4
        for j in range(0, whole, 4):
            next0, least0 = min(next0, max(least0, d[j])), min(least0, d[j])
            next1, least1 = min(next1, max(least1, d[j + 1])), min(least1, d[j + 1])
            next2, least2 = min(next2, max(least2, d[j + 2])), min(least2, d[j + 2])
            next3, least3 = min(next3, max(least3, d[j + 3])), min(least3, d[j + 3])
        for j in range(whole, d.shape[0]):
            next0, least0 = min(next0, max(least0, d[j])), min(least0, d[j])
        left, right = min(least0, least1), min(least2, least3)
        next0 = min(max(least0, least1), min(next0, next1))
        next2 = min(max(least2, least3), min(next2, next3))
        first[i], second[i] = min(left, right), min(max(left, right), min(next0, next2))
        at = 0
        while at < d.shape[0] - 1 and d[at] != first[i]:
            at += 1
        best[i] = at
