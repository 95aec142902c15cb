"""How many processors this process may use. joblib counts alike, but is slow to import."""

from __future__ import annotations

import math
import os
from pathlib import Path

QUOTA = Path("/sys/fs/cgroup/cpu.max")
OLD_QUOTA = [Path(f"/sys/fs/cgroup/cpu/cpu.cfs_{it}_us") for it in ("quota", "period")]


def usable_cpus() -> int:
    """The least of the machine's processors, those given to this process, and its container's."""
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
