"""Half-precision rows as float32, several times faster than `astype`, to the same bits.

A half has 5 bits of exponent and 10 of fraction, a float 8 and 23: shifted by 13 and with the
sign put back a half reads as a float that is 2**112 times too small. Infinity and NaN would come
out as numbers, so where there are any `astype` does the work.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.kernels.compiled import compiled

SHIFT = 13
MASK = np.int32(-0x7000_2000)  # the sign, and the bits that a half has
SCALE = np.float32(2.0**112)
INFINITE = 0x7C00  # from here on infinity and NaN, the sign left out


def floats(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[np.floating]:
    """Return rows, contiguous and in the number type given; a view where they are so already."""
    if rows.dtype != np.float16 or dtype != np.float32 or rows.ndim != 2:
        return np.ascontiguousarray(rows, dtype=dtype)
    halves = np.ascontiguousarray(rows).view(np.int16)
    loops = compiled(halves.size)
    if loops:
        wide = np.empty(halves.shape, dtype=np.float32)
        loops.widen(halves, wide)
        return wide
    if np.bitwise_and(halves, 0x7FFF).max(initial=0) >= INFINITE:
        return rows.astype(np.float32)
    bits = halves.astype(np.int32)
    bits <<= SHIFT
    bits &= MASK
    wide = bits.view(np.float32)
    wide *= SCALE
    return wide
