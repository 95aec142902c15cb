"""The corpus as an algorithm sees it: run a step on every block of rows, fetch a few rows.

A step is a pure function of a block and of small arguments, and returns a mergeable statistic.
In memory, memory-mapped, on workers or on a GPU the same steps run. Sums are exact (see `exact`),
so the result depends on none of these.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, reduce
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from hierseed.core.array_block import ArrayBlock, Vectors
from hierseed.core.block import Block
from hierseed.core.distance import FEW
from hierseed.cpus import usable_cpus

__all__ = ["ArrayBlocks", "Block", "Blocks", "M", "Mergeable", "Vectors", "merge"]

T = TypeVar("T")


class Mergeable(Protocol):
    """A statistic of some documents that can be merged with the same one of others."""

    def merge(self, other: Self, /) -> Self:
        """The statistic of both sets of documents."""


M = TypeVar("M", bound=Mergeable)

LEAST_ROWS = 256
BLOCK_VALUES = 2_000_000  # numbers in a block at least
EACH = 3  # blocks for each thread, so that all end at about the same time


class Blocks(Protocol):
    """The corpus as an engine sees it."""

    n: int
    width: int
    dtype: np.dtype[Any]

    def map(self, step: Callable[..., T], *model: Any) -> Iterator[T]:
        """Yield `step(block, *model)` for every block, in order of rows."""

    def fold(self, step: Callable[..., M], *model: Any) -> M:
        """Merge the results of `step(block, *model)` over all blocks."""

    def take(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Fetch a few rows."""


def merge(one: M, other: M) -> M:
    """Merge two statistics."""
    return one.merge(other)


class ArrayBlocks:
    """Blocks of an array or a memory map, on the threads of this machine.

    Each thread works on a block of its own, with the matrix library limited to one thread: that
    is faster than many threads on one small product. Steps make arrays of rows times `topics`, so
    blocks shrink as these grow; `largest` bounds how many times the least size they have, for
    steps that keep little of each row. `start` and `stop` select some of the rows,
    which keep their numbers. With `forget` blocks drop their caches after each step, for a single
    pass over many documents.
    """

    def __init__(
        self,
        vectors: Vectors,
        block_rows: int | None = None,
        threads: int | None = None,
        *,
        topics: int = 0,
        largest: int = 1,
        start: int = 0,
        stop: int | None = None,
        forget: bool = False,
    ) -> None:
        self.n, self.width = int(vectors.shape[0]), int(vectors.shape[1])
        self.dtype = np.dtype(np.float64 if vectors.dtype == np.float64 else np.float32)
        self.threads = threads or int(os.environ.get("OMP_NUM_THREADS") or usable_cpus())
        if isinstance(vectors, np.ndarray):
            vectors = np.asarray(vectors)  # slicing a np.memmap object is slow
        self._vectors, self._forget = vectors, forget
        size = block_rows or _block_rows(self.n, max(self.width, topics, 1), self.threads, largest)
        self._blocks = [
            ArrayBlock(vectors, at, min(at + size, stop or self.n), self.dtype)
            for at in range(start, stop or self.n, size)
        ]

    def map(self, step: Callable[..., T], *model: Any) -> Iterator[T]:
        """Yield `step(block, *model)` for every block, in order of rows."""
        if len(self._blocks) == 1 and len(self._blocks[0]) <= FEW:
            yield self._run(step, self._blocks[0], *model)  # too small for threads
            return
        with _libraries().limit(limits=1):
            if self.threads == 1 or len(self._blocks) == 1:
                for block in self._blocks:
                    yield self._run(step, block, *model)
                return
            waiting: deque[Future[T]] = deque()
            with ThreadPoolExecutor(self.threads) as pool:
                for block in self._blocks:
                    if len(waiting) > 2 * self.threads:
                        yield waiting.popleft().result()
                    waiting.append(pool.submit(self._run, step, block, *model))
                while waiting:
                    yield waiting.popleft().result()

    def fold(self, step: Callable[..., M], *model: Any) -> M:
        """Merge the results of `step(block, *model)` over all blocks."""
        return reduce(merge, self.map(step, *model))

    def _run(self, step: Callable[..., T], block: ArrayBlock, *model: Any) -> T:
        result = step(block, *model)
        if self._forget:
            block.forget()
        return result

    def take(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Fetch a few rows."""
        return np.asarray(self._vectors[np.asarray(rows)], dtype=np.float64)


def _block_rows(n: int, wide: int, threads: int, largest: int) -> int:
    """Rows of a block: few large blocks, because every step costs each block some Python."""
    fair = n * wide // (EACH * threads)
    return max(LEAST_ROWS, min(max(fair, BLOCK_VALUES), largest * BLOCK_VALUES) // wide)


@cache
def _libraries() -> ThreadpoolController:
    """The matrix libraries that this process has loaded; a search takes long."""
    return ThreadpoolController()
