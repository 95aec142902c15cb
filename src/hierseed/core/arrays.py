"""The array functions that steps are written in: numpy's here, torch's in `engines.torch.arrays`.

A step takes them from its block (`xp = block.xp`), so it is written once for every engine. They
are our own few functions and not the array API standard: steps need `bincount`, a stable sort by
group and exact rounding, which the standard lacks, and nothing else has to be installed.
Whatever numpy and torch spell alike (indexing, arithmetic, `len`, `.sum()`) is used as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.kernels.compiled import compiled

Array = Any  # of numpy, or of the library of an engine
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]  # positions
Integers = NDArray[np.integer]
Bools = NDArray[np.bool_]


class Arrays:
    """Functions on numpy arrays; an engine overrides those that its library spells otherwise."""

    int8: Any = np.int8
    int32: Any = np.int32
    index: Any = np.intp  # the type of positions and groups
    float32: Any = np.float32
    float64: Any = np.float64
    bool: Any = np.bool_
    piece: int = 0  # rows to process at a time; 0: as few as fit a core's cache

    def asarray(self, values: Any, dtype: Any = None) -> Array:
        """Bring a small array of the host to where blocks are."""
        return np.asarray(values, dtype=dtype)

    def to_numpy(self, values: Array) -> NDArray[Any]:
        """Bring a small result back to the host."""
        return np.asarray(values)

    def full(self, shape: int | tuple[int, ...], value: Any, dtype: Any) -> Array:
        """An array of one value."""
        return np.full(shape, value, dtype=dtype)

    def arange(self, n: int) -> Array:
        """The numbers 0 … n-1."""
        return np.arange(n)

    def astype(self, values: Array, dtype: Any) -> Array:
        """The same numbers in another type."""
        return values.astype(dtype)

    def copy(self, values: Array) -> Array:
        """A copy."""
        return values.copy()

    def concat(self, parts: Sequence[Array], axis: int = 0) -> Array:
        """Join arrays along an axis."""
        return np.concatenate(parts, axis=axis)

    def where(self, condition: Array, one: Any, other: Any) -> Array:
        """Choose element by element."""
        return np.where(condition, one, other)

    def flatnonzero(self, mask: Array) -> Array:
        """Positions of the true entries of a vector."""
        return np.flatnonzero(mask)

    def nonzero(self, mask: Array) -> tuple[Array, Array]:
        """Row and column of the true entries of a matrix, row by row."""
        row, column = np.nonzero(mask)
        return row, column

    def min(self, values: Array, axis: int) -> Array:
        """Least value along an axis."""
        return values.min(axis=axis)

    def max(self, values: Array, axis: int) -> Array:
        """Largest value along an axis."""
        return values.max(axis=axis)

    def argmin(self, values: Array, axis: int) -> Array:
        """Position of the least value along an axis; the first of equal ones."""
        return values.argmin(axis=axis)

    def argmax(self, values: Array, axis: int) -> Array:
        """Position of the largest value, or of the first true entry, along an axis."""
        return values.argmax(axis=axis)

    def sort_rows(self, values: Array) -> Array:
        """Each row in ascending order."""
        return np.sort(values, axis=1)

    def two_smallest(self, values: Array) -> tuple[Array, Array]:
        """The smallest and the second smallest value of each row."""
        two = np.partition(values, 1, axis=1)
        return two[:, 0], two[:, 1]

    def largest(self, values: Array, k: int) -> Array:
        """The k largest values of each row, the smallest of them first."""
        return np.partition(values, values.shape[1] - k, axis=1)[:, -k:]

    def argsort(self, values: Array) -> Array:
        """Positions in ascending order; equal values keep theirs."""
        return np.argsort(values, kind="stable")

    def argsort_groups(self, groups: Array, n_groups: int) -> Array:
        """Stable order of group numbers."""
        small = np.min_scalar_type(n_groups)  # few bits are sorted in one sweep
        return np.argsort(groups.astype(small), kind="stable")

    def cumulative_max(self, values: Array) -> Array:
        """Largest value so far."""
        return np.maximum.accumulate(values)

    def sqrt(self, values: Array) -> Array:
        """Square root; may overwrite its argument."""
        return np.sqrt(values)

    def exp(self, values: Array) -> Array:
        """Exponential; overwrites its argument."""
        return np.exp(values, out=values)

    def log(self, values: Array) -> Array:
        """Natural logarithm."""
        return np.log(values)

    def log1p(self, values: Array) -> Array:
        """Logarithm of 1 + x."""
        return np.log1p(values)

    def rint(self, values: Array) -> Array:
        """Round to whole numbers; overwrites its argument."""
        return np.rint(values, out=values)

    def minimum(self, values: Array, other: Array) -> Array:
        """The smaller of two, element by element."""
        return np.minimum(values, other)

    def interp(self, values: Array, knots: NDArray[Any], heights: NDArray[Any]) -> Array:
        """Height at each value of a curve through knots; constant beyond the first and last."""
        return np.interp(values, knots, heights)

    def matmul(self, one: Array, other: Array, out: Array | None = None) -> Array:
        """Matrix product."""
        return np.matmul(one, other, out=out)

    def squared_norms(self, values: Array) -> Array:
        """Squared length of each row, in the type of its numbers."""
        return np.einsum("ij,ij->i", values, values)

    def wide_squared_norms(self, values: Array) -> Array:
        """Squared length of each row, in float64."""
        return np.einsum("ij,ij->i", values, values, dtype=np.float64)

    def words(self, values: Array) -> Array:
        """The bits of each row as int64 numbers, for a checksum."""
        values = np.ascontiguousarray(values)
        size = 8 if values.strides[0] % 8 == 0 else values.itemsize
        return values.view(f"i{size}").astype(np.int64, copy=False)

    def isfinite(self, values: Array) -> Array:
        """Where numbers are neither NaN nor infinite."""
        return np.isfinite(values)

    def all_in_rows(self, mask: Array) -> Array:
        """Where all entries of a row are true."""
        return mask.all(axis=1)

    def bincount(self, groups: Array, n_groups: int, weights: Array | None = None) -> Array:
        """Number of entries of each group, or the sum of their weights."""
        return np.bincount(groups, weights, n_groups)

    def scale_and_round(self, values: Array, factor: float) -> Array:
        """`values * factor` in float64, rounded to whole numbers."""
        whole = np.multiply(values, factor, dtype=np.float64)
        return np.rint(whole, out=whole)

    def round_directions(self, X: Array, centre: Array, length: float) -> Array:
        """Rows less a centre, scaled to a length and rounded; a row at the centre is zero."""
        rows = X - self.asarray(centre)
        away = self.sqrt(self.squared_norms(rows))
        rows *= (length / self.where(away > 0, away, np.inf))[:, None]
        return self.astype(self.rint(rows), self.float32)

    def whole_product(self, U: Array, V: Array) -> Array:
        """Products of rows of whole numbers below 2**12; exact, if all are below 2**24."""
        return U @ V.T

    def sum_of_nearest(
        self, similarity: Array, k: int, values: Array
    ) -> tuple[Array, Array, Array]:
        """Largest entry of each row; number and sum of the values of its k largest, with ties.

        Entries and values are whole numbers.
        """
        top = self.largest(similarity, k)
        mine = similarity >= self.min(top, axis=1)[:, None]
        return self.max(top, axis=1), mine.sum(axis=1), self.sum_of_marked(mine, values)

    def sum_of_marked(self, mine: Array, values: Array) -> Array:
        """Sum of the values, which are whole numbers, that a row marks; in float64."""
        total = self.astype(self.astype(mine, self.float32) @ values, self.float64)
        largest = float(abs(values).max()) if len(values) else 0.0
        many = self.flatnonzero(mine.sum(axis=1) * largest >= 2.0**24)
        if len(many):  # a float32 would lose digits
            total[many] = self.astype(mine[many], self.float64) @ self.astype(values, self.float64)
        return total

    def largest_in_columns(self, values: Array, k: int) -> tuple[Array, Array]:
        """Rows of the k largest values of each column and these values, largest first.

        Values are not negative. Of equal ones the first counts; where they are 0 the row is -1.
        """
        rest, every = self.copy(values), self.arange(values.shape[1])
        shape = values.shape[1], min(k, len(rest))
        place, found = self.full(shape, -1, self.index), self.full(shape, 0.0, self.float64)
        for at in range(shape[1]):
            best = self.argmax(rest, axis=0)
            worth = rest[best, every]
            place[:, at] = self.where(worth > 0, self.astype(best, self.index), -1)
            found[:, at] = worth.clip(min=0.0)
            rest[best, every] = -1.0
        return place, found

    def round_shares(self, L: Array, scale: Array | float) -> tuple[Array, Array]:
        """Shares of each column of logs in its scale, rounded, and the log of the sum.

        L is overwritten.
        """
        top = self.max(L, axis=0)
        L -= top
        L = self.exp(L)
        total = L.sum(axis=0)
        L *= scale / total
        return self.rint(L), top + self.log(total)

    def by_group(self, groups: Array, n_groups: int) -> Iterator[tuple[int, Array]]:
        """Yield each group number that occurs, and the positions where it does; -1 is no group."""
        if len(groups) and bool((groups == groups[0]).all()):  # one row, or one group: no sorting
            if groups[0] >= 0:
                yield int(groups[0]), self.arange(len(groups))
            return
        at = self.flatnonzero(groups >= 0)
        groups = groups[at]
        size = self.to_numpy(self.bincount(groups, n_groups))
        at = at[self.argsort_groups(groups, n_groups)]
        present = np.flatnonzero(size)
        for group, stop in zip(present.tolist(), np.cumsum(size[present]).tolist()):
            yield group, at[stop - int(size[group]) : stop]


class NumpyArrays(Arrays):
    """Functions on numpy arrays, with compiled kernels where they pay off."""

    def largest_in_columns(self, values: Array, k: int) -> tuple[Array, Array]:
        """The same in one call."""
        kernels = compiled(values.size)
        if kernels is None:
            return super().largest_in_columns(values, k)
        shape = values.shape[1], min(k, len(values))
        place, found = np.full(shape, -1, dtype=self.index), np.zeros(shape)
        kernels.largest_in_columns(values, place, found)
        return place, found


NUMPY = NumpyArrays()
