"""Whether to use the numba kernels, and arrays as they read them fastest.

Importing kernels takes time, and compiling them once takes more.
"""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

BREAK_EVEN = 200_000_000  # numbers processed after which importing the kernels has paid off
COMPILING = 15  # times as many: compiling them on a machine where that was not done yet
LINE = 64  # bytes of a line of the cache

_processed = 0


def compiled(numbers: int) -> ModuleType | None:
    """Return the kernels once this process has processed enough numbers; else None.

    Results are the same to the last bit either way.
    """
    global _processed
    _processed += numbers
    if _processed - numbers < BREAK_EVEN:
        return None
    if _processed - numbers < COMPILING * BREAK_EVEN and not _is_compiled():
        return None
    return load_kernels()


@cache
def load_kernels() -> ModuleType | None:
    """Import the kernels; None without numba, or without a folder for its cache."""
    try:
        from hierseed.core.kernels import numba_kernels
    except (ImportError, RuntimeError):
        return None
    return numba_kernels


@cache
def _is_compiled() -> bool:
    """Whether an earlier process has compiled the kernels and kept them."""
    kernels = load_kernels()
    if kernels is None:
        return False
    main = kernels.sweep, kernels.share_out
    return any(
        any(Path(one.stats.cache_path).glob(f"*.{one.py_func.__name__}-*.nbi")) for one in main
    )


def aligned_zeros(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Zeros that begin at a multiple of 64 bytes, so that no vector load crosses two lines."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    raw = np.zeros(size + LINE, dtype=np.uint8)
    skip = -raw.ctypes.data % LINE
    return raw[skip : skip + size].view(dtype).reshape(shape)
