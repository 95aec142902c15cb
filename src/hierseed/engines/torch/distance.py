"""Squared distances, and the nearest centre of a row's own family (see `core.distance`).

On a card a kernel compares in half or single precision. Where its rounding could decide, the row
is compared again in float64, as on the processor, and a tie goes to the lower id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from hierseed.core.distance import TIE

CHUNK = 1 << 28  # numbers that are converted to float64 at a time


@dataclass(frozen=True)
class Centres:
    """Centres in float64, and the family each belongs to: a row is compared with its own only."""

    vectors: Tensor
    family: Tensor
    families: int

    @property
    def c2(self) -> Tensor:
        """Squared lengths."""
        return self.vectors.square().sum(dim=1)

    @property
    def longest(self) -> Tensor:
        """The largest squared length in each family."""
        zeros = self.vectors.new_zeros(self.families)
        return zeros.scatter_reduce(0, self.family.long(), self.c2, "amax")


def squared_distances(X: Tensor, C: Tensor, x2: Tensor) -> Tensor:
    """All squared distances between rows of X and of C, in float64."""
    D = X.double() @ (-2.0 * C).T
    D += x2[:, None]
    D += C.square().sum(dim=1)
    return D.clamp_(min=0.0)


def lowest(D: Tensor, scale: Tensor) -> Tensor:
    """Column of the least squared distance in each row; of tied ones the first."""
    return ((D.amin(dim=1) + TIE * scale)[:, None] >= D).to(torch.uint8).argmax(dim=1)


def nearest(
    X: Tensor, rows: Tensor | None, family: Tensor, centres: Centres, x2: Tensor
) -> tuple[Tensor, Tensor]:
    """Nearest centre of each row in its family, and how much farther the second is (not squared).

    `rows` picks rows of X, None takes all; `family` and `x2` are theirs. The margin is a lower
    bound, as in `core.distance`.
    """
    kernels = fused(X)
    if kernels is None:
        return _in_float64(X, rows, family, centres, x2)
    found, bound = kernels.assign(X, rows, family, centres, x2)
    close = torch.nonzero(~(bound > 0))[:, 0]  # also where a rounded centre is not finite
    best, margin = found.long(), bound.double()
    if len(close):
        chosen = close if rows is None else rows[close]
        best[close], margin[close] = _in_float64(X, chosen, family[close], centres, x2[close])
    return best, margin


def fused(X: Tensor) -> Any:
    """The module that calls the kernels; None without a card or without Triton."""
    if not X.is_cuda or X.dtype == torch.float64:
        return None
    try:
        from hierseed.engines.torch import launch
    except ImportError:
        return None
    return launch


def _in_float64(
    X: Tensor, rows: Tensor | None, family: Tensor, centres: Centres, x2: Tensor
) -> tuple[Tensor, Tensor]:
    best, margin = torch.empty_like(family, dtype=torch.long), torch.empty_like(x2)
    longest, step = centres.longest, max(CHUNK // max(*centres.vectors.shape), 1)
    for start in range(0, len(family), step):
        part = slice(start, start + step)
        chosen = X[part] if rows is None else X[rows[part]]
        D = squared_distances(chosen, centres.vectors, x2[part])
        if centres.families > 1:
            D[family[part, None] != centres.family] = torch.inf
        scale = x2[part] + longest[family[part]]
        at = best[part] = lowest(D, scale)
        first = D.gather(1, at[:, None])[:, 0]
        second = D.scatter_(1, at[:, None], torch.inf).amin(dim=1)
        rounding = 4 * (X.shape[1] + 4) * torch.finfo(torch.float64).eps
        error = scale * max(TIE, rounding)
        apart = (first + error).sqrt() + (second + error).sqrt()
        gap = (second - first - error) / apart.clamp_(min=torch.finfo(torch.float64).tiny)
        margin[part] = torch.where(second.isinf(), torch.inf, gap)
    return best, margin
