"""Arrays aligned to cache lines, so that no vector load crosses two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

LINE = 64  # bytes


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Zeros that begin at a multiple of 64 bytes."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(size + LINE, dtype=np.uint8)
    skip = -raw.ctypes.data % LINE
    return raw[skip : skip + size].view(dtype).reshape(shape)
