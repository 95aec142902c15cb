"""The corpus as an algorithm sees it: checked, run through a step block by block, or a few rows.

A step is a pure function of a block and of small arguments, and returns a mergeable statistic.
In memory, memory-mapped, on workers or on a GPU the same steps run. Sums are exact (see `exact`),
so the result depends on none of these.
"""

from __future__ import annotations

import itertools
import math
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hierseed.core.array_block import ArrayBlock, Vectors
from hierseed.core.block import Block, portable
from hierseed.core.distance import FEW
from hierseed.cpus import one_thread, usable_cpus
from hierseed.errors import CorpusError

__all__ = ["ArrayBlocks", "Block", "Blocks", "M", "Mergeable", "Vectors", "merge"]

T = TypeVar("T")
LEAST_ROWS = 256
BLOCK_VALUES = 2_000_000  # numbers in a block at least
EACH = 3  # blocks for each thread
SHRINK = 1.5, 0.5  # size of the first and the last block of a thread, in means
LONGEST = 1e18  # four times its square is less than the largest float32


class Mergeable(Protocol):
    """A statistic of some documents that can be merged with the same one of others."""

    def merge(self, other: Self, /) -> Self:
        """The statistic of both sets of documents."""


M = TypeVar("M", bound=Mergeable)


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
        stop = stop or self.n
        if block_rows:
            edges = [*range(start, stop, block_rows), stop]
        else:
            wide = max(self.width, topics, 1)
            edges = (start + _block_edges(stop - start, wide, self.threads, largest)).tolist()
        self._blocks = [
            ArrayBlock(vectors, at, end, self.dtype) for at, end in itertools.pairwise(edges)
        ]

    def map(self, step: Callable[..., T], *model: Any) -> Iterator[T]:
        """Yield `step(block, *model)` for every block, in order of rows."""
        if len(self._blocks) == 1 and len(self._blocks[0]) <= FEW:
            yield self._run(step, self._blocks[0], *model)  # too small for threads
            return
        with one_thread():
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


def _block_edges(n: int, wide: int, threads: int, largest: int) -> NDArray[np.integer]:
    """Where blocks of so many rows begin, and the last ends.

    Few large blocks, because every step costs each block some Python. Every thread gets as many,
    the largest first, so that all threads end at about the same time.
    """
    fair, usual = -(-n // (EACH * threads)), BLOCK_VALUES // wide
    most = max(LEAST_ROWS, min(max(fair, usual), largest * BLOCK_VALUES // wide))
    blocks = -(-n // most)
    if threads == 1 or blocks <= threads:
        return np.linspace(0, n, blocks + 1).round().astype(np.intp)
    share = np.repeat(np.linspace(*SHRINK, -(-blocks // threads)), threads)
    ends = np.cumsum(share) * (n / share.sum())
    return np.unique(np.append(0, ends.round().astype(np.intp)))  # without empty blocks


def check_vectors(
    X: Any, name: str = "X", width: int | None = None, model: str = "the model"
) -> Vectors:
    """Return X as something with rows of numbers; arrays and memory maps are not copied.

    `width` is how many numbers a row must have, because `model` was fitted so.
    """
    if sparse.issparse(X):
        raise CorpusError(
            f"{name} is a sparse matrix. Reduce it first, for example with TruncatedSVD, "
            "or pass X.toarray()."
        )
    if not hasattr(X, "shape") or not hasattr(X, "dtype"):
        X = np.asarray(X)
    if X.dtype.kind in "iub":
        X = np.asarray(X, dtype=np.float64)
    if X.dtype.kind == "c":
        raise CorpusError(f"{name} holds complex numbers. Complex data not supported.")
    if X.dtype.kind != "f":
        try:
            X = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as fault:
            raise CorpusError(
                f"{name} holds {X.dtype}, not numbers ({fault}). Embed the texts first: "
                "hierseed embed, or any embedder of hierseed.embed."
            ) from fault
    if len(X.shape) != 2:
        raise CorpusError(
            f"{name} has {len(X.shape)} dimension(s). Expected 2D array: one row per document. "
            "Reshape your data with X.reshape(1, -1) if it is a single document."
        )
    if X.shape[0] == 0:
        raise CorpusError(
            f"{name} is empty: 0 documents (0 sample(s), shape={tuple(X.shape)}) while a minimum "
            "of 1 is required. Embed at least one document."
        )
    if X.shape[1] == 0:
        raise CorpusError(
            f"{name} has 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required."
        )
    if width is not None and X.shape[1] != width:
        raise CorpusError(
            f"{name} has {X.shape[1]} features, but {model} is expecting {width} features as "
            "input. Use the embedder that the model was fitted with."
        )
    vectors: Vectors = X
    return vectors


def check_finite(blocks: Blocks, name: str = "X") -> float:
    """Refuse NaN and infinity; return the length of the longest vector."""
    found = blocks.fold(survey)
    if found.bad:
        shown = ", ".join(map(str, found.first)) + (", …" if found.bad > 5 else "")
        raise CorpusError(
            f"{name} contains NaN or infinity in {found.bad:,} of {blocks.n:,} rows "
            f"(rows {shown}). Drop these documents or embed them again."
        )
    if found.largest > LONGEST:
        raise CorpusError(
            f"{name} has vectors as long as {found.largest:.1e}: squares of such numbers are more "
            "than float32 holds. Divide them all by one number first."
        )
    return found.largest


@dataclass
class Survey:
    """Rows with NaN or infinity: how many, the first five; and the longest of the others."""

    bad: int
    first: list[int]
    largest: float

    def merge(self, other: Survey) -> Survey:
        """Merge with the survey of other rows."""
        first = sorted(self.first + other.first)[:5]
        return Survey(self.bad + other.bad, first, max(self.largest, other.largest))


@portable
def survey(block: Block) -> Survey:
    """Count rows with NaN or infinity; measure the longest of the others."""
    xp = block.xp
    with np.errstate(over="ignore", invalid="ignore"):
        norms = block.squared_norms
    finite = xp.isfinite(norms)
    rows = xp.to_numpy(xp.flatnonzero(~finite))
    if len(rows):
        norms = norms[finite]
    longest = math.sqrt(float(norms.max())) if len(norms) else 0.0
    return Survey(len(rows), (rows[:5] + block.start).tolist(), longest)
