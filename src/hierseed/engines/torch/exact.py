"""Rows rounded to a grid and summed by group, to the same bits as `core.exact`.

The terms are whole numbers in float64, so a card may add them in any order.
"""

from __future__ import annotations

import torch
from torch import Tensor

from hierseed.core.exact import Grid
from hierseed.engines.torch.distance import CHUNK, fused

MOST_BITS = 100  # a kernel takes the step of the grid in single precision
HALVES = 24  # every float16 is a multiple of 2**-24


def sum_rows(
    X: Tensor, rows: Tensor | None, group: Tensor, n_groups: int, grid: Grid
) -> tuple[Tensor, Tensor]:
    """Sum of rows on the grid by group: (groups, dimensions); and their number.

    `rows` picks rows of X, None takes all.
    """
    kernels = fused(X)
    if kernels is not None and abs(grid.bits) < MOST_BITS:
        on_grid = X.dtype == torch.float16 and grid.bits >= HALVES
        found: tuple[Tensor, Tensor] = kernels.sum_by_group(
            X, rows, group, n_groups, 2.0**grid.bits, on_grid
        )
        return found
    sums = torch.zeros((n_groups, X.shape[1]), dtype=torch.float64, device=X.device)
    step = max(CHUNK // X.shape[1], 1)
    for start in range(0, len(group), step):
        part = slice(start, start + step)
        chosen = X[part] if rows is None else X[rows[part]]
        sums.index_add_(0, group[part], (chosen.double() * 2.0**grid.bits).round_())
    return sums, torch.bincount(group, minlength=n_groups)
