"""Send rows to the device: a second thread reads them, copies overlap with the running step."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hierseed.core.blocks import Vectors
from hierseed.engines.torch.block import TorchBlock
from hierseed.errors import CorpusError

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
    block overlaps with the step on this one.
    """

    def __init__(self, vectors: Vectors, device: torch.device) -> None:
        self.vectors, self.device = vectors, device
        self._stream = torch.cuda.Stream(device) if device.type == "cuda" else None

    def prefetch(self, blocks: list[TorchBlock]) -> Iterator[tuple[TorchBlock, Tensor]]:
        """Yield each block and its rows on the device."""
        with ThreadPoolExecutor(1) as reader:
            waiting = reader.submit(self._send, blocks[0])
            for block, following in zip(blocks, [*blocks[1:], None]):
                rows, ready = waiting.result()
                if following is not None:
                    waiting = reader.submit(self._send, following)
                if ready is not None:
                    here = torch.cuda.current_stream(self.device)
                    here.wait_event(ready)
                    rows.record_stream(here)
                yield block, rows

    def _send(self, block: TorchBlock) -> tuple[Tensor, Any]:
        rows = np.asarray(self.vectors[block.start : block.stop])
        if self._stream is None:
            return torch.from_numpy(np.require(rows, requirements=["C", "W"])), None
        pinned = torch.from_numpy(np.empty(0, rows.dtype)).new_empty(rows.shape, pin_memory=True)
        np.copyto(pinned.numpy(), rows)
        with torch.cuda.stream(self._stream):
            sent = pinned.to(self.device, non_blocking=True)
            return sent, self._stream.record_event()
