"""What the algorithm may ask of the data: run a step on every block of rows, fetch a few rows.

A step is a pure function of a block and of small arguments, and answers with a mergeable
statistic. In memory, memory-mapped, on workers or on a GPU the same steps run; sums are exact
(see `exact`), so the answer depends on none of these.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, cached_property, reduce
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from joblib import cpu_count
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from hierseed.core.distance import squared_norms

T = TypeVar("T")


class Mergeable(Protocol):
    """A statistic of some documents; those of two sets of documents make that of both."""

    def merge(self, other: Self, /) -> Self:
        """Return the statistic of both sets together."""


M = TypeVar("M", bound=Mergeable)

LEAST_ROWS = 256
BLOCK_VALUES = 2_000_000  # numbers in a block: small enough for a cache and for 2 GB machines


class Vectors(Protocol):
    """Rows that can be sliced and picked: an array, a memory map, a lazy view."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Documents, dimensions."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Number type as stored."""

    def __getitem__(self, rows: Any) -> Any: ...


class Block:
    """Consecutive rows of the corpus.

    `memo` keeps what a step derived, for later steps on the same block. To lose it costs time,
    never the result.
    """

    def __init__(self, vectors: Vectors, start: int, stop: int, dtype: np.dtype[Any]) -> None:
        self._vectors, self._dtype = vectors, dtype
        self.start, self.stop = start, stop
        self.memo: dict[Any, Any] = {}

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def width(self) -> int:
        """Dimensions of a row."""
        return int(self._vectors.shape[1])

    @property
    def X(self) -> NDArray[np.floating]:  # noqa: N802 - the matrix
        """The rows in the number type that steps compute in; read anew at each call."""
        return np.ascontiguousarray(self._vectors[self.start : self.stop], dtype=self._dtype)

    @cached_property
    def squared_norms(self) -> NDArray[np.float64]:
        """Squared length of each row."""
        return squared_norms(self.X)

    def pick(self, rows: NDArray[np.integer]) -> NDArray[np.floating]:
        """Some of the rows, by their place in the block."""
        if len(rows) == len(self) and (rows[:-1] < rows[1:]).all():
            return self.X
        chosen = self._vectors[self.start : self.stop][rows]
        return np.ascontiguousarray(chosen, dtype=self._dtype)


class Blocks(Protocol):
    """The corpus as an engine sees it."""

    n: int
    width: int
    dtype: np.dtype[Any]

    def map(self, step: Callable[..., T], *model: Any) -> Iterator[T]:
        """Yield `step(block, *model)` for every block, in order of rows."""

    def fold(self, step: Callable[..., M], *model: Any) -> M:
        """Merge what `step(block, *model)` answers over all blocks."""

    def take(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Fetch a few rows."""


def merge(one: M, other: M) -> M:
    """Join two statistics."""
    return one.merge(other)


class ArrayBlocks:
    """Blocks of an array or a memory map, on the threads of this machine.

    Each thread works on a block of its own, with the matrix library held to one thread: that is
    faster than many threads on one small product. `start` and `stop` cut out some of the rows,
    which keep their numbers.
    """

    def __init__(
        self,
        vectors: Vectors,
        block_rows: int | None = None,
        threads: int | None = None,
        *,
        start: int = 0,
        stop: int | None = None,
    ) -> None:
        self.n, self.width = int(vectors.shape[0]), int(vectors.shape[1])
        self.dtype = np.dtype(np.float64 if vectors.dtype == np.float64 else np.float32)
        self.threads = threads or int(os.environ.get("OMP_NUM_THREADS") or cpu_count())
        self._vectors = vectors
        size = block_rows or max(LEAST_ROWS, BLOCK_VALUES // max(self.width, 1))
        self._blocks = [
            Block(vectors, at, min(at + size, stop or self.n), self.dtype)
            for at in range(start, stop or self.n, size)
        ]

    def map(self, step: Callable[..., T], *model: Any) -> Iterator[T]:
        """Yield `step(block, *model)` for every block, in order of rows."""
        with _libraries().limit(limits=1):
            if self.threads == 1 or len(self._blocks) == 1:
                for block in self._blocks:
                    yield step(block, *model)
                return
            waiting: deque[Future[T]] = deque()
            with ThreadPoolExecutor(self.threads) as pool:
                for block in self._blocks:
                    if len(waiting) > 2 * self.threads:
                        yield waiting.popleft().result()
                    waiting.append(pool.submit(step, block, *model))
                while waiting:
                    yield waiting.popleft().result()

    def fold(self, step: Callable[..., M], *model: Any) -> M:
        """Merge what `step(block, *model)` answers over all blocks."""
        return reduce(merge, self.map(step, *model))

    def take(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Fetch a few rows."""
        return np.asarray(self._vectors[np.asarray(rows)], dtype=np.float64)


@cache
def _libraries() -> ThreadpoolController:
    """The matrix libraries that this process has loaded."""
    return ThreadpoolController()
