"""Kernels that sum rows by group, on a grid; see `core.exact`."""

from __future__ import annotations

from typing import Any

import numpy as np

from hierseed.core.kernels.jit import inner, kernel
from hierseed.core.kernels.llvm_kernels import prefetch
from hierseed.core.kernels.rows import AHEAD, read_row


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
