"""Blocks of an array or a memory map, with numpy; kernels of numba where it is installed."""

from __future__ import annotations

import itertools
import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property, reduce
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY, Floats, Integers
from hierseed.core.blocks import Block, Families, Gains, M, Vectors, chunks, merge, squared_norms
from hierseed.core.distance import FEW, TIE, Centres, lowest, rounding_error, squared_distances
from hierseed.core.exact import Grid, Tally
from hierseed.core.kernels.compiled import compiled
from hierseed.threads import one_thread, usable_cpus

T = TypeVar("T")
LEAST_ROWS = 256
BLOCK_VALUES = 2_000_000  # numbers in a usual block
EACH = 3  # blocks for each thread
SHRINK = 1.5, 0.5  # size of the first and the last block of a thread, in means
EXACT = 32.0  # squared lengths of float16 rows are exact in float64 up to this

# float16 to float32
SHIFT = 13
MASK = np.int32(-0x7000_2000)  # the sign, and the bits of a float16
SCALE = np.float32(2.0**112)
INFINITE = 0x7C00  # infinity, and NaN above it, without the sign


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
        return as_floats(self._vectors[self.start : self.stop], self.dtype)

    def rows_at(self, at: Integers) -> NDArray[np.floating]:
        """Some of the rows; the others are not read."""
        return as_floats(self._vectors[self.start + at.astype(np.intp)], self.dtype)

    @cached_property
    def squared_norms(self) -> Floats:
        """Squared length of each row."""
        kernels = self._kernels(len(self))
        if kernels and self._source is not None and self._vectors.dtype == np.float16:
            found = np.empty(len(self))
            kernels.half_norms(kernels.source(self._source), self.start, found)
            if found.max(initial=0.0) < EXACT:
                return found
        return np.concatenate([np.zeros(0), *(squared_norms(X) for _, X in self.chunks())])

    def chunks(
        self, rows: Integers | None = None, columns: int = 0
    ) -> Iterator[tuple[slice, NDArray[np.floating]]]:
        """Yield rows of the block in chunks that fit the cache of a core.

        Each comes with its slice of `rows`. None: all rows, in order. `columns`: of what is
        computed from a chunk, where that may be wider than the rows.
        """
        wide = max(self.width, columns)
        if rows is None or self._are_all(rows):
            for at in chunks(len(self), wide):
                yield (
                    at,
                    as_floats(
                        self._vectors[self.start + at.start : self.start + at.stop], self.dtype
                    ),
                )
        else:
            for at in chunks(len(rows), wide):
                yield at, self.rows_at(rows[at])

    def distances(self, C: Floats, rows: Integers | None = None) -> Floats:
        """Squared distance of some rows (None: all) to each of some centres, in float64."""
        n = len(self) if rows is None else len(rows)
        D = np.empty((n, len(C)))
        kernels = self._kernels(n) if n > FEW else None
        if kernels:
            packed, c2 = kernels.pack_wide(-2.0 * C), squared_norms(C)
            for at, X, start, index, x2 in self._sources(kernels, rows):
                kernels.distances(X, start, index, packed, c2, x2, D[at])
            return D
        x2 = self._norms(rows)
        for at, X in self.chunks(rows):
            D[at] = squared_distances(X, C, x2[at])
        return D

    def nearest(
        self, centres: Families, rows: Integers | None = None, family: Integers | None = None
    ) -> NDArray[np.intp]:
        """Position of the nearest centre of each row's family; `rows` None: all rows."""
        n = len(self) if rows is None else len(rows)
        kernels = self._kernels(n) if n > FEW else None
        if kernels:
            rows = np.arange(n) if rows is None else rows
            family = np.zeros(n, dtype=np.intp) if family is None else family
            return self._by_family(kernels, centres, rows, family, rows, None)[0]
        if family is None:
            return self._nearest(centres.vectors, rows)
        best, edges = np.empty(len(family), dtype=np.intp), centres.edges
        for number, at in self.xp.by_group(family, len(centres.first)):
            start, stop = edges[number : number + 2]
            mine = at if rows is None else rows[at]
            best[at] = start + self._nearest(centres.vectors[start:stop], mine)
        return best

    def reassign(
        self, centres: Families, rows: Integers, family: Integers, was: Integers, grid: Grid | None
    ) -> tuple[NDArray[np.intp], Floats, Gains | None]:
        """Nearest centre of each row, the margin to the second one, and what that changed.

        Sums are updated while the rows are in the cache.
        """
        kernels = self._kernels(len(rows))
        if kernels:
            return self._by_family(kernels, centres, rows, family, was, grid)
        best, margin = np.empty(len(rows), dtype=np.intp), np.empty(len(rows))
        edges, x2 = centres.edges, self.squared_norms
        centre, sums, counts = [], [], []
        for number, at in self.xp.by_group(family, len(centres.first)):
            start, stop = edges[number : number + 2]
            ready = Centres(centres.vectors[start:stop], self.dtype)
            tally = Tally(stop - start, self.width, grid) if grid else None
            row, old = rows[at], np.where(was[at] >= 0, was[at] - start, -1)
            now = np.empty(len(at), dtype=np.intp)
            for piece, X in self.chunks(row, stop - start):
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
        self, rows: Integers, groups: Integers, n_groups: int, grid: Grid
    ) -> tuple[Floats, NDArray[np.intp]]:
        """Sum of the rows of each group on a grid, and their number."""
        tally, none = Tally(n_groups, self.width, grid), np.full(len(rows), -1)
        kernels = self._kernels(len(rows))
        if kernels:
            for at, X, start, index, _ in self._sources(kernels, rows):
                kernels.add_rows(
                    X, start, index, np.ascontiguousarray(groups[at], dtype=np.intp),
                    tally.sums, tally.counts, tally.step,
                )  # fmt: skip
            return tally.sums, tally.counts
        for at, X in self.chunks(rows):
            tally.move(X, groups[at], none[at])
        return tally.sums, tally.counts

    @property
    def stored(self) -> NDArray[Any]:
        """The rows in the numbers that they are stored in."""
        vectors = getattr(self._vectors, "stored", self._vectors)
        return np.asarray(vectors[self.start : self.stop])

    def quantized(self, grid: Grid, order: Integers | None = None) -> Floats:
        """The rows, or some of them, as whole multiples of a grid's step."""
        place = np.arange(len(self))
        if order is not None:
            place = np.full(len(self), -1)
            place[order] = np.arange(len(order))
        found = np.empty((len(self) if order is None else len(order), self.width))
        self._round_rows(grid, place, found)
        return found

    def quantized_sums(self, grid: Grid) -> Floats:
        """Sum of each row of `quantized`."""
        return self._round_rows(grid, np.zeros(0, np.intp), np.empty((0, self.width)))

    def _round_rows(self, grid: Grid, place: Integers, found: Floats) -> Floats:
        """Sums of rounded rows; fills in `found` by the way."""
        sums, kernels = np.empty(len(self)), self._kernels(len(self))
        if kernels is None:
            for at, X in self.chunks():
                some, to = grid.quantize(X), place[at]
                sums[at] = some.sum(axis=1)
                if len(to):
                    found[to[to >= 0]] = some[to >= 0]
            return sums
        for at, X, start, _, _ in self._sources(kernels, None):
            kernels.round_rows(X, start, 2.0**grid.bits, place[at], sums[at], found)
        return sums

    def kernel_rows(self, results: int = 1) -> Iterator[tuple[slice, NDArray[Any], int]] | None:
        """The rows for a compiled kernel, if they pay off; see `Block.kernel_rows`."""
        kernels = self._kernels(len(self), results)
        if kernels is None:
            return None
        return ((at, X, start) for at, X, start, _, _ in self._sources(kernels, None))

    def _kernels(self, rows: int, results: int = 1) -> ModuleType | None:
        """The compiled kernels, if they pay off and are for numbers of this type."""
        numbers = rows * max(self.width, results)
        return compiled(numbers) if self.dtype == np.float32 else None

    @cached_property
    def _source(self) -> NDArray[Any] | None:
        """The whole array, where kernels can read it; None for a lazy view, or another layout."""
        known = getattr(self._vectors, "ready", self._vectors)
        if isinstance(known, np.ndarray) and known.dtype in (np.float16, np.float32):
            return known if known.flags.c_contiguous else None
        return None

    def _sources(
        self, kernels: ModuleType, rows: Integers | None
    ) -> Iterator[tuple[slice, NDArray[Any], int, Integers, Floats]]:
        """Yield what kernels read rows from: the array, its first row, which rows, their norms.

        All at once if the vectors are an array, else in chunks. Each comes with its slice of
        `rows`. Kernels take no rows for all of them.
        """
        if self._source is not None:
            n = len(self) if rows is None else len(rows)
            index = np.zeros(0, np.intp) if rows is None else rows.astype(np.intp, copy=False)
            yield slice(0, n), kernels.source(self._source), self.start, index, self.squared_norms
            return
        x2 = self._norms(rows)
        for at, X in self.chunks(rows):
            yield at, kernels.source(X), 0, np.arange(len(X)), x2[at]

    def lloyd(
        self, centres: Families, children: Integers, tree: Any, placements: Any, state: Any,
        used: Floats | None, grid: Grid,
    ) -> tuple[Gains, int, int] | None:  # fmt: skip
        """`hierseed.refine.reassign` in a few calls that need no lock; see `Block.lloyd`."""
        kernels = self._kernels(len(placements.row))
        if kernels is None:
            return None
        order = np.empty(len(placements.row), dtype=np.intp)
        ends = np.empty(len(centres.first) + 1, dtype=np.intp)
        n = kernels.due(
            state.margin, state.topic, np.zeros(0) if used is None else used, placements.topic,
            tree.family, order, ends,
        )  # fmt: skip
        order = order[:n]
        edges, *panels, C, c2 = self._panels(kernels, centres)
        chosen = np.arange(len(C))
        group, present = chosen, ends[1:] > ends[:-1]
        if not present.all():
            chosen, group = np.flatnonzero(np.repeat(present, np.diff(edges))), np.zeros_like(group)
            group[chosen] = np.arange(len(chosen))
        tally, error = Tally(len(chosen), self.width, grid), rounding_error(self.width, self.dtype)
        moved = 0
        for at, X, start, index, x2 in self._sources(kernels, placements.row[order]):
            moved += kernels.lloyd(
                X, start, index, np.clip(ends - at.start, 0, len(index)), edges, *panels, C, c2,
                x2, error, TIE, group, tally.sums, tally.counts, tally.step, order[at],
                tree.position, children, state.topic, state.margin,
            )  # fmt: skip
        total = int(np.count_nonzero(state.topic >= 0))
        return Gains(chosen, tally.sums, tally.counts), int(moved), total

    def _panels(self, kernels: ModuleType, centres: Families) -> tuple[Any, ...]:
        """Centres as kernels read them: where families begin, panels, the centres, their norms."""
        if "panels" not in centres.prepared:
            C, edges = np.ascontiguousarray(centres.vectors), np.array(centres.edges)
            c2 = squared_norms(C)
            centres.prepared["panels"] = edges, *kernels.pack(C, c2, edges), C, c2
        found: tuple[Any, ...] = centres.prepared["panels"]
        return found

    def _by_family(
        self, kernels: ModuleType, centres: Families, rows: Integers, family: Integers,
        was: Integers, grid: Grid | None,
    ) -> tuple[NDArray[np.intp], Floats, Gains | None]:  # fmt: skip
        """`reassign` of rows in any order."""
        size = np.bincount(family, minlength=len(centres.first))
        order = self.xp.argsort_groups(family, len(size)) if len(size) > 1 else slice(None)
        ends = np.append(0, np.cumsum(size))
        found, far, chosen, tally = self._sweep(
            kernels, centres, rows[order], ends, was[order], grid
        )
        best, margin = np.empty_like(found), np.empty_like(far)
        best[order], margin[order] = found, far
        return best, margin, Gains(chosen, tally.sums, tally.counts) if grid else None

    def _sweep(
        self, kernels: ModuleType, centres: Families, rows: Integers, ends: Integers, was: Integers,
        grid: Grid | None,
    ) -> tuple[NDArray[np.intp], Floats, Integers, Tally]:  # fmt: skip
        """Nearest centres and margins of rows in order of their families, and what that changed.

        `ends` says where each family of rows begins and ends. Also returns the centres that
        occur, which the tally is of.
        """
        present = np.flatnonzero(np.diff(ends))
        before = np.array(centres.edges)
        many = np.diff(before)[present]
        edges = np.append(0, np.cumsum(many))
        chosen = np.repeat(before[present] - edges[:-1], many) + np.arange(edges[-1])
        C, ends = centres.vectors[chosen], ends[np.append(present, len(ends) - 1)]
        c2, error = squared_norms(C), rounding_error(self.width, self.dtype)
        panels = kernels.pack(C, c2, edges)
        tally = Tally(len(C) if grid else 0, self.width, grid or Grid(0))
        if len(C) < len(centres.vectors) and grid:
            place = np.full(len(centres.vectors) + 1, -1)  # the last: of rows in no group
            place[chosen] = np.arange(len(chosen))
            was = place[was]
        was = was.astype(np.intp, copy=False)
        found, far = np.empty(len(rows), dtype=np.intp), np.empty(len(rows))
        for at, X, start, index, x2 in self._sources(kernels, rows):
            kernels.sweep(
                X, start, index, np.clip(ends - at.start, 0, len(index)), edges, *panels, C, c2,
                x2, error, TIE, was[at], np.arange(len(C)), tally.sums, tally.counts, tally.step,
                found[at], far[at],
            )  # fmt: skip
        if len(C) < len(centres.vectors):
            found = chosen[found]
        return found, far, chosen, tally

    def _nearest(self, C: Floats, rows: Integers | None) -> NDArray[np.intp]:
        """Nearest of some centres to each of some rows."""
        x2 = self._norms(rows)
        if len(x2) <= FEW:
            found: NDArray[np.intp] = lowest(self.distances(C, rows), x2 + squared_norms(C).max())
            return found
        best, centres = np.empty(len(x2), dtype=np.intp), Centres(C, self.dtype)
        for at, X in self.chunks(rows, len(C)):
            best[at], _ = centres.nearest(X, x2[at])
        return best

    def _norms(self, rows: Integers | None) -> Floats:
        return self.squared_norms if rows is None else self.squared_norms[rows]

    def _are_all(self, rows: Integers) -> bool:
        return len(rows) == len(self) and bool((rows[:-1] < rows[1:]).all())


def as_floats(rows: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[np.floating]:
    """Return rows as a contiguous array of a dtype; a view if they are one already.

    float16 to float32 gives the same bits as `astype`, several times faster: a float16 has 5 bits
    of exponent and 10 of fraction, a float32 8 and 23. Shifted by 13, with the sign restored, a
    float16 reads as a float32 that is 2**112 times too small. Infinity and NaN would become
    numbers, so rows that hold any are converted by `astype`.
    """
    if rows.dtype != np.float16 or dtype != np.float32 or rows.ndim != 2:
        return np.ascontiguousarray(rows, dtype=dtype)
    halves = np.ascontiguousarray(rows).view(np.int16)
    kernels = compiled(halves.size)
    if kernels:
        wide = np.empty(halves.shape, dtype=np.float32)
        kernels.widen(halves, wide)
        return wide
    if np.bitwise_and(halves, 0x7FFF).max(initial=0) >= INFINITE:
        return rows.astype(np.float32)
    bits = halves.astype(np.int32)
    bits <<= SHIFT
    bits &= MASK
    wide = bits.view(np.float32)
    wide *= SCALE
    return wide


class ArrayBlocks:
    """Blocks of an array or a memory map, on the threads of this machine.

    Each thread works on a block of its own, with the matrix library limited to one thread: that
    is faster than many threads on one small product. Steps make arrays of rows times `topics`, so
    blocks shrink as these grow. In a large corpus they are up to `largest` times as large as usual,
    for steps that keep little of each row. `start` and `stop` select some of the rows, which keep
    their numbers. With `forget` blocks drop their caches after each step, for a single pass over
    many documents.
    """

    def __init__(
        self,
        vectors: Vectors,
        block_rows: int | None = None,
        threads: int | None = None,
        *,
        topics: int = 0,
        largest: int = 1,
        start: int = 0,
        stop: int | None = None,
        forget: bool = False,
    ) -> None:
        self.n, self.width = int(vectors.shape[0]), int(vectors.shape[1])
        self.dtype = np.dtype(np.float64 if vectors.dtype == np.float64 else np.float32)
        self.threads = threads or int(os.environ.get("OMP_NUM_THREADS") or usable_cpus())
        if isinstance(vectors, np.ndarray):
            vectors = np.asarray(vectors)  # slicing a np.memmap object is slow
        self._vectors, self._forget = vectors, forget
        stop = stop or self.n
        if block_rows:
            edges = [*range(start, stop, block_rows), stop]
        else:
            wide = max(self.width, topics, 1)
            edges = (start + _block_edges(stop - start, wide, self.threads, largest)).tolist()
        self._blocks = [
            ArrayBlock(vectors, at, end, self.dtype) for at, end in itertools.pairwise(edges)
        ]

    def map(self, step: Callable[..., T], *model: Any) -> Iterator[T]:
        """Yield `step(block, *model)` for every block, in order of rows."""
        if len(self._blocks) == 1 and len(self._blocks[0]) <= FEW:
            yield self._run(step, self._blocks[0], *model)  # too small for threads
            return
        with one_thread():
            if self.threads == 1 or len(self._blocks) == 1:
                for block in self._blocks:
                    yield self._run(step, block, *model)
                return
            waiting: deque[Future[T]] = deque()
            with ThreadPoolExecutor(self.threads) as pool:
                for block in self._blocks:
                    if len(waiting) > 2 * self.threads:
                        yield waiting.popleft().result()
                    waiting.append(pool.submit(self._run, step, block, *model))
                while waiting:
                    yield waiting.popleft().result()

    def fold(self, step: Callable[..., M], *model: Any) -> M:
        """Merge the results of `step(block, *model)` over all blocks."""
        return reduce(merge, self.map(step, *model))

    def _run(self, step: Callable[..., T], block: ArrayBlock, *model: Any) -> T:
        result = step(block, *model)
        if self._forget:
            block.forget()
        return result

    def take(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Fetch a few rows."""
        return np.asarray(self._vectors[np.asarray(rows)], dtype=np.float64)


def _block_edges(n: int, wide: int, threads: int, largest: int) -> NDArray[np.integer]:
    """Edges of the blocks of n rows; their mean size is at most `largest` times the usual one.

    Few large blocks, because every step costs each block some Python. Every thread gets as many,
    the largest first, so that all threads end at about the same time.
    """
    fair, usual = -(-n // (EACH * threads)), BLOCK_VALUES // wide
    most = max(LEAST_ROWS, min(max(fair, usual), largest * BLOCK_VALUES // wide))
    blocks = -(-n // most)
    if threads == 1 or blocks <= threads:
        return np.linspace(0, n, blocks + 1).round().astype(np.intp)
    share = np.repeat(np.linspace(*SHRINK, -(-blocks // threads)), threads)
    ends = np.cumsum(share) * (n / share.sum())
    return np.unique(np.append(0, ends.round().astype(np.intp)))  # without empty blocks
