"""Convert float16 rows to float32: the same bits as `astype`, several times faster.

A float16 has 5 bits of exponent and 10 of fraction, a float32 8 and 23. Shifted by 13, with the
sign restored, a float16 reads as a float32 that is 2**112 times too small. Infinity and NaN would
become numbers, so rows that hold any are converted by `astype`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.kernels.compiled import compiled

SHIFT = 13
MASK = np.int32(-0x7000_2000)  # the sign, and the bits of a float16
SCALE = np.float32(2.0**112)
INFINITE = 0x7C00  # infinity, and NaN above it, without the sign


def floats(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[np.floating]:
    """Rows as a contiguous array of a number type; a view if they are one already."""
    if rows.dtype != np.float16 or dtype != np.float32 or rows.ndim != 2:
        return np.ascontiguousarray(rows, dtype=dtype)
    halves = np.ascontiguousarray(rows).view(np.int16)
    kernels = compiled(halves.size)
    if kernels:
        wide = np.empty(halves.shape, dtype=np.float32)
        kernels.widen(halves, wide)
        return wide
    if np.bitwise_and(halves, 0x7FFF).max(initial=0) >= INFINITE:
        return rows.astype(np.float32)
    bits = halves.astype(np.int32)
    bits <<= SHIFT
    bits &= MASK
    wide = bits.view(np.float32)
    wide *= SCALE
    return wide
