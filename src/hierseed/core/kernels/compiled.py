"""Whether to use the compiled loops: numba is an extra, and loading it takes a while."""

from __future__ import annotations

from functools import cache
from types import ModuleType

REPAID = 200_000_000  # numbers passed through; the time saved on so many is that of loading

_passed = 0


def compiled(numbers: int) -> ModuleType | None:
    """Return `loops` once this process has passed enough numbers; None before, or without numba.

    Results are the same to the last bit either way.
    """
    global _passed
    if _passed < REPAID:
        _passed += numbers
        return None
    return loops()


@cache
def loops() -> ModuleType | None:
    """Load the compiled loops; None where numba is missing, or has nowhere to keep them."""
    try:
        from hierseed.core.kernels import numba_kernels as loops
    except (ImportError, RuntimeError):
        return None
    return loops
