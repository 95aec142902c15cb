"""Whether to use the numba kernels: numba is an extra, and importing it takes seconds."""

from __future__ import annotations

from functools import cache
from types import ModuleType

BREAK_EVEN = 200_000_000  # numbers processed after which the import has paid off

_processed = 0


def compiled(numbers: int) -> ModuleType | None:
    """Return the kernels once this process has processed enough numbers; else None.

    Results are the same to the last bit either way.
    """
    global _processed
    if _processed < BREAK_EVEN:
        _processed += numbers
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


def load_mixture_kernels() -> ModuleType:
    """Import the kernels of the mixture, where there are kernels."""
    from hierseed.core.kernels import mixture_kernels

    return mixture_kernels
