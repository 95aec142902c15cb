"""Sums that do not depend on the order of their terms.

Each term is rounded to a multiple of 2**-q, with q such that a sum of all n terms still fits the
53 bits of a float64. Every partial sum is then exact, and so is the total: for any row
order, block size, thread count or engine, and also when terms are subtracted again. The rounding
is 2**-53 of the largest possible sum, far below what float32 vectors hold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hierseed.core.arrays import NUMPY, Array, Arrays, Floats
from hierseed.core.kernels.compiled import aligned_zeros, compiled

SINGLE = 24  # bits of a float32: quantized values fit one
WEIGHT = 3  # bits of the weight of a document


@dataclass(frozen=True)
class Grid:
    """The multiples of 2**-bits; sums are carried as whole numbers in float64."""

    bits: int

    @classmethod
    def holding(cls, n: int, largest: float) -> Grid:
        """Return the finest grid on which n terms of at most `largest` add up exactly."""
        bound = max(n, 1) * max(largest, 1e-150)
        return cls(52 - math.ceil(math.log2(bound)))

    @classmethod
    def for_products(cls, n: int, largest: float) -> Grid:
        """Return the finest grid on which sums of n products of two such terms are exact."""
        return cls(
            (52 - math.ceil(math.log2(max(n, 1)))) // 2 - math.ceil(math.log2(max(largest, 1e-75)))
        )

    def quantize(self, values: Array, xp: Arrays = NUMPY) -> Array:
        """Round to whole multiples of the grid's step."""
        return xp.scale_and_round(values, 2.0**self.bits)

    def dequantize(self, counted: Floats) -> Floats:
        """Turn whole multiples of the step back into numbers."""
        return counted * 2.0**-self.bits


class Sums(tuple[Any, ...]):
    """Several sums of one step, as whole numbers; merged item by item."""

    def merge(self, other: Self) -> Self:
        """Merge with the sums of other documents."""
        return type(self)(mine + theirs for mine, theirs in zip(self, other))


def merge_by_key(
    keys: list[NDArray[np.integer]], values: list[NDArray[Any]]
) -> tuple[NDArray[np.integer], NDArray[Any]]:
    """Sum the rows that share a key, over several lists in which each key occurs once."""
    if all(np.array_equal(keys[0], some) for some in keys[1:]):
        return keys[0], sum(values[1:], start=values[0])
    present = np.unique(np.concatenate(keys))
    total = np.zeros((len(present), *values[0].shape[1:]), dtype=values[0].dtype)
    for some, rows in zip(keys, values):
        total[np.searchsorted(present, some)] += rows
    return present, total


def sum_by_group(groups: NDArray[np.integer], values: Floats, n_groups: int) -> Floats:
    """Sum of the rows of each group."""
    n = len(groups)
    chosen = sparse.csc_matrix((np.ones(n), groups, np.arange(n + 1)), shape=(n_groups, n))
    return chosen @ values


class Tally:
    """Number and sum of the rows in each group; rows may be added and removed in any order.

    Attributes
    ----------
    sums : (groups, width), whole multiples of the grid
    counts : (groups,)
    """

    def __init__(self, n_groups: int, width: int, grid: Grid) -> None:
        self.sums: Floats = aligned_zeros((n_groups, width), np.float64)
        self.counts = np.zeros(n_groups, dtype=np.intp)
        self._grid = grid

    @property
    def step(self) -> float:
        """Factor that rows are multiplied by before rounding."""
        return 2.0**self._grid.bits

    def move(
        self, X: NDArray[np.floating], to: NDArray[np.integer], out_of: NDArray[np.integer]
    ) -> None:
        """Move each row of X from the group `out_of` (-1: none) to the group `to`."""
        kernels = compiled(X.size)
        if kernels:
            kernels.move(self.sums, self.counts, X, to, out_of, self.step)
            return
        changed = np.flatnonzero(to != out_of)
        if len(changed) < len(X):
            X, to, out_of = X[changed], to[changed], out_of[changed]
        was = np.flatnonzero(out_of >= 0)
        self.counts += np.bincount(to, minlength=len(self.counts))
        self.counts -= np.bincount(out_of[was], minlength=len(self.counts))
        sign, group, edges = np.ones(len(X)), to, np.arange(len(X) + 1)
        if len(was):
            at = was + 1  # a row's removal comes after its addition
            sign, group = np.insert(sign, at, -1.0), np.insert(to, at, out_of[was])
            edges += np.searchsorted(was, edges)
        chosen = sparse.csc_matrix((sign, group, edges), shape=(len(self.sums), len(X)))
        self.sums += chosen @ self._grid.quantize(X)


@dataclass(frozen=True)
class Quantization:
    """One grid for vectors, one for shares, one for log-likelihoods; n products add up exactly.

    For 30,000 documents vectors and shares have 18 bits each; half-precision vectors have 11. No
    vector is longer than two to the `exponent`.
    """

    vectors: Grid
    responsibilities: Grid
    logs: Grid
    exponent: int

    @classmethod
    def holding(cls, n: int, largest: float) -> Quantization:
        """Return the finest quantization for n documents of at most this length."""
        bits = min((52 - WEIGHT - math.ceil(math.log2(max(n, 1) + 1))) // 2, SINGLE)
        scale = math.ceil(math.log2(max(largest, 1e-100)))
        return cls(Grid(bits - scale), Grid(bits), Grid.holding(n, 2.0**16), scale)

    @property
    def unit(self) -> float:
        """Step of the vectors' grid."""
        return float(2.0**-self.vectors.bits)

    def dequantize_sums(self, counted: Floats) -> Floats:
        """Sums of share x vector, as numbers."""
        return counted * 2.0 ** -(self.vectors.bits + self.responsibilities.bits)

    def dequantize_squares(self, counted: Floats) -> Floats:
        """Sums of vector x vector, as numbers."""
        return counted * 2.0 ** -(2 * self.vectors.bits)
