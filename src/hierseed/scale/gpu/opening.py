"""Twin of `core.anchor.opening`'s pass: the half of each topic that lies away from its seeds."""

from __future__ import annotations

from numpy.typing import NDArray

from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.mixture import Mixture
from hierseed.core.exact import Sums
from hierseed.scale.gpu.block import TorchBlock, fetch
from hierseed.scale.gpu.exact import count
from hierseed.scale.gpu.moments import counted, log_joint, shares


def far_halves(
    block: TorchBlock,
    mixture: Mixture,
    cut: NDArray,
    level: NDArray,
    lattice: Lattice,
    skip: NDArray,
    total: int,
) -> Sums:
    """Documents beyond each topic's middle, and their sum."""
    X = counted(block, lattice, skip)
    share = shares(log_joint(block, X, mixture, lattice.unit))[0][:, : len(level)]
    beyond = (X @ block.put(cut * lattice.unit) - block.put(level)).round(decimals=9) < 0
    whole = count(lattice.shares, share) * beyond
    return Sums((fetch(whole.sum(dim=0)), fetch(whole.T @ X)))
