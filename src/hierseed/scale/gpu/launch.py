"""Call the kernels: sizes of tiles, buffers, and the settings that are tried on a new card."""

from __future__ import annotations

from typing import Any

import torch
import triton
from torch import Tensor

from hierseed.scale.gpu.kernels import assign_kernel, sum_kernel

LEAST_TILE, WIDEST_TILE = 16, 128  # columns of a matrix product
PIECE = 1024  # rows of a group that one program adds up

# tried once for each dimension and number of centres; all fit Hopper's shared memory (227 KB)
ASSIGN = [
    triton.Config({"ROWS": 128, "DEPTH": 64}, num_warps=8, num_stages=3),
    triton.Config({"ROWS": 128, "DEPTH": 64}, num_warps=8, num_stages=3, maxnreg=128),
    triton.Config({"ROWS": 64, "DEPTH": 64}, num_warps=4, num_stages=3),
]
SUM = [
    triton.Config({"ROWS": 32, "SLICE": 128}, num_warps=4),
    triton.Config({"ROWS": 16, "SLICE": 128}, num_warps=4),
    triton.Config({"ROWS": 16, "SLICE": 64}, num_warps=2),
]
_tuned_assign = triton.autotune(ASSIGN, key=["D", "WIDE", "TAIL"])(assign_kernel)
_tuned_sum = triton.autotune(SUM, key=["D"], reset_to_zero=["sums"])(sum_kernel)


def tiles(n_centres: int) -> tuple[int, int]:
    """Columns of the wide tile and of the one behind it, which may be 0."""
    if n_centres <= WIDEST_TILE:
        return max(LEAST_TILE, triton.next_power_of_2(n_centres)), 0
    behind = min(n_centres - WIDEST_TILE, WIDEST_TILE)
    return WIDEST_TILE, max(LEAST_TILE, triton.next_power_of_2(behind))


def assign(
    X: Tensor, C: Tensor, rows: Tensor | None, family: Tensor | None, of_centre: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Nearest centre of each row among its family's, and the least and second least score.

    A score is a squared distance less the row's own square. X in float16 or float32, C in
    float64; the product takes C as X is. `rows` picks and orders rows of X, None takes all; a
    `family` of None: there is only one.
    """
    width, n = X.shape[1], len(X) if rows is None else len(rows)
    wide, behind = tiles(len(C))
    size = -(-len(C) // (wide + behind)) * (wide + behind)
    padded = X.new_zeros((size, width))
    padded[: len(C)] = C.to(X.dtype)
    c2 = torch.full((size,), torch.inf, device=X.device)
    c2[: len(C)] = (C * C).sum(dim=1)
    theirs = torch.full((size,), -2, dtype=torch.int32, device=X.device)
    theirs[: len(C)] = of_centre
    best = torch.empty(n, dtype=torch.int32, device=X.device)
    first, second = torch.empty((2, n), device=X.device)
    if not n:
        return best, first, second
    _start(
        _tuned_assign, assign_kernel, ASSIGN, lambda size: (-(-n // size["ROWS"]),), X.is_cuda,
        X, best if rows is None else rows, best if family is None else family,
        padded, c2, theirs, best, first, second, n, len(C),
        D=width, GATHER=rows is not None, FAMILIES=family is not None,
        EVEN=width % 64 == 0, PRECISION="tf32x3", WIDE=wide, TAIL=behind,
    )  # fmt: skip
    return best, first, second


def sum_by_group(
    X: Tensor, rows: Tensor | None, group: Tensor, n_groups: int, scale: float, on_grid: bool
) -> Tensor:
    """Sum, by group, of rows times `scale` rounded to whole numbers; in float64, exact.

    `on_grid`: they are whole numbers already.
    """
    sums = torch.zeros((n_groups, X.shape[1]), dtype=torch.float64, device=X.device)
    if not len(group):
        return sums
    order = torch.sort(group.to(torch.uint8) if n_groups <= 256 else group)[1]
    piece = pieces(torch.bincount(group, minlength=n_groups))
    _start(
        _tuned_sum, sum_kernel, SUM,
        lambda size: (len(piece), -(-X.shape[1] // size["SLICE"])), X.is_cuda,
        X, order if rows is None else rows[order].long(), piece, sums, scale,
        D=X.shape[1], EVEN=X.shape[1] % 128 == 0, ON_GRID=on_grid,
    )  # fmt: skip
    return sums


def pieces(counts: Tensor) -> Tensor:
    """Group, first and last place of pieces of at most `PIECE` rows sorted by group."""
    number = (counts + PIECE - 1) // PIECE
    group = torch.repeat_interleave(number)
    ends = torch.cumsum(counts, dim=0)
    before = torch.cumsum(number, dim=0) - number
    nth = torch.arange(len(group), device=counts.device) - before[group]
    begin = (ends - counts)[group] + nth * PIECE
    return torch.stack([group, begin, torch.minimum(begin + PIECE, ends[group])], dim=1)


def _start(
    tuned: Any, plain: Any, settings: list[Any], grid: Any, on_card: bool, *args: Any, **sizes: Any
) -> None:
    if on_card:
        tuned[grid](*args, **sizes)
    else:  # Triton's interpreter, which has no clock to choose by
        plain[grid](*args, **sizes, **settings[0].kwargs)
