"""How many processors this process may use, and how many threads its matrix libraries."""

from __future__ import annotations

import math
import os
import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any

QUOTA = Path("/sys/fs/cgroup/cpu.max")
OLD_QUOTA = [Path(f"/sys/fs/cgroup/cpu/cpu.cfs_{it}_us") for it in ("quota", "period")]


def usable_cpus() -> int:
    """The least of the machine's processors, those given to this process, and its container's.

    joblib counts alike, but is slow to import.
    """
    if hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count() or 1
    return max(1, min(count, math.ceil(_quota())))


def _quota() -> float:
    """Processors that a container may use, infinite without a limit."""
    try:
        try:
            quota, period = QUOTA.read_text(encoding="utf-8").split()
        except FileNotFoundError:
            quota, period = (file.read_text(encoding="utf-8") for file in OLD_QUOTA)
        share = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # none, or "max"
        return float(2**30)
    return share if share > 0 else float(2**30)


def one_thread() -> AbstractContextManager[Any]:
    """Limit the matrix libraries to one thread: the order of a sum depends on their number."""
    held: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1)
    return held


@lru_cache(maxsize=1)
def _libraries(modules: int) -> Any:
    """The matrix libraries of this process; searched again once more modules are imported."""
    from threadpoolctl import ThreadpoolController  # not needed to count processors

    return ThreadpoolController()
