"""Twin of `core.anchor.strangers`: documents far from every seeded topic."""

from __future__ import annotations

import torch
from numpy.typing import NDArray
from torch import Tensor

from hierseed.core.anchor.lattice import Lattice
from hierseed.core.exact import Sums
from hierseed.scale.gpu.block import TorchBlock, fetch
from hierseed.scale.gpu.exact import count, tally
from hierseed.scale.gpu.moments import counted


def distances(
    block: TorchBlock, means: NDArray, noise: NDArray, lattice: Lattice, skip: NDArray, total: int
) -> Sums:
    """How many documents, and the sums of their squared distances and of the squares of these."""
    X = counted(block, lattice, skip)
    _, away = nearest(block, X, means, noise, lattice)
    grid = lattice.logs
    return Sums((len(X), float(count(grid, away).sum()), float(count(grid, away**2).sum())))


def far(
    block: TorchBlock,
    limit: float,
    centres: NDArray,
    home: NDArray,
    none: int,
    means: NDArray,
    noise: NDArray,
    lattice: Lattice,
    skip: NDArray,
    total: int,
) -> Sums:
    """Strangers go to Other beside their nearest topic, or to None if the root is nearer yet."""
    X = counted(block, lattice, skip)
    best, away = nearest(block, X, means, noise, lattice)
    strange = torch.nonzero(away > limit)[:, 0]
    X, rest = X[strange], block.put(home)[best[strange]]
    if none >= 0:
        place = block.put(centres)
        beside = (X * lattice.unit - place[rest]).square_().sum(dim=1)
        root = (X * lattice.unit - place[none]).square_().sum(dim=1)
        rest = torch.where(beside < root, rest, none)
    at = torch.nonzero(rest >= 0)[:, 0]
    rest, n = rest[at], len(centres)
    sums = X.new_zeros((n, X.shape[1])).index_add_(0, rest, X[at])
    return Sums((fetch(tally(rest, n)).astype(float), fetch(sums)))


def nearest(
    block: TorchBlock, X: Tensor, means: NDArray, noise: NDArray, lattice: Lattice
) -> tuple[Tensor, Tensor]:
    """Nearest mean and its squared distance, in units of the longest vector's square."""
    unit = lattice.unit * 2.0**-lattice.exponent
    scaled = block.put(means * 2.0**-lattice.exponent)
    D = X @ (scaled.T * (-2.0 * unit))
    D += scaled.square().sum(dim=1)
    D += (X.square().sum(dim=1) * unit**2)[:, None]
    D /= block.put(noise)
    D = (D.clamp_(min=0.0) * 2.0**30).round_() * 2.0**-30  # so that no limit is met by a hair
    best = D.argmin(dim=1)
    return best, D.gather(1, best[:, None])[:, 0]
