"""A kernel that prepares rows: the mean subtracted, blocks weighted, unit length."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hierseed.core.kernels.jit import inner, kernel
from hierseed.core.kernels.rows import read_row


@kernel()
def prepare_rows(
    X: Any, mean: Any, first: Any, last: Any, weight: Any, unit: bool, found: Any
) -> None:
    """Prepare all rows as `embed.prepare` does; rows of zeros stay zero.

    `mean` : empty for none
    `first`, `last`, `weight` : columns and factor of each block that is kept; with a factor of NaN
        a block stays as it is
    """
    row, whole = np.empty((1, X.shape[1]), np.float32), np.empty((1, found.shape[1]), np.float32)
    for i in range(X.shape[0]):
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
