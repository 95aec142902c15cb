"""Send rows to the device: threads read them, copies overlap with the running step."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hierseed.core.blocks import Vectors
from hierseed.engines.torch.block import TorchBlock
from hierseed.errors import CorpusError

READERS = min(8, os.cpu_count() or 1)  # threads
PINNED = 1 << 25  # bytes of a reader's buffer
NUMPY = {torch.float16: np.float16, torch.float32: np.float32, torch.float64: np.float64}


class TensorRows:
    """A tensor as rows for the host: for `take`, and for steps that only the host can run."""

    def __init__(self, tensor: Tensor) -> None:
        if tensor.ndim != 2 or tensor.dtype not in NUMPY:
            raise CorpusError(
                f"a tensor of {tensor.ndim} dimension(s) and {tensor.dtype} can't be fitted. Give "
                "one row per document, in float16, float32 or float64."
            )
        self.tensor = tensor
        self.shape: tuple[int, ...] = tuple(tensor.shape)
        self.dtype: np.dtype[Any] = np.dtype(NUMPY[tensor.dtype])

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        if not isinstance(rows, slice):
            rows = torch.as_tensor(rows, device=self.tensor.device)
        found: NDArray[Any] = self.tensor[rows].cpu().numpy()
        return found


class Prefetcher:
    """Bring blocks to the device, one ahead of the running step.

    On a card rows go through pinned memory and a stream of their own, so that the copy of the next
    block overlaps with the step on this one. Several threads read: one alone is slower than the
    bus.
    """

    def __init__(self, vectors: Vectors, device: torch.device) -> None:
        self.vectors, self.device = vectors, device
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None
        self._file = _whole_file(vectors)
        self._buffers: SimpleQueue[tuple[Tensor, Any]] | None = None

    def prefetch(self, blocks: list[TorchBlock]) -> Iterator[tuple[TorchBlock, Tensor]]:
        """Yield each block and its rows on the device."""
        with ThreadPoolExecutor(1) as ahead, ThreadPoolExecutor(READERS) as readers:
            waiting = ahead.submit(self._send, blocks[0], readers)
            for block, following in zip(blocks, [*blocks[1:], None]):
                rows, ready = waiting.result()
                if following is not None:
                    waiting = ahead.submit(self._send, following, readers)
                if ready is not None:
                    here = torch.cuda.current_stream(self.device)
                    here.wait_event(ready)
                    rows.record_stream(here)
                yield block, rows

    def _send(self, block: TorchBlock, readers: ThreadPoolExecutor) -> tuple[Tensor, Any]:
        if self._stream is None:
            rows = np.asarray(self.vectors[block.start : block.stop])
            return torch.from_numpy(np.require(rows, requirements=["C", "W"])), None
        width = int(self.vectors.shape[1])
        step = max(PINNED // (width * self.vectors.dtype.itemsize), 1)
        kind = torch.from_numpy(np.empty(0, self.vectors.dtype)).dtype
        if self._buffers is None:
            self._buffers = SimpleQueue()
            for _ in range(READERS):
                self._buffers.put((torch.empty((step, width), dtype=kind, pin_memory=True), None))
        buffers, stream = self._buffers, self._stream
        with torch.cuda.stream(stream):
            sent = torch.empty((len(block), width), dtype=kind, device=self.device)

        def send(first: int) -> None:
            buffer, used = buffers.get()
            if used is not None:
                used.synchronize()
            part = buffer[: len(block) - first]
            self._read(block.start + first, part.numpy())
            with torch.cuda.stream(stream):
                sent[first : first + len(part)].copy_(part, non_blocking=True)
                buffers.put((buffer, stream.record_event()))

        for _ in readers.map(send, range(0, len(block), step)):
            pass  # raises what a thread raised
        return sent, stream.record_event()

    def _read(self, first: int, target: NDArray[Any]) -> None:
        """Fill an array with rows of the corpus."""
        if self._file is None:
            np.copyto(target, self.vectors[first : first + len(target)])
            return
        number, offset = self._file  # without the page faults of a memory map
        rest = target.data.cast("B")
        offset += first * target.strides[0]
        while rest:
            done = os.preadv(number, [rest], offset)
            if not done:
                raise CorpusError("the file of vectors became shorter while it was read")
            rest, offset = rest[done:], offset + done


def _whole_file(vectors: Any) -> tuple[int, int] | None:
    """Number of the open file behind a memory map, and where its rows begin; None if not whole."""
    if not isinstance(vectors, np.memmap) or not vectors.filename or not hasattr(os, "preadv"):
        return None
    size = vectors.offset + vectors.nbytes
    if not vectors.flags.c_contiguous or os.path.getsize(vectors.filename) != size:
        return None
    number = os.open(vectors.filename, os.O_RDONLY)
    weakref.finalize(vectors, os.close, number)
    return number, int(vectors.offset)
