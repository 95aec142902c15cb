"""What long steps run on: processes of this machine, or the workers of a dask cluster."""

from __future__ import annotations

import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from hierseed.engines.client import (
    CLOSE_TIMEOUT,
    ClusterError,
    check_workers,
    is_dask,
    live_workers,
    scheduler_lost,
    watched,
    within,
)

T = TypeVar("T")

AHEAD = 2  # calls for each one that runs: the next one is there when a worker has finished


class Workers(Protocol):
    """Processes that functions can be called on; arguments and results are pickled."""

    @property
    def names(self) -> list[str]:
        """Names of the workers that are alive."""

    @property
    def slots(self) -> int:
        """Calls that run at the same time."""

    def submit(self, function: Callable[..., Any], *args: Any, worker: str = "") -> Any:
        """Call a function, on the worker named or on any; return its future."""

    def gather(self, futures: list[Any]) -> list[Any]:
        """Results of calls, in order."""

    def run(self, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        """Call a function on every worker."""

    def run_briefly(self, function: Callable[..., Any], *args: Any) -> None:
        """Call a function on every worker, without waiting long for the result."""


def workers_of(client: Any) -> Workers:
    """Workers of a dask client, or those given."""
    workers: Workers = DaskWorkers(client) if is_dask(client) else client
    return workers


def map_in_order(
    workers: Workers, function: Callable[[Any], T], tasks: Iterable[Any]
) -> Iterator[T]:
    """Yield `function(task)` for every task, in their order.

    Tasks are taken as workers become free, so that few of them are in memory.
    """
    waiting: deque[Any] = deque()
    for task in tasks:
        waiting.append(workers.submit(function, task))
        while waiting and (waiting[0].done() or len(waiting) >= AHEAD * workers.slots):
            yield workers.gather([waiting.popleft()])[0]
    while waiting:
        yield workers.gather([waiting.popleft()])[0]


class DaskWorkers:
    """Workers of a dask cluster. What a lost one was doing is done by another.

    A worker of another version, the death of the last worker and a lost scheduler raise
    `ClusterError`.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        watched(client, live_workers, client)
        watched(client, check_workers, client)
        self.slots = sum(watched(client, client.nthreads).values()) or 1

    @property
    def names(self) -> list[str]:
        """Addresses of the workers; waits for the first."""
        found: list[str] = watched(self.client, live_workers, self.client)
        return found

    def submit(self, function: Callable[..., Any], *args: Any, worker: str = "") -> Any:
        """Call a function, on the worker named while it lives, or on any."""
        name = getattr(function, "__name__", "call")
        where = {"workers": [worker], "allow_other_workers": True} if worker else {}
        key = f"{name}-{uuid.uuid4().hex}"
        return self.client.submit(function, *args, key=key, pure=False, **where)

    def gather(self, futures: list[Any]) -> list[Any]:
        """Results of calls, in order."""
        from distributed.client import FutureCancelledError
        from distributed.comm.core import CommClosedError
        from distributed.scheduler import KilledWorker

        try:
            answers: list[Any] = watched(self.client, self.client.gather, futures)
            return answers
        except KilledWorker as fault:
            raise ClusterError(
                f"{fault.allowed_failures + 1} workers died one after the other over the same "
                "documents; their logs say why. If they ran out of memory, start fewer on a "
                "machine, and all with --memory-limit 0; if the vectors were taken away under "
                "them, put these back."
            ) from fault
        except ClusterError:
            raise
        except (CommClosedError, FutureCancelledError, TimeoutError) as fault:
            raise scheduler_lost(self.client) from fault

    def run(self, function: Callable[..., Any], *args: Any) -> dict[str, Any]:
        """Call a function on every worker."""
        found: dict[str, Any] = watched(self.client, self.client.run, function, *args)
        return found

    def run_briefly(self, function: Callable[..., Any], *args: Any) -> None:
        """Call a function whose result does not matter on every worker that answers soon."""
        within(CLOSE_TIMEOUT, self.client.run, function, *args, on_error="ignore")
