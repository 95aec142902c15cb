"""Twin of `core.anchor.moments`: the sums of the mixture, in float64 as on the processor.

Data-centre cards have fast float64 matrix products; on others this is the slow part.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hierseed.core.exact import Sums
from hierseed.core.mixture.gaussian_mixture import Mixture
from hierseed.core.mixture.quantization import Quantization
from hierseed.engines.torch.arrays import fetch
from hierseed.engines.torch.block import TorchBlock
from hierseed.engines.torch.exact import quantize


def counted(block: TorchBlock, quantization: Quantization, skip: NDArray) -> Tensor:
    """Rows of a block on the quantization, as whole numbers, seeds left out."""
    mine = skip[(skip >= block.start) & (skip < block.stop)] - block.start
    if not len(mine):
        return quantize(quantization.vectors, block.X)
    kept = torch.ones(len(block), dtype=torch.bool, device=block.device)
    kept[block.put(mine)] = False
    return quantize(quantization.vectors, block.X[kept])


def spread(block: TorchBlock, quantization: Quantization, skip: NDArray, total: int) -> Sums:
    """Number, sum and products of the documents that are no seeds."""
    X = counted(block, quantization, skip)
    return Sums((len(X), fetch(X.sum(dim=0)), fetch(X.T @ X)))


def totals(
    block: TorchBlock, mixture: Mixture, quantization: Quantization, skip: NDArray, total: int
) -> Sums:
    """Share out every document, and sum up."""
    X = counted(block, quantization, skip)
    share, log = shares(log_joint(block, X, mixture, quantization.unit))
    whole = quantize(quantization.shares, share)
    logs = float(quantize(quantization.logs, log).sum())
    return Sums((fetch(whole.sum(dim=0)), fetch(whole.T @ X), logs))


def closing(
    block: TorchBlock, mixture: Mixture, quantization: Quantization, skip: NDArray, total: int
) -> Sums:
    """The same after the last round: nobody asks for sums of vectors."""
    X = counted(block, quantization, skip)
    share, log = shares(log_joint(block, X, mixture, quantization.unit))
    weights = fetch(quantize(quantization.shares, share).sum(dim=0))
    logs = float(quantize(quantization.logs, log).sum())
    return Sums((weights, np.zeros(mixture.means.shape), logs))


def log_joint(block: TorchBlock, X: Tensor, mixture: Mixture, unit: float) -> Tensor:
    """Log of size x density for each document and component, without the common term."""
    L = X @ block.put(mixture.direction * unit)
    L += block.put(mixture.offset + mixture.log_size)
    return L


def shares(L: Tensor, temperature: float = 1.0) -> tuple[Tensor, Tensor]:
    """Share of each component in each document, and the log of their sum; L is overwritten."""
    if temperature != 1.0:
        L /= temperature
    top = L.amax(dim=1)
    L -= top[:, None]
    L.exp_()
    total = L.sum(dim=1)
    L /= total[:, None]
    return L, top + total.log()
