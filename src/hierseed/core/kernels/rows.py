"""Kernels that read rows (float16 is converted on the way), prepare them, and sum them by group."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.typing import NDArray

from hierseed.core.kernels.jit import inner, kernel
from hierseed.core.kernels.llvm_kernels import LANES, prefetch, widening

AHEAD = 16  # rows that are fetched before they are read

_widen_one, _widen_many = widening(1), widening(LANES)


def source(X: NDArray[Any]) -> NDArray[Any]:
    """Rows as the kernels take them: float16 as its bits, and read-only, so one compilation."""
    X = X.view(np.int16) if X.dtype == np.float16 else X.view()
    X.flags.writeable = False
    return X


def read_row(X: Any, i: Any, rows: Any, to: Any) -> Any:
    """Copy a row to a place among float32 rows; float16 is given as int16 bits."""


@overload(read_row)
def _read_row(X: Any, i: Any, rows: Any, to: Any) -> Any:
    if X.dtype != types.int16:

        def copy(X: Any, i: Any, rows: Any, to: Any) -> Any:
            for j in range(X.shape[1]):
                rows[to, j] = X[i, j]

        return copy

    def convert(X: Any, i: Any, rows: Any, to: Any) -> Any:
        width = X.shape[1]
        whole = width - width % LANES
        for at in range(0, whole, LANES):
            _widen_many(X, i * width + at, rows, to * width + at)
        for at in range(whole, width):
            _widen_one(X, i * width + at, rows, to * width + at)

    return convert


def read_wide(X: Any, i: Any, narrow: Any, wide: Any) -> Any:
    """Copy a row to float64; `narrow` is room for one in float32."""


@overload(read_wide)
def _read_wide(X: Any, i: Any, narrow: Any, wide: Any) -> Any:
    if X.dtype == types.float64:

        def copy(X: Any, i: Any, narrow: Any, wide: Any) -> Any:
            for j in range(X.shape[1]):
                wide[0, j] = X[i, j]

        return copy

    def convert(X: Any, i: Any, narrow: Any, wide: Any) -> Any:
        read_row(X, i, narrow, 0)
        for j in range(X.shape[1]):
            wide[0, j] = narrow[0, j]

    return convert


@inner()
def read_strip(X: Any, start: int, rows: Any, begin: int, some: int, strip: Any) -> None:
    """Copy some rows, from `begin` on, into a strip; no `rows`: rows in their order."""
    for i in range(some):
        if len(rows):
            prefetch(X, start + rows[min(begin + i + AHEAD, len(rows) - 1)])
            read_row(X, start + rows[begin + i], strip, i)
        else:
            read_row(X, start + begin + i, strip, i)


@kernel()
def widen(halves: Any, floats: Any) -> None:
    """Convert rows of float16, given as int16 bits, to float32."""
    for i in range(halves.shape[0]):
        read_row(halves, i, floats, i)


@kernel()
def half_norms(X: Any, start: int, found: Any) -> None:
    """Squared lengths of rows of float16: exact, so in any order, while they are below 32."""
    row = np.empty((1, X.shape[1]), np.float32)
    for i in range(len(found)):
        read_row(X, start + i, row, 0)
        found[i] = squared(row, 0)


@inner(fastmath={"reassoc", "contract"})
def squared(X: Any, i: int) -> float:
    """Squared length of a row, in float64."""
    total = 0.0
    for j in range(X.shape[1]):
        total += np.float64(X[i, j]) * np.float64(X[i, j])
    return total


@kernel()
def prepare_rows(
    X: Any, rows: Any, mean: Any, first: Any, last: Any, weight: Any, unit: bool, found: Any
) -> None:
    """Prepare some rows as `embed.prepare` does, all if `rows` is empty; rows of zeros stay zero.

    `mean` : empty for none
    `first`, `last`, `weight` : columns and factor of each block that is kept; with a factor of NaN
        a block stays as it is
    """
    row, whole = np.empty((1, X.shape[1]), np.float32), np.empty((1, found.shape[1]), np.float32)
    for i in range(found.shape[0]):
        if len(rows):
            prefetch(X, rows[min(i + AHEAD, len(rows) - 1)])
            read_row(X, rows[i], row, 0)
        else:
            read_row(X, i, row, 0)
        if not has_content(row):
            for j in range(found.shape[1]):
                found[i, j] = 0.0
            continue
        for j in range(len(mean)):
            row[0, j] -= mean[j]
        at = 0
        for block in range(len(first)):
            part = np.empty((1, last[block] - first[block]), np.float32)
            for j in range(part.shape[1]):
                part[0, j] = row[0, first[block] + j]
            if not math.isnan(weight[block]):
                length = length_of(part)
                for j in range(part.shape[1]):
                    part[0, j] = part[0, j] / length * weight[block]
            for j in range(part.shape[1]):
                whole[0, at + j] = part[0, j]
            at += part.shape[1]
        if not len(first):
            whole = row
        length = length_of(whole) if unit else np.float32(1.0)
        for j in range(found.shape[1]):
            found[i, j] = whole[0, j] / length


@inner()
def has_content(row: Any) -> bool:
    """Whether any number is not zero."""
    for j in range(row.shape[1]):  # noqa: SIM110 - numba compiles no generator
        if row[0, j] != 0.0:
            return True
    return False


@inner(fastmath={"reassoc", "contract"})
def length_of(row: Any) -> Any:
    """Length of a row, summed up in float64; 1 for one of zeros."""
    total = 0.0
    for j in range(row.shape[1]):
        total += np.float64(row[0, j]) * np.float64(row[0, j])
    length = np.float32(math.sqrt(total))
    return length if length > 0.0 else np.float32(1.0)


@kernel()
def move(sums: Any, counts: Any, X: Any, to: Any, out_of: Any, step: float) -> None:
    """Move rows from one group (-1: none) to another, where these differ."""
    for i in range(X.shape[0]):
        if to[i] != out_of[i]:
            move_one(sums, counts, X, i, to[i], np.int64(out_of[i]), step)


@kernel()
def add_rows(
    X: Any, start: int, rows: Any, groups: Any, sums: Any, counts: Any, step: float
) -> None:
    """Add some rows to their groups."""
    row = np.empty((1, X.shape[1]), np.float32)
    for i in range(len(rows)):
        prefetch(X, start + rows[min(i + AHEAD, len(rows) - 1)])
        read_row(X, start + rows[i], row, 0)
        move_one(sums, counts, row, np.int64(0), groups[i], np.int64(-1), step)


@inner()
def move_one(sums: Any, counts: Any, X: Any, i: int, to: int, out_of: int, step: float) -> None:
    """Move one row to a group, from another unless that is -1."""
    add(sums, to, X, i, step)
    counts[to] += 1
    if out_of >= 0:
        add(sums, out_of, X, i, -step)
        counts[out_of] -= 1


@inner()
def add(sums: Any, group: int, X: Any, i: int, step: float) -> None:
    """Round a row to whole multiples of a grid, and add it to a group."""
    for j in range(X.shape[1]):
        sums[group, j] += np.rint(np.float64(X[i, j]) * step)
