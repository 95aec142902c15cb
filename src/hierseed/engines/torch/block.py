"""Consecutive rows of the corpus, on the device."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Floats = NDArray[np.float64]
HALVES = 24  # every float16 is a multiple of 2**-24


class TorchBlock:
    """Like `core.blocks.Block`; `memo` holds tensors, and only this engine's steps look at it.

    `X` is there while a step runs: where the corpus does not fit, it is fetched anew each time.
    """

    def __init__(self, start: int, stop: int, device: torch.device) -> None:
        self.start, self.stop, self.device = start, stop, device
        self.memo: dict[Any, Any] = {}
        self.X: Tensor

    def __len__(self) -> int:
        return self.stop - self.start

    def halves(self) -> list[TorchBlock]:
        """The same rows as two blocks, which remember nothing."""
        middle = len(self) // 2
        both = [
            TorchBlock(self.start, self.start + middle, self.device),
            TorchBlock(self.start + middle, self.stop, self.device),
        ]
        both[0].X, both[1].X = self.X[:middle], self.X[middle:]
        return both

    @cached_property
    def squared_norms(self) -> Tensor:
        """Squared length of each row, in float64."""
        return self.X.double().square().sum(dim=1)

    def put(self, values: Any, dtype: torch.dtype | None = None) -> Tensor:
        """Send a small array to the device."""
        return torch.as_tensor(values, dtype=dtype, device=self.device)

    def pick(self, rows: Tensor) -> Tensor:
        """Some of the rows, by their place in the block."""
        return self.X if len(rows) == len(self) and self.in_order(rows) else self.X[rows]

    def in_order(self, rows: Tensor) -> bool:
        """True if the rows are all of the block, one after the other."""
        return len(rows) == len(self) and bool((rows[1:] > rows[:-1]).all())


def fetch(values: Tensor) -> NDArray[Any]:
    """Bring a small result back."""
    result: NDArray[Any] = values.cpu().numpy()
    return result
