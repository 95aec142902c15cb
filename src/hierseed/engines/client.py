"""Workers of a dask scheduler: connect, check them, call functions on them."""

from __future__ import annotations

import json
import logging
import warnings
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from hierseed.engines.worker import versions
from hierseed.errors import HierSeedError, MissingDependency

WORKER_TIMEOUT = 40  # seconds without any worker
SCHEDULER_TIMEOUT = 10  # seconds


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
            client = Client(_address_in(address), timeout=SCHEDULER_TIMEOUT)
        except (OSError, ValueError) as fault:
            raise ClusterError(
                f"no scheduler answers at {address} within {SCHEDULER_TIMEOUT} s "
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
    options = {"timeout": SCHEDULER_TIMEOUT} if is_dask(client) else {}
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
            f"the scheduler at {address_of(client)} has had no worker for {WORKER_TIMEOUT} s. "
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
