"""Workers of a dask scheduler: connect, check them, call functions on them within a time limit.

dask waits without limit for a task whose workers have all died, for a worker that is stopped, and
for a scheduler that the network hides. So `watched` makes each call in a thread of its own, and
meanwhile asks the scheduler how its workers are.
"""

from __future__ import annotations

import contextlib
import json
import logging
import queue
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from hierseed.engines.worker import versions
from hierseed.errors import HierSeedError, MissingDependency

T = TypeVar("T")

CONNECT_TIMEOUT = 10.0  # seconds
SCHEDULER_TIMEOUT = 20.0  # seconds in which a scheduler that was reached must answer
WORKER_TIMEOUT = (
    40.0  # seconds that the cluster may be without a worker, or a worker without a sign
)
CLOSE_TIMEOUT = 5.0  # seconds that workers get to drop their blocks
POLL_INTERVAL = 1.0  # seconds between two looks at the workers


class ClusterError(HierSeedError, ConnectionError):
    """The scheduler or its workers can't be used."""


class ClusterWarning(UserWarning):
    """Workers differ from this machine in a way that may matter."""


def require_dask() -> None:
    """Raise if dask is not installed."""
    if find_spec("distributed") is None:
        raise MissingDependency("distributed", "cluster", "a dask cluster")


def connect(address: str | None = None, workers: int | None = None) -> Any:
    """Return a dask client of a running scheduler, or new processes on this machine.

    `address` may also be the file that `dask scheduler --scheduler-file` writes.
    """
    if not address:
        from hierseed.engines.processes import ProcessWorkers

        return ProcessWorkers(workers or 2)
    require_dask()
    import dask
    from distributed import Client
    from distributed.versions import VersionMismatchWarning

    # a model of many topics exceeds dask's default limit for arguments
    dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"})
    for name in ("distributed", "distributed.client"):  # our own errors report lost workers
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VersionMismatchWarning)  # `check_workers` reports it
        try:
            client = Client(_address_in(address), timeout=CONNECT_TIMEOUT)
        except (OSError, ValueError) as fault:
            raise ClusterError(
                f"no scheduler answers at {address} within {CONNECT_TIMEOUT:g} s "
                f"({_first_line(fault)}). "
                "Start one with `dask scheduler`, which prints its address, and workers with "
                "`dask worker ADDRESS --memory-limit 0`."
            ) from None
    noted: Any = client
    noted.hierseed_scheduler = noted.scheduler.address  # dask forgets it when it is lost
    return client


def _address_in(address: str) -> str:
    if not address.endswith(".json"):
        return address
    try:
        return str(json.loads(Path(address).read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, KeyError) as fault:
        raise ClusterError(
            f"{address} does not say where the scheduler is ({_first_line(fault)}). Start one "
            f"with `dask scheduler --scheduler-file {address}`."
        ) from None


def disconnect(client: Any) -> None:
    """Close what `connect` gave; processes that were started for it end."""
    options = {"timeout": CONNECT_TIMEOUT} if is_dask(client) else {}
    client.close(**options)


def is_dask(client: Any) -> bool:
    """True for a dask client, False for processes of this machine."""
    return hasattr(client, "scheduler_info")


def live_workers(client: Any) -> list[str]:
    """Addresses of the workers; waits for the first, for example after a restart."""
    try:
        while True:
            client.wait_for_workers(1, timeout=WORKER_TIMEOUT)
            if workers := sorted(client.scheduler_info(n_workers=-1)["workers"]):
                return workers  # none: the last one has just left
    except TimeoutError:
        raise ClusterError(
            f"the scheduler at {address_of(client)} has had no worker for {WORKER_TIMEOUT:g} s. "
            f"Start some with `dask worker {address_of(client)} --memory-limit 0`, then repeat."
        ) from None
    except (OSError, ValueError, AttributeError) as fault:  # the client was closed
        raise scheduler_lost(client) from fault


def scheduler_lost(client: Any) -> ClusterError:
    """The error for a lost scheduler."""
    return ClusterError(
        f"the scheduler at {address_of(client)} is lost. Start it and its workers again, then "
        "run the same command again."
    )


def address_of(client: Any) -> str:
    """Address of the scheduler."""
    return str(getattr(client, "hierseed_scheduler", "the address given"))


def check_workers(client: Any) -> None:
    """Refuse workers with other versions of hierseed or Python: they would run other code."""
    here = versions()
    found = client.run(versions, on_error="return")
    faults: defaultdict[str, list[str]] = defaultdict(list)
    for worker, there in sorted(found.items()):
        if isinstance(there, BaseException):
            faults[f"can't run hierseed ({_first_line(there)})"].append(worker)
            continue
        for name in ("hierseed", "python"):
            if there[name] != here[name]:
                faults[f"has {name} {there[name]}, this machine {here[name]}"].append(worker)
        if there["numpy"] != here["numpy"]:
            warnings.warn(
                f"the worker {worker} has numpy {there['numpy']}, this machine {here['numpy']}: "
                "results may differ in their last bits",
                ClusterWarning,
                stacklevel=3,
            )
    for fault, workers in faults.items():
        more = f" and {len(workers) - 1} more" if len(workers) > 1 else ""
        raise ClusterError(
            f"the worker {workers[0]}{more} {fault}. Install hierseed[cluster] "
            f"{here['hierseed']} on Python {here['python']} wherever a worker runs."
        )


def _first_line(fault: BaseException) -> str:
    return (str(fault).strip() or type(fault).__name__).splitlines()[0]


# ------------------------------------------------------------------ time limits


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
