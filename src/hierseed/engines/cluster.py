"""The corpus on several processes: of this machine, or of a dask cluster.

Workers read the rows from a path (on a shared file system, or the same machine). In each step the
model is sent once to every worker, and each returns one merged statistic, however many documents
there are. Sums are exact, so the result equals that of one machine to the last bit. The rows of a
lost worker are computed elsewhere; its caches are rebuilt.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hierseed.core.array_blocks import BLOCK_VALUES, LEAST_ROWS
from hierseed.core.blocks import M, Vectors, merge
from hierseed.engines.worker import (
    Part,
    Source,
    drop_blocks,
    fingerprint,
    fold_parts,
    map_parts,
    open_error,
)
from hierseed.engines.workers import workers_of
from hierseed.errors import CorpusError

T = TypeVar("T")

PARTS_PER_WORKER = 4  # so that the share of a lost worker is spread over the others


class ClusterBlocks:
    """Blocks of vectors that every worker can open.

    Parameters
    ----------
    client : dask.distributed.Client, or processes of this machine; see `connect`
    vectors : rows that are pickled as a path: a VectorStore, a Prepared one, or a MappedFile
    block_rows : rows in a block; the result does not depend on it
    """

    def __init__(self, client: Any, vectors: Vectors, block_rows: int | None = None) -> None:
        refuse_arrays(vectors)
        self.workers, self.vectors = workers_of(client), vectors
        self.n, self.width = int(vectors.shape[0]), int(vectors.shape[1])
        self.dtype = np.dtype(np.float64 if vectors.dtype == np.float64 else np.float32)
        size = block_rows or max(LEAST_ROWS, BLOCK_VALUES // max(self.width, 1))
        self._source = Source(
            uuid.uuid4().hex, pickle.dumps(vectors), path_of(vectors), fingerprint(vectors), size
        )
        workers = self.workers.names
        for worker, fault in sorted(self.workers.run(open_error, self._source).items()):
            if fault:
                raise CorpusError(f"{fault} (worker {worker})")
        blocks = -(-self.n // size)
        edges = np.linspace(0, blocks, min(blocks, PARTS_PER_WORKER * len(workers)) + 1)
        edges = np.minimum(edges.astype(int) * size, self.n)
        self._home: dict[Part, str] = dict.fromkeys(pairwise(edges.tolist()), "")

    def map(self, step: Callable[..., T], *model: Any) -> Iterator[T]:
        """Yield `step(block, *model)` for every block, in order of rows."""
        shares = [(worker, [part]) for part, worker in self._homes().items()]
        for future in self._submit(map_parts, shares, step, model):
            yield from self._gather([future])[0]

    def fold(self, step: Callable[..., M], *model: Any) -> M:
        """Merge the results of `step(block, *model)` over all blocks; workers merge their own."""
        shares: dict[str, list[Part]] = {}
        for part, worker in self._homes().items():
            shares.setdefault(worker, []).append(part)
        return reduce(
            merge, self._gather(self._submit(fold_parts, list(shares.items()), step, model))
        )

    def take(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Fetch a few rows."""
        return np.asarray(self.vectors[np.asarray(rows)], dtype=np.float64)

    def close(self) -> None:
        """Drop the blocks that workers keep of this corpus."""
        self.workers.run_briefly(drop_blocks, self._source.fit)

    def _submit(
        self,
        job: Callable[..., Any],
        shares: Sequence[tuple[str, list[Part]]],
        step: Callable[..., Any],
        model: tuple[Any, ...],
    ) -> list[Any]:
        message = pickle.dumps((step, model), protocol=5)
        return [
            self.workers.submit(job, self._source, parts, message, worker=worker)
            for worker, parts in shares
        ]

    def _gather(self, futures: list[Any]) -> list[Any]:
        return self.workers.gather(futures)

    def _homes(self) -> dict[Part, str]:
        """Worker of each part: the one that keeps its blocks, or else the least loaded one."""
        workers = self.workers.names
        load = dict.fromkeys(workers, 0)
        for worker in self._home.values():
            if worker in load:
                load[worker] += 1
        fair = -(-len(self._home) // len(workers))
        for part, worker in self._home.items():
            if worker in load and load[worker] <= fair:
                continue
            if worker in load:
                load[worker] -= 1
            self._home[part] = min(load, key=lambda one: load[one])
            load[self._home[part]] += 1
        return self._home


def path_of(vectors: Any) -> str:
    """Path of vectors, for messages."""
    vectors = getattr(vectors, "X", vectors)  # a Prepared view
    return str(getattr(vectors, "folder", None) or getattr(vectors, "path", "the vectors"))


def refuse_arrays(vectors: Any) -> None:
    """Refuse rows in memory: all of them would have to be sent."""
    if isinstance(getattr(vectors, "X", vectors), np.ndarray):
        raise CorpusError(
            "an array in memory can't be read by the workers of a cluster. Save it with "
            "np.save and pass hierseed.engines.MappedFile(path), or use a vector store."
        )
