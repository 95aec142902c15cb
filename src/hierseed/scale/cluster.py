"""The corpus on the workers of a dask cluster.

Workers read the rows where they lie (a shared file system, or the same machine); each round only
the small model travels out and merged statistics come back, however many documents there are.
Sums are exact, so the result is that of one machine to the last bit. A lost worker's blocks are
computed again elsewhere: what they remembered is found anew.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import BLOCK_VALUES, LEAST_ROWS, ArrayBlocks, M, Vectors, merge
from hierseed.errors import CorpusError, HierSeedError, MissingDependency

T = TypeVar("T")

PARTS_PER_WORKER = 2  # so that a lost worker's share is spread over the others
PATIENCE = 60  # seconds
RETRIES = 5  # workers that may be lost under one part before the fit gives up


class ClusterError(HierSeedError, ConnectionError):
    """The scheduler does not answer any more."""


class ClusterBlocks:
    """Blocks of vectors that every worker can open.

    Parameters
    ----------
    client : dask.distributed.Client
    vectors : rows that travel by address: a VectorStore, a Prepared one, or a MappedFile
    block_rows : rows in a block; the result does not depend on it
    """

    def __init__(self, client: Any, vectors: Vectors, block_rows: int | None = None) -> None:
        if isinstance(vectors, np.ndarray):
            raise CorpusError(
                "an array in memory can't be read by the workers of a cluster. Save it with "
                "np.save and pass hierseed.scale.MappedFile(path), or use a vector store."
            )
        self.client, self.vectors = client, vectors
        self.n, self.width = int(vectors.shape[0]), int(vectors.shape[1])
        self.dtype = np.dtype(np.float64 if vectors.dtype == np.float64 else np.float32)
        self._size = block_rows or max(LEAST_ROWS, BLOCK_VALUES // max(self.width, 1))
        self._name = uuid.uuid4().hex  # workers keep the blocks of a fit under it
        blocks = -(-self.n // self._size)
        parts = min(blocks, PARTS_PER_WORKER * len(self._workers()))
        edges = np.linspace(0, blocks, parts + 1).astype(int) * self._size
        self._parts = [(int(a), int(min(b, self.n))) for a, b in pairwise(edges)]

    def map(self, step: Callable[..., T], *model: Any) -> Iterator[T]:
        """Yield `step(block, *model)` for every block, in order of rows."""
        for results in self._run(_map_part, step, model):
            yield from results

    def fold(self, step: Callable[..., M], *model: Any) -> M:
        """Merge what `step(block, *model)` answers over all blocks; workers merge their own."""
        return reduce(merge, self._run(_fold_part, step, model))

    def take(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Fetch a few rows."""
        return np.asarray(self.vectors[np.asarray(rows)], dtype=np.float64)

    def _run(
        self, job: Callable[..., Any], step: Callable[..., Any], model: tuple[Any, ...]
    ) -> Iterator[Any]:
        workers = self._workers()
        futures = [
            self.client.submit(
                job, self._name, self.vectors, start, stop, self._size, step, model,
                workers=[workers[number % len(workers)]], allow_other_workers=True,
                pure=False, retries=RETRIES,
            )
            for number, (start, stop) in enumerate(self._parts)
        ]  # fmt: skip
        for future in futures:
            yield self._result(future)

    def _result(self, future: Any) -> Any:
        from distributed.comm.core import CommClosedError

        try:
            return future.result()
        except (CommClosedError, OSError, TimeoutError) as fault:
            raise _lost(self.client) from fault
        except Exception as fault:
            if type(fault).__name__ in {"CancelledError", "FutureCancelledError"}:
                raise _lost(self.client) from fault
            raise

    def _workers(self) -> list[str]:
        """Addresses of the workers; waits a while for the first, after a restart say."""
        try:
            self.client.wait_for_workers(1, timeout=PATIENCE)
            return sorted(self.client.scheduler_info(n_workers=-1)["workers"])
        except TimeoutError as fault:
            raise ClusterError(
                f"the cluster has had no workers for {PATIENCE} s. Start some, then fit again."
            ) from fault
        except OSError as fault:
            raise _lost(self.client) from fault


def connect(address: str | None = None, workers: int | None = None) -> Any:
    """Return a dask client: of a running scheduler, or of new processes on this machine."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as absent:
        raise MissingDependency("distributed", "cluster", "a fit on several workers") from absent
    if address:
        try:
            return Client(address, timeout=20)
        except OSError as fault:
            raise ClusterError(f"no scheduler answers at {address}: {fault}") from fault
    return Client(
        LocalCluster(
            n_workers=workers or 2, threads_per_worker=1, processes=True, dashboard_address=None
        )
    )


def _lost(client: Any) -> ClusterError:
    address = getattr(getattr(client, "scheduler", None), "address", "the address given")
    return ClusterError(f"the scheduler at {address} is lost. Start it again and repeat the fit.")


# ------------------------------------------------------------------ on a worker

_open: dict[tuple[str, int], ArrayBlocks] = {}  # blocks of the fits that this process works on
KEPT = 64


def _part(name: str, vectors: Vectors, start: int, stop: int, size: int) -> ArrayBlocks:
    key = (name, start)
    if key not in _open:
        while len(_open) >= KEPT:
            _open.pop(next(iter(_open)))
        _open[key] = ArrayBlocks(vectors, block_rows=size, threads=1, start=start, stop=stop)
    return _open[key]


def _map_part(
    name: str, vectors: Vectors, start: int, stop: int, size: int, step: Any, model: Any
) -> list[Any]:
    return list(_part(name, vectors, start, stop, size).map(step, *model))


def _fold_part(
    name: str, vectors: Vectors, start: int, stop: int, size: int, step: Any, model: Any
) -> Any:
    return _part(name, vectors, start, stop, size).fold(step, *model)
