"""Twin of `core.anchor.sample`'s pass: a sample chosen by what documents say."""

from __future__ import annotations

import torch
from numpy.typing import NDArray

from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.sample import GOLDEN, Rows
from hierseed.scale.gpu.block import TorchBlock, fetch
from hierseed.scale.gpu.exact import count


def chosen(block: TorchBlock, lattice: Lattice, rows: NDArray, every: int, total: int) -> Rows:
    """One document in so many, seeds left out."""
    number = torch.remainder(count(lattice.vectors, block.X).sum(dim=1) * GOLDEN, 1.0)
    mine = rows[(rows >= block.start) & (rows < block.stop)] - block.start
    number[block.put(mine, torch.long)] = 1.0
    kept = block.X[number < 1 / every]
    kept = kept if kept.dtype == torch.float64 else kept.float()
    return Rows([fetch(kept)] if len(kept) else [])
