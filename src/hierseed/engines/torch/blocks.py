"""Blocks of the corpus on a GPU: resident where they fit, else streamed at each pass."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from copy import copy
from functools import reduce
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from hierseed.core.array_blocks import BLOCK_VALUES, LEAST_ROWS, ArrayBlocks
from hierseed.core.blocks import M, Vectors, check_vectors, merge
from hierseed.embed.prepare import Prepared
from hierseed.engines.torch.arrays import TorchArrays
from hierseed.engines.torch.block import TorchBlock
from hierseed.engines.torch.rows import Prefetcher, TensorRows

T = TypeVar("T")

ON_CARD = 1 << 31  # numbers in a block: with these, waiting for the host hardly shows
STREAMED = 1 << 27  # smaller: the first copy overlaps with no step
AT_A_TIME = 1 << 26  # numbers that are prepared together
NEEDED = 32  # bytes of memory of a step for each of them
SHARE = 0.5  # of the free memory for rows; the rest is for steps


class NoGpuWarning(UserWarning):
    """There is no CUDA device."""


class HostStepWarning(UserWarning):
    """A step can't run on the device, and runs on the processor."""


class TorchBlocks:
    """The corpus as torch sees it; any estimator's `fit`, `predict` and `assign` take it.

    Sums are exact and near ties are decided in float64, so a fit gives the labels and vectors of
    one on the processor. A step that is not `portable` runs on the processor, with a warning.

    Parameters
    ----------
    vectors : rows as an array, a memory map, a vector store; or a torch tensor
        Rows of a `Prepared` are prepared on the device
    device : "cuda", "cuda:1", …; "cpu" is for tests. Without a CUDA device, the processor
    block_rows : rows in a block; the result does not depend on it
    resident : keep the rows on the device; None: if they take at most half of its free memory
    """

    def __init__(
        self,
        vectors: Any,
        device: str | torch.device = "cuda",
        *,
        block_rows: int | None = None,
        resident: bool | None = None,
    ) -> None:
        self.device = _present(torch.device(device))
        is_tensor = isinstance(vectors, torch.Tensor)
        self.vectors = TensorRows(vectors) if is_tensor else check_vectors(vectors)
        self.n, self.width = int(self.vectors.shape[0]), int(self.vectors.shape[1])
        self.dtype = np.dtype(np.float64 if self.vectors.dtype == np.float64 else np.float32)
        self._host = ArrayBlocks(self.vectors)
        here = is_tensor and vectors.device == self.device
        room, size = self._room(), self._bytes
        self.resident = here or (size <= SHARE * room if resident is None else resident)
        room -= size if self.resident and not here else 0
        self._keep_ready(room)
        values = min(ON_CARD if self.resident else STREAMED, room // NEEDED)
        rows = block_rows or max(LEAST_ROWS, values // max(self.width, 1))
        self._blocks = [
            TorchBlock(at, min(at + rows, self.n), self.device) for at in range(0, self.n, rows)
        ]
        self._prefetcher = Prefetcher(self._stored, self.device)
        self._waiting = self.resident  # rows are sent with the first step
        if here:
            for block in self._blocks:
                block.raw = vectors[block.start : block.stop].contiguous()
            self._waiting = False

    @property
    def _stored(self) -> Vectors:
        """The rows as they are read."""
        stored: Vectors = getattr(self.vectors, "stored", self.vectors)
        return stored

    @property
    def _bytes(self) -> int:
        """Size of the rows as they are read."""
        return self.n * int(self._stored.shape[1]) * self._stored.dtype.itemsize

    def _keep_ready(self, room: int) -> None:
        """Decide whether prepared rows stay on the device too; else each step prepares them."""
        self._preparation = getattr(self.vectors, "preparation", None)
        size = self.n * self.width * self.dtype.itemsize
        self._keeps = self.resident and (self._preparation is None or size <= SHARE * room)

    def prepared(self, vectors: Prepared) -> TorchBlocks:
        """The same rows as `vectors` prepares them; what is on the device is not read again."""
        if not self.resident or self._waiting or vectors.stored is not self.vectors:
            return TorchBlocks(vectors, self.device)
        found = copy(self)
        found.vectors, found.width = vectors, vectors.shape[1]
        found._host, found.dtype = ArrayBlocks(vectors), np.dtype(np.float32)
        found._blocks = []
        for block in self._blocks:
            found._blocks.append(TorchBlock(block.start, block.stop, self.device))
            found._blocks[-1].raw = block.raw
            block.forget()
        found._keep_ready(self._room())
        return found

    def map(self, step: Callable[..., T], *model: Any) -> Iterator[T]:
        """Yield `step(block, *model)` for every block, in order of rows."""
        if getattr(step, "portable", False):
            yield from self._run(step, model)
            return
        warnings.warn(
            f"the step {step.__module__}.{step.__qualname__} has no version for torch: it runs on "
            f"the processor over all {self.n:,} documents",
            HostStepWarning,
            stacklevel=2,
        )
        yield from self._host.map(step, *model)

    def fold(self, step: Callable[..., M], *model: Any) -> M:
        """Merge what `step(block, *model)` answers over all blocks."""
        return reduce(merge, self.map(step, *model))

    def take(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Fetch a few rows."""
        return self._host.take(rows)

    def _run(self, step: Callable[..., T], model: tuple[Any, ...]) -> Iterator[T]:
        """Run a step; on out-of-memory, halve the block and drop its caches."""
        done: list[TorchBlock] = []
        for whole, stored in self._with_rows():
            whole.raw = stored
            if not (self._keeps and hasattr(whole, "rows")):
                whole.rows = self._prepare(stored)
            parts = [whole]
            while parts:
                answer = _attempt(step, parts[0], model)
                if answer is None:
                    parts = [*parts[0].halves(), *parts[1:]]
                    continue
                done.append(parts.pop(0))
                if not self._keeps:
                    del done[-1].rows  # the next block needs the room
                if not self.resident:
                    del done[-1].raw
                yield answer
            del stored
        self._blocks, self._waiting = done, False

    def _prepare(self, stored: torch.Tensor) -> torch.Tensor:
        """Rows as steps see them."""
        if self._preparation is None:
            return stored
        xp = TorchArrays(self.device)
        ready = torch.empty((len(stored), self.width), dtype=torch.float32, device=self.device)
        step = max(AT_A_TIME // stored.shape[1], 1)
        for at in range(0, len(stored), step):
            part = stored[at : at + step].to(torch.float32, copy=True)
            ready[at : at + step] = self._preparation.apply(part, xp)
        return ready

    def _with_rows(self) -> Iterator[tuple[TorchBlock, torch.Tensor]]:
        """Blocks and their rows; resident rows are fetched once."""
        if self.resident and not self._waiting:
            return ((block, block.raw) for block in self._blocks)
        return self._prefetcher.prefetch(self._blocks)

    def _room(self) -> int:
        """Free bytes on the card; on the processor small blocks are faster."""
        if self.device.type == "cpu":
            return BLOCK_VALUES * NEEDED
        return int(torch.cuda.mem_get_info(self.device)[0])


def _attempt(step: Callable[..., T], block: TorchBlock, model: tuple[Any, ...]) -> T | None:
    """Result of a step, or None if it runs out of memory."""
    try:
        return step(block, *model)
    except torch.OutOfMemoryError:
        if len(block) <= LEAST_ROWS:
            raise
    torch.cuda.empty_cache()  # after the handler: the exception holds on to the step's tensors
    return None


def _present(device: torch.device) -> torch.device:
    """The device, or the processor with a warning if there is no such card."""
    if device.type != "cuda":
        return device
    if torch.cuda.is_available():
        return torch.device(
            "cuda", torch.cuda.current_device() if device.index is None else device.index
        )
    warnings.warn(
        f"torch {torch.__version__} finds no CUDA device: the fit runs on the processor. "
        "On a machine with a card, install a CUDA build of torch.",
        NoGpuWarning,
        stacklevel=3,
    )
    return torch.device("cpu")
