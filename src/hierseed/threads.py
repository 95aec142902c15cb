"""Processors of this process, threads of its matrix libraries, and a thread that reads ahead."""

from __future__ import annotations

import math
import os
import queue
import sys
import threading
from collections.abc import Generator, Iterable
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

Item = TypeVar("Item")
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


def read_ahead(items: Iterable[Item], depth: int = 2) -> Generator[Item]:
    """Yield the same items, with up to `depth` of them read ahead.

    An exception of the source is raised here, at its place. Closing the generator ends the thread.
    """
    ready: queue.Queue[tuple[str, object]] = queue.Queue(maxsize=depth)
    stop = threading.Event()

    def hand_over(kind: str, value: object) -> bool:
        while not stop.is_set():
            try:
                ready.put((kind, value), timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def read() -> None:
        try:
            for item in items:
                if not hand_over("item", item):
                    return
            hand_over("end", None)
        except BaseException as fault:
            hand_over("fault", fault)

    thread = threading.Thread(target=read, name="hierseed-reader", daemon=True)
    thread.start()
    try:
        while True:
            kind, value = ready.get()
            if kind == "end":
                return
            if kind == "fault":
                raise cast(BaseException, value)
            yield cast(Item, value)
    finally:
        stop.set()
        thread.join()
