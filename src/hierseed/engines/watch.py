"""Calls to a cluster with a time limit: a dead cluster is reported within a minute.

dask waits without limit for a task whose workers have all died, for a worker that is stopped, and
for a scheduler that the network hides. So each call runs in a thread of its own, and meanwhile the
scheduler is asked how its workers are.
"""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from typing import Any, TypeVar

from hierseed.engines.client import ClusterError, address_of, scheduler_lost

T = TypeVar("T")

POLL_INTERVAL = 1.0  # seconds between two looks at the workers
WORKER_TIMEOUT = (
    40.0  # seconds that the cluster may be without a worker, or a worker without a sign
)
SCHEDULER_TIMEOUT = 20.0  # seconds in which a scheduler must answer
CLOSE_TIMEOUT = 5.0  # seconds that workers get to drop their blocks


def watched(client: Any, call: Callable[..., T], *args: Any, **options: Any) -> T:
    """Return `call(*args, **options)`; raise ClusterError if the cluster can't answer any more."""
    answer = _Answer(call, *args, **options)
    workers = _Workers()
    while True:
        with contextlib.suppress(queue.Empty):
            return answer.get(POLL_INTERVAL)
        try:
            info = _Answer(client.scheduler_info, n_workers=-1).get(SCHEDULER_TIMEOUT)
            here = info["workers"]  # a client that has lost its scheduler does not know them
        except (queue.Empty, OSError, ValueError, AttributeError, KeyError) as fault:
            raise scheduler_lost(client) from fault
        if trouble := workers.trouble(here, time.monotonic()):
            raise ClusterError(
                f"{trouble} Start workers with `dask worker {address_of(client)} "
                "--memory-limit 0`, then run the same command again: what was finished is kept."
            )


def within(seconds: float, call: Callable[..., Any], *args: Any, **options: Any) -> None:
    """Make a call whose answer does not matter, and do not wait longer than this for it."""
    with contextlib.suppress(Exception):
        _Answer(call, *args, **options).get(seconds)


class _Answer:
    """The result of a call in a thread that does not keep the program from ending."""

    def __init__(self, call: Callable[..., Any], *args: Any, **options: Any) -> None:
        self._ended: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue()
        threading.Thread(target=self._run, args=(call, args, options), daemon=True).start()

    def _run(self, call: Callable[..., Any], args: Any, options: Any) -> None:
        try:
            self._ended.put((call(*args, **options), None))
        except BaseException as fault:
            self._ended.put((None, fault))

    def get(self, seconds: float) -> Any:
        """The result, or what the call raised; `queue.Empty` if there is none yet."""
        value, fault = self._ended.get(timeout=seconds)
        if fault is not None:
            raise fault
        return value


class _Workers:
    """When each worker last gave a sign, by the clock of this machine."""

    def __init__(self) -> None:
        self._signs: dict[str, tuple[Any, float]] = {}
        self._without_since: float | None = None

    def trouble(self, workers: dict[str, Any], now: float) -> str:
        """What is wrong with the workers for too long; "" if nothing is."""
        if not workers:
            self._without_since = now if self._without_since is None else self._without_since
            gone = now - self._without_since
            if gone > WORKER_TIMEOUT:
                return f"the last worker of the cluster is gone, for {gone:.0f} s now."
            return ""
        self._without_since = None
        for address, about in workers.items():
            sign = about.get("last_seen")
            before, since = self._signs.get(address, (None, now))
            if sign != before:
                self._signs[address] = sign, now
            elif now - since > WORKER_TIMEOUT:
                return (
                    f"the worker {address} has given no sign for {now - since:.0f} s: it is "
                    "stopped, overloaded, or cut off from the network. End it."
                )
        return ""
