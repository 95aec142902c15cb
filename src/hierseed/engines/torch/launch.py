"""Launch the kernels: tile sizes, buffers, and the configurations that are tuned on a card."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import triton
from torch import Tensor

from hierseed.engines.torch.distance import Centres
from hierseed.engines.torch.kernels import assign_kernel, sum_kernel

LEAST_TILE, WIDEST_TILE = 16, 128  # columns of a matrix product
PIECE = 4096  # rows of a group that one program sums
EPS = torch.finfo(torch.float32).eps
SPLIT = 2.0**-16  # single precision goes through tensor cores in three parts: 12 * 2**-20 at most

# Tuned once for each dimension and number of centres; a configuration that does not fit a card is
# skipped. In half precision all fit Hopper's shared memory (227 KB), the last fits any card.
ASSIGN = [
    triton.Config({"ROWS": 128, "DEPTH": 64}, num_warps=8, num_stages=3),
    triton.Config({"ROWS": 128, "DEPTH": 64}, num_warps=8, num_stages=3, maxnreg=128),
    triton.Config({"ROWS": 256, "DEPTH": 64}, num_warps=8, num_stages=3),
    triton.Config({"ROWS": 64, "DEPTH": 32}, num_warps=4, num_stages=2),
]
SUM = [
    triton.Config({"ROWS": 16, "SLICE": 128}, num_warps=2),
    triton.Config({"ROWS": 16, "SLICE": 128}, num_warps=4),
    triton.Config({"ROWS": 64, "SLICE": 128}, num_warps=8),
]


def time_once(call: Callable[[], Any], quantiles: Sequence[float]) -> list[float]:
    """Milliseconds of one call after another; Triton's own timing takes ten calls at least.

    A call goes over millions of rows, so that one is enough, and ten take longer than a fit.
    """
    call()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    end.synchronize()
    return [begin.elapsed_time(end)] * len(quantiles)


_tuned_assign = triton.autotune(ASSIGN, key=["D", "WIDE", "TAIL"])(assign_kernel)
_tuned_sum = triton.autotune(SUM, key=["D"], reset_to_zero=["sums"])(sum_kernel)
for _tuned in (_tuned_assign, _tuned_sum):
    _tuned.do_bench = time_once


def tiles(n_centres: int) -> tuple[int, int]:
    """Columns of the wide tile and of the narrow one after it, which may be 0."""
    if n_centres <= WIDEST_TILE:
        return max(LEAST_TILE, triton.next_power_of_2(n_centres)), 0
    behind = min(n_centres - WIDEST_TILE, WIDEST_TILE)
    return WIDEST_TILE, max(LEAST_TILE, triton.next_power_of_2(behind))


def assign(
    X: Tensor, rows: Tensor | None, family: Tensor, centres: Centres, x2: Tensor
) -> tuple[Tensor, Tensor]:
    """Nearest centre of each row among its family's, and a lower bound of its margin.

    Where the margin is not above 0, rounding could decide. X in float16 or float32; centres are
    converted to its type. `rows` picks rows of X, None takes all; `family` and `x2` are theirs.
    """
    C, width, n = centres.vectors, X.shape[1], len(family)
    wide, behind = tiles(len(C))
    size = -(-len(C) // (wide + behind)) * (wide + behind)
    rounded = X.new_zeros((size, width))
    rounded[: len(C)] = C.to(X.dtype)
    c2 = torch.full((size,), torch.inf, device=X.device)
    c2[: len(C)] = centres.c2
    theirs = torch.full((size,), -1, dtype=torch.int32, device=X.device)
    theirs[: len(C)] = centres.family
    # rounding a centre changes a product by at most this times the length of the row
    moved = 4.0 * (C - rounded[: len(C)].double()).norm(dim=1).amax()
    best = torch.empty(n, dtype=torch.int32, device=X.device)
    margin = torch.empty(n, device=X.device)
    if n:
        _start(
            _tuned_assign, assign_kernel, ASSIGN, lambda size: (-(-n // size["ROWS"]),), X,
            best if rows is None else rows, family, x2, rounded, c2, theirs,
            centres.longest.float(), moved.float(), best, margin,
            n, len(C), width, 4 * (width + 4) * EPS + SPLIT,
            D=width, GATHER=rows is not None, FAMILIES=centres.families > 1,
            EVEN=width % 64 == 0, PRECISION="tf32x3", WIDE=wide, TAIL=behind,
        )  # fmt: skip
    return best, margin


def sum_by_group(
    X: Tensor, rows: Tensor | None, group: Tensor, n_groups: int, scale: float, on_grid: bool
) -> tuple[Tensor, Tensor]:
    """Sum, by group, of rows times `scale` rounded to whole numbers, in float64, exact; and counts.

    `on_grid`: they are whole numbers already. Nothing here synchronises with the card.
    """
    sums = torch.zeros((n_groups, X.shape[1]), dtype=torch.float64, device=X.device)
    key, order = torch.sort(group.to(torch.uint8) if n_groups <= 256 else group)
    number = torch.arange(n_groups, device=X.device).to(key.dtype)
    ends = torch.searchsorted(key, number, right=True)
    if len(group):
        piece = pieces(ends, len(group))
        _start(
            _tuned_sum, sum_kernel, SUM,
            lambda size: (len(piece), -(-X.shape[1] // size["SLICE"])), X,
            order if rows is None else rows[order].long(), piece, sums, scale,
            D=X.shape[1], EVEN=X.shape[1] % 128 == 0, ON_GRID=on_grid,
        )  # fmt: skip
    return sums, ends.diff(prepend=ends.new_zeros(1))


def pieces(ends: Tensor, total: int) -> Tensor:
    """Group, first and last place of pieces of at most `PIECE` rows sorted by group.

    As many as there can be, so that no count has to be fetched; the last ones are empty.
    """
    begins = torch.cat([ends.new_zeros(1), ends[:-1]])
    number = (ends - begins + PIECE - 1) // PIECE
    upto = torch.cumsum(number, dim=0)
    at = torch.arange(total // PIECE + len(ends), device=ends.device)
    group = torch.searchsorted(upto, at, right=True).clamp_(max=len(ends) - 1)
    begin = begins[group] + (at - (upto - number)[group]) * PIECE
    return torch.stack([group, begin, torch.minimum(begin + PIECE, ends[group])], dim=1)


def _start(
    tuned: Any, plain: Any, settings: list[Any], grid: Any, X: Tensor, *args: Any, **sizes: Any
) -> None:
    if X.is_cuda:
        with torch.cuda.device(X.device):
            tuned[grid](X, *args, **sizes)
    else:  # Triton's interpreter can't tune
        plain[grid](X, *args, **sizes, **settings[0].kwargs)


def settings() -> dict[str, list[str]]:
    """Configurations chosen on this card, for each dimension and number of centres."""
    return {
        name: [f"{key}: {value}" for key, value in tuned.cache.items()]
        for name, tuned in (("assign", _tuned_assign), ("sum", _tuned_sum))
    }
