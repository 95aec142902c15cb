# mypy: disable-error-code="no-untyped-def, untyped-decorator, misc"
"""Triton kernels of the mixture's steps: each reads its numbers once and writes its result once.

Written with torch's own functions the same steps read and write float64 arrays up to eight times,
and took most of a fit. Similarities to neighbours are products of whole numbers below 2**12: each
is the sum of two float16 numbers, so tensor cores give them exactly.
"""

from __future__ import annotations

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

ROUND = tl.constexpr(6755399441055744.0)  # 1.5 * 2**52: added and subtracted it rounds
LARGEST = tl.constexpr(16777216)  # no similarity is larger
HALF = 2**11  # up to here a float16 holds every whole number
MOST_REFERENCES = 4096


@triton.jit(do_not_specialize=["n", "factor"])
def round_kernel(X, out, n, factor, SIZE: tl.constexpr):
    """Numbers times a power of two, rounded to whole numbers in float64."""
    at = tl.program_id(0).to(tl.int64) * SIZE + tl.arange(0, SIZE)
    whole = tl.load(X + at, mask=at < n, other=0.0).to(tl.float64) * factor
    tl.store(out + at, (whole + ROUND) - ROUND, mask=at < n)


@triton.jit(do_not_specialize=["n", "width"])
def norms_kernel(X, out, n, width, ROWS: tl.constexpr, DEPTH: tl.constexpr):
    """Squared length of each row, in float64."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, DEPTH), tl.float64)
    for start in range(0, width, DEPTH):
        column = start + tl.arange(0, DEPTH)
        known = (row < n)[:, None] & (column < width)[None, :]
        at = X + row[:, None] * width + column[None, :]
        x = tl.load(at, mask=known, other=0.0).to(tl.float64)
        total += x * x
    tl.store(out + row, tl.sum(total, axis=1), mask=row < n)


@triton.jit(do_not_specialize=["n", "width", "length"])
def directions_kernel(
    X, centre, out, n, width, length, ROWS: tl.constexpr, DEPTH: tl.constexpr
):  # fmt: skip
    """Rows less a centre, scaled to a length, rounded; a row at the centre is zero."""
    row = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, DEPTH), tl.float64)
    for start in range(0, width, DEPTH):
        column = start + tl.arange(0, DEPTH)
        known = (row < n)[:, None] & (column < width)[None, :]
        at = X + row[:, None] * width + column[None, :]
        middle = tl.load(centre + column, mask=column < width, other=0.0)
        away = tl.load(at, mask=known, other=0.0).to(tl.float64) - middle[None, :]
        away = tl.where(known, away, 0.0)
        total += away * away
    size = tl.sqrt(tl.sum(total, axis=1))
    scale = length / tl.where(size > 0, size, float("inf"))
    for start in range(0, width, DEPTH):
        column = start + tl.arange(0, DEPTH)
        known = (row < n)[:, None] & (column < width)[None, :]
        place = row[:, None] * width + column[None, :]
        middle = tl.load(centre + column, mask=column < width, other=0.0)
        away = tl.load(X + place, mask=known, other=0.0).to(tl.float64) - middle[None, :]
        whole = (away * scale[:, None] + ROUND) - ROUND
        tl.store(out + place, whole.to(tl.float32), mask=known)


@triton.jit(do_not_specialize=["n", "m", "width"])
def product_kernel(
    U, high, low, out, n, m, width,
    SPLIT: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Products of rows of whole numbers; `high + low` are the rows of the other matrix.

    Without SPLIT all numbers fit a float16.
    """
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    row = tl.program_id(1).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, width, DEPTH):
        depth = start + tl.arange(0, DEPTH)
        known = (row < n)[:, None] & (depth < width)[None, :]
        u = tl.load(U + row[:, None] * width + depth[None, :], mask=known, other=0.0)
        known = (column < m)[:, None] & (depth < width)[None, :]
        place = column[:, None] * width + depth[None, :]
        first = tl.trans(tl.load(high + place, mask=known, other=0.0))
        big = u.to(tl.float16)
        total = tl.dot(big, first, total)
        if SPLIT:
            second = tl.trans(tl.load(low + place, mask=known, other=0.0))
            small = (u - big.to(tl.float32)).to(tl.float16)
            total = tl.dot(big, second, total)
            total = tl.dot(small, first, total)
            total = tl.dot(small, second, total)
    known = (row < n)[:, None] & (column < m)[None, :]
    tl.store(out + row[:, None] * m + column[None, :], total, mask=known)


@triton.jit(do_not_specialize=["m", "k"])
def nearest_kernel(S, values, count_out, sum_out, largest_out, m, k, SIZE: tl.constexpr):
    """Entries of a row at least as large as its k-th largest: how many, sum of their values.

    Entries are whole numbers. The interval that holds the k-th largest is halved until k entries
    lie above its middle, or nothing is left to halve where some are equal.
    """
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, SIZE)
    s = tl.load(S + row * m + column, mask=column < m, other=float("-inf"))
    largest = tl.max(s, axis=0)
    low, high = tl.full((), -LARGEST, tl.int32), largest.to(tl.int32)
    count = m + 0
    while (low < high) & (count != k):
        middle = (low + high + 1) >> 1
        above = tl.sum((s >= middle.to(tl.float32)).to(tl.int32), axis=0)
        enough = above >= k
        count = tl.where(enough, above, count)
        low = tl.where(enough, middle, low)
        high = tl.where(enough, high, middle - 1)
    mine = s >= low.to(tl.float32)
    value = tl.load(values + column, mask=column < m, other=0)
    tl.store(count_out + row, tl.sum(mine.to(tl.int32), axis=0))
    tl.store(sum_out + row, tl.sum(tl.where(mine, value, 0), axis=0).to(tl.float64))
    tl.store(largest_out + row, largest)


@triton.jit(do_not_specialize=["n", "k", "stride"])
def shares_kernel(
    L, scale, log_out, n, k, stride, COLUMNS: tl.constexpr, CHUNK: tl.constexpr
):  # fmt: skip
    """Turn logs of each column into shares of its scale, rounded; and the log of their sum."""
    column = tl.program_id(0).to(tl.int64) * COLUMNS + tl.arange(0, COLUMNS)
    inside = column < n
    top = tl.full((COLUMNS,), float("-inf"), tl.float64)
    for start in range(0, k, CHUNK):
        row = start + tl.arange(0, CHUNK)
        known = (row < k)[:, None] & inside[None, :]
        at = L + row[:, None] * stride + column[None, :]
        top = tl.maximum(top, tl.max(tl.load(at, mask=known, other=float("-inf")), axis=0))
    top = tl.where(inside, top, 0.0)
    total = tl.zeros((COLUMNS,), tl.float64)
    for start in range(0, k, CHUNK):
        row = start + tl.arange(0, CHUNK)
        known = (row < k)[:, None] & inside[None, :]
        at = L + row[:, None] * stride + column[None, :]
        logs = tl.load(at, mask=known, other=float("-inf"))
        total += tl.sum(tl.exp(logs - top[None, :]), axis=0)
    factor = tl.load(scale + column, mask=inside, other=0.0) / tl.where(inside, total, 1.0)
    for start in range(0, k, CHUNK):
        row = start + tl.arange(0, CHUNK)
        known = (row < k)[:, None] & inside[None, :]
        at = L + row[:, None] * stride + column[None, :]
        share = tl.exp(tl.load(at, mask=known, other=0.0) - top[None, :]) * factor[None, :]
        tl.store(at, (share + ROUND) - ROUND, mask=known)
    tl.store(log_out + column, top + tl.log(tl.where(inside, total, 1.0)), mask=inside)


def scale_and_round(X: Tensor, factor: float) -> Tensor:
    """X times a power of two, rounded to whole numbers in float64."""
    out = torch.empty(X.shape, dtype=torch.float64, device=X.device)
    round_kernel[(-(-X.numel() // 4096),)](X, out, X.numel(), factor, SIZE=4096, num_warps=8)
    return out


def is_power_of_two(factor: float) -> bool:
    """Whether a kernel, which takes numbers in single precision, gets this one exactly."""
    return math.frexp(factor)[0] == 0.5 and abs(math.log2(factor)) < 100


def squared_norms(X: Tensor) -> Tensor:
    """Squared length of each row, in float64."""
    out = torch.empty(len(X), dtype=torch.float64, device=X.device)
    norms_kernel[(-(-len(X) // 16),)](X, out, *X.shape, ROWS=16, DEPTH=128)
    return out


def round_directions(X: Tensor, centre: Tensor, length: float) -> Tensor:
    """Rows less a centre, scaled to a length, rounded; in float32."""
    out = torch.empty(X.shape, dtype=torch.float32, device=X.device)
    centre = centre.double().expand(X.shape[1]).contiguous()
    directions_kernel[(-(-len(X) // 8),)](X, centre, out, *X.shape, length, ROWS=8, DEPTH=128)
    return out


def whole_product(U: Tensor, V: Tensor) -> Tensor:
    """Products of rows of whole numbers below 2**12, exact in float32."""
    high = V.half()
    low = (V - high.float()).half()
    split = bool((U.abs().amax() > HALF) | (V.abs().amax() > HALF))
    n, m = len(U), len(V)
    out = torch.empty((n, m), dtype=torch.float32, device=U.device)
    tiles = -(-m // 128), -(-n // 128)
    product_kernel[tiles](
        U, high, low, out, n, m, U.shape[1],
        SPLIT=split, ROWS=128, COLUMNS=128, DEPTH=64, num_warps=8, num_stages=3,
    )  # fmt: skip
    return out


def sum_of_nearest(S: Tensor, k: int, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Largest entry of each row, number and sum of the values of its k largest, ties included."""
    n, m = S.shape
    count = torch.empty(n, dtype=torch.int32, device=S.device)
    total = torch.empty(n, dtype=torch.float64, device=S.device)
    largest = torch.empty(n, dtype=torch.float32, device=S.device)
    nearest_kernel[(n,)](
        S, values.int(), count, total, largest, m, k,
        SIZE=triton.next_power_of_2(m), num_warps=1 if m <= 1024 else 4,
    )  # fmt: skip
    return largest, count, total


def round_shares(L: Tensor, scale: Tensor) -> tuple[Tensor, Tensor]:
    """Shares of each column of logs, rounded, in their place; and the log of the sum."""
    log = torch.empty(L.shape[1], dtype=torch.float64, device=L.device)
    shares_kernel[(-(-L.shape[1] // 32),)](
        L, scale, log, L.shape[1], L.shape[0], L.stride(0), COLUMNS=32, CHUNK=32
    )
    return L, log
