"""A block of an array or a memory map, with numpy; kernels of numba where it is installed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY
from hierseed.core.block import Block, Families, Gains
from hierseed.core.distance import FEW, Centres, chunks, lowest, squared_distances, squared_norms
from hierseed.core.exact import Grid, Tally
from hierseed.core.half import floats

Floats = NDArray[np.float64]


class Vectors(Protocol):
    """Rows that can be sliced and indexed: an array, a memory map, a lazy view."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Documents, dimensions."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Number type as stored."""

    def __getitem__(self, rows: Any) -> Any: ...


class ArrayBlock(Block):
    """Rows of an array or a memory map; every access reads them again."""

    xp = NUMPY

    def __init__(self, vectors: Vectors, start: int, stop: int, dtype: np.dtype[Any]) -> None:
        super().__init__(start, stop)
        self._vectors, self.dtype = vectors, dtype

    @property
    def width(self) -> int:
        """Dimensions of a row."""
        return int(self._vectors.shape[1])

    @property
    def X(self) -> NDArray[np.floating]:  # noqa: N802 - the matrix
        """The rows, in the number type that steps compute in."""
        return floats(self._vectors[self.start : self.stop], self.dtype)

    @cached_property
    def squared_norms(self) -> Floats:
        """Squared length of each row."""
        return np.concatenate([squared_norms(X) for _, X in self.chunks()])

    def chunks(
        self, rows: NDArray[np.integer] | None = None
    ) -> Iterator[tuple[slice, NDArray[np.floating]]]:
        """Yield rows of the block in chunks that fit the cache of a core.

        Each comes with its slice of `rows`. None: all rows, in order.
        """
        if rows is None or self._are_all(rows):
            for at in chunks(len(self), self.width):
                yield (
                    at,
                    floats(self._vectors[self.start + at.start : self.start + at.stop], self.dtype),
                )
        else:
            for at in chunks(len(rows), self.width):
                yield at, self._read(rows[at])

    def distances(self, C: Floats, rows: NDArray[np.integer] | None = None) -> Floats:
        """Squared distance of some rows (None: all) to each of some centres, in float64."""
        x2 = self._norms(rows)
        D = np.empty((len(x2), len(C)))
        for at, X in self.chunks(rows):
            D[at] = squared_distances(X, C, x2[at])
        return D

    def nearest(
        self,
        centres: Families,
        rows: NDArray[np.integer] | None = None,
        family: NDArray[np.integer] | None = None,
    ) -> NDArray[np.intp]:
        """Position of the nearest centre of each row's family; `rows` None: all rows."""
        if family is None:
            return self._nearest(centres.vectors, rows)
        best, edges = np.empty(len(family), dtype=np.intp), centres.edges
        for number, at in self.xp.by_group(family, len(centres.first)):
            start, stop = edges[number : number + 2]
            mine = at if rows is None else rows[at]
            best[at] = start + self._nearest(centres.vectors[start:stop], mine)
        return best

    def reassign(
        self,
        centres: Families,
        rows: NDArray[np.integer],
        family: NDArray[np.integer],
        was: NDArray[np.integer],
        grid: Grid | None,
    ) -> tuple[NDArray[np.intp], Floats, Gains | None]:
        """Nearest centre of each row, the margin to the second one, and what that changed.

        Sums are updated while the rows are in the cache.
        """
        best, margin = np.empty(len(rows), dtype=np.intp), np.empty(len(rows))
        edges, x2 = centres.edges, self.squared_norms
        centre, sums, counts = [], [], []
        for number, at in self.xp.by_group(family, len(centres.first)):
            start, stop = edges[number : number + 2]
            ready = Centres(centres.vectors[start:stop], self.dtype)
            tally = Tally(stop - start, self.width, grid) if grid else None
            row, old = rows[at], np.where(was[at] >= 0, was[at] - start, -1)
            now = np.empty(len(at), dtype=np.intp)
            for piece, X in self.chunks(row):
                now[piece], margin[at[piece]] = ready.nearest(X, x2[row[piece]], tally, old[piece])
            best[at] = start + now
            if tally:
                centre.append(np.arange(start, stop))
                sums.append(tally.sums)
                counts.append(tally.counts)
        if grid is None:
            return best, margin, None
        if len(centre) == 1:
            return best, margin, Gains(centre[0], sums[0], counts[0])
        none = np.zeros(0, dtype=np.intp)
        gains = Gains(
            np.concatenate([none, *centre]),
            np.concatenate([np.zeros((0, self.width)), *sums]),
            np.concatenate([none, *counts]),
        )
        return best, margin, gains

    def sum_by_group(
        self,
        rows: NDArray[np.integer],
        groups: NDArray[np.integer],
        n_groups: int,
        grid: Grid,
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Sum of the rows of each group on a grid, and their number."""
        tally, none = Tally(n_groups, self.width, grid), np.full(len(rows), -1)
        for at, X in self.chunks(rows):
            tally.move(X, groups[at], none[at])
        return tally.sums, tally.counts

    @property
    def stored(self) -> NDArray[Any]:
        """The rows in the numbers that they are stored in."""
        vectors = getattr(self._vectors, "stored", self._vectors)
        return np.asarray(vectors[self.start : self.stop])

    def _nearest(self, C: Floats, rows: NDArray[np.integer] | None) -> NDArray[np.intp]:
        """Nearest of some centres to each of some rows."""
        x2 = self._norms(rows)
        if len(x2) <= FEW:
            found: NDArray[np.intp] = lowest(self.distances(C, rows), x2 + squared_norms(C).max())
            return found
        best, centres = np.empty(len(x2), dtype=np.intp), Centres(C, self.dtype)
        for at, X in self.chunks(rows):
            best[at], _ = centres.nearest(X, x2[at])
        return best

    def _norms(self, rows: NDArray[np.integer] | None) -> Floats:
        return self.squared_norms if rows is None else self.squared_norms[rows]

    def _read(self, rows: NDArray[np.integer]) -> NDArray[np.floating]:
        return floats(self._vectors[self.start + rows.astype(np.intp)], self.dtype)

    def _are_all(self, rows: NDArray[np.integer]) -> bool:
        return len(rows) == len(self) and bool((rows[:-1] < rows[1:]).all())
