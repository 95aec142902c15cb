"""Whether to use the numba kernels: importing them takes time, compiling them once takes more."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import ModuleType

BREAK_EVEN = 200_000_000  # numbers processed after which importing the kernels has paid off
COMPILING = 15  # times as many: compiling them on a machine where that was not done yet

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
