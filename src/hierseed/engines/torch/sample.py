"""Twin of `core.anchor.sample`'s pass: a sample chosen by what documents say."""

from __future__ import annotations

import torch
from numpy.typing import NDArray

from hierseed.core.mixture.quantization import Quantization
from hierseed.core.mixture.sample import GOLDEN, Rows
from hierseed.engines.torch.arrays import fetch
from hierseed.engines.torch.block import TorchBlock
from hierseed.engines.torch.moments import counted


def chosen(
    block: TorchBlock, quantization: Quantization, skip: NDArray, every: int, total: int
) -> Rows:
    """One document in so many, seeds left out."""
    X = counted(block, quantization, skip)
    if every > 1:
        X = X[torch.remainder(X.sum(dim=1) * GOLDEN, 1.0) < 1 / every]
    return Rows([fetch(X.float())] if len(X) else [])
