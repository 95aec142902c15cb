"""Whole steps on the rows of a block, compiled by numba; `compiled` decides when.

Each function takes all rows of a block in one call, without the interpreter's lock: many threads
that each make many small numpy calls wait for that lock most of the time. Rows are read, and
widened from half precision, in strips that stay in a core's first cache.

`move`, `add_rows` and `widen` give the same bits as numpy. `sweep` rounds products differently
from a matrix library; as in `distance.Centres`, float64 decides where that matters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload
from numpy.typing import NDArray

from hierseed.core.kernels.aligned import aligned_zeros
from hierseed.core.kernels.llvm_kernels import (
    DOUBLE,
    LANES,
    MOST,
    ROWS,
    WIDE_LANES,
    prefetch,
    product,
    tile,
    widening,
)

AHEAD = 16  # rows that are fetched before they are read
STRIP, WIDE_STRIP = 4 * ROWS, 2 * ROWS  # rows, in float64, compared with all centres at a time

_one, _two, _three, _four = (tile(vectors) for vectors in (1, 2, 3, 4))
_by_one, _by_two, _by_three, _by_four = (product(vectors, DOUBLE) for vectors in (1, 2, 3, 4))
_single, _many = widening(1), widening(LANES)


def source(X: NDArray[Any]) -> NDArray[Any]:
    """Rows as the kernels take them: float16 as its bits, and read-only, so one compilation."""
    X = X.view(np.int16) if X.dtype == np.float16 else X.view()
    X.flags.writeable = False
    return X


# ---------------------------------------------------------------- rows


def read_row(X: Any, i: Any, rows: Any, to: Any) -> Any:
    """Copy a row to a place among float32 rows; float16 is given as int16 bits."""


@overload(read_row)
def _read_row(X: Any, i: Any, rows: Any, to: Any) -> Any:
    if X.dtype != types.int16:

        def copy(X: Any, i: Any, rows: Any, to: Any) -> Any:
            rows[to] = X[i]

        return copy

    def convert(X: Any, i: Any, rows: Any, to: Any) -> Any:
        width = X.shape[1]
        whole = width - width % LANES
        for at in range(0, whole, LANES):
            _many(X, i * width + at, rows, to * width + at)
        for at in range(whole, width):
            _single(X, i * width + at, rows, to * width + at)

    return convert


@njit(nogil=True, cache=True)
def widen(halves: Any, floats: Any) -> None:
    """Convert rows of float16, given as int16 bits, to float32."""
    for i in range(halves.shape[0]):
        read_row(halves, i, floats, i)


@njit(nogil=True, cache=True)
def half_norms(X: Any, start: int, found: Any) -> None:
    """Squared lengths of rows of float16: exact, so in any order, while they are below 32."""
    row = np.empty((1, X.shape[1]), np.float32)
    for i in range(len(found)):
        read_row(X, start + i, row, 0)
        found[i] = squared(row[0])


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def squared(x: Any) -> float:
    """Squared length of a row in float64."""
    total = 0.0
    for j in range(len(x)):
        total += np.float64(x[j]) * np.float64(x[j])
    return total


# ---------------------------------------------------------------- sums


@njit(nogil=True, cache=True)
def move(sums: Any, counts: Any, X: Any, to: Any, out_of: Any, step: float) -> None:
    """Move rows from one group to another, where these differ."""
    for i in range(X.shape[0]):
        if to[i] != out_of[i]:
            move_one(sums, counts, X, i, to[i], out_of[i], step)


@njit(nogil=True, cache=True)
def add_rows(
    X: Any, start: int, rows: Any, groups: Any, sums: Any, counts: Any, step: float
) -> None:
    """Add some rows to their groups."""
    row = np.empty((1, X.shape[1]), np.float32)
    for i in range(len(rows)):
        prefetch(X, start + rows[min(i + AHEAD, len(rows) - 1)])
        read_row(X, start + rows[i], row, 0)
        move_one(sums, counts, row, 0, groups[i], -1, step)


@njit(nogil=True, cache=True)
def move_one(sums: Any, counts: Any, X: Any, i: int, to: int, out_of: int, step: float) -> None:
    """Move one row to a group, from another unless that is -1."""
    add(sums, to, X, i, step)
    counts[to] += 1
    if out_of >= 0:
        add(sums, out_of, X, i, -step)
        counts[out_of] -= 1


@njit(nogil=True, cache=True)
def add(sums: Any, group: int, X: Any, i: int, step: float) -> None:
    """Round a row to whole multiples of a grid, and add it to a group."""
    x, total = X[i], sums[group]
    for j in range(len(x)):
        total[j] += np.rint(np.float64(x[j]) * step)


# ---------------------------------------------------------------- distances


def pack(
    C: NDArray[np.float64], c2: NDArray[np.float64], edges: NDArray[np.intp]
) -> tuple[Any, Any, Any]:
    """-2 C' in the panels that `sweep` reads, c2, infinite for padding, and the first columns.

    `edges` : where each family of centres begins, and where the last ends
    """
    column = np.append(0, np.cumsum(-(-np.diff(edges) // LANES) * LANES))
    packed = aligned_zeros((column[-1] * C.shape[1],), np.float32)
    offset = aligned_zeros((column[-1],), np.float32)
    offset[:] = np.inf
    fill(np.ascontiguousarray(C), c2, edges, column, packed, offset, LANES)
    return packed, offset, column


def pack_wide(C: NDArray[np.float64]) -> Any:
    """-2 C' in float64, in the panels that `multiply_wide` reads."""
    return _pack_all(C, np.float64, WIDE_LANES)


def pack_narrow(C: NDArray[np.floating]) -> Any:
    """-2 C' in float32, in the panels that `mixture_kernels.multiply` reads."""
    return _pack_all(C, np.float32, LANES)


def _pack_all(C: NDArray[np.floating], dtype: Any, lanes: int) -> Any:
    n = -(-len(C) // lanes) * lanes
    packed, none = aligned_zeros((n * C.shape[1],), dtype), np.zeros(n)
    C = np.ascontiguousarray(C, dtype=np.float64)
    fill(C, none, np.array([0, len(C)]), np.array([0, n]), packed, none, lanes)
    return packed


@njit(nogil=True, cache=True)
def fill(C: Any, c2: Any, edges: Any, column: Any, packed: Any, offset: Any, lanes: int) -> None:
    """Write -2 C' into panels, family by family."""
    width = C.shape[1]
    for family in range(len(column) - 1):
        first, left = edges[family], column[family]
        n, vectors = edges[family + 1] - first, (column[family + 1] - left) // lanes
        panels = -(-vectors // MOST)
        for panel in range(panels):
            begin = panel * vectors // panels * lanes
            size = (panel + 1) * vectors // panels * lanes - begin
            for i in range(begin, min(begin + size, n)):
                offset[left + i] = c2[first + i]
                for j in range(width):
                    place = (left + begin) * width + j * size + i - begin
                    packed[place] = -2.0 * C[first + i, j]


@njit(nogil=True, cache=True)
def multiply_wide(strip: Any, some: int, packed: Any, found: Any) -> None:
    """Products of float64 rows with all centres."""
    vectors = found.shape[1] // WIDE_LANES
    panels = -(-vectors // MOST)
    for panel in range(panels):
        left = panel * vectors // panels
        size = (panel + 1) * vectors // panels - left
        for i in range(0, some, ROWS if size > 1 else 2 * ROWS):
            args = strip, i, packed, left * WIDE_LANES, found, i
            if size == 4:
                _by_four(*args)
            elif size == 3:
                _by_three(*args)
            elif size == 2:
                _by_two(*args)
            else:
                _by_one(*args)


@njit(nogil=True, cache=True)
def distances(X: Any, start: int, rows: Any, packed: Any, c2: Any, x2: Any, D: Any) -> None:
    """Squared distances of some rows to all centres, in float64; all rows if `rows` is empty."""
    n, k = D.shape
    row, strip = np.empty((1, X.shape[1]), np.float32), np.zeros((WIDE_STRIP, X.shape[1]))
    found = np.empty((WIDE_STRIP, len(packed) // X.shape[1]))
    for begin in range(0, n, WIDE_STRIP):
        some = min(WIDE_STRIP, n - begin)
        for i in range(some):
            if len(rows):
                prefetch(X, start + rows[min(begin + i + AHEAD, n - 1)])
            read_row(X, start + (rows[begin + i] if len(rows) else begin + i), row, 0)
            for j in range(X.shape[1]):
                strip[i, j] = row[0, j]
        multiply_wide(strip, some, packed, found)
        for i in range(some):
            own = x2[rows[begin + i] if len(rows) else begin + i]
            line, near = D[begin + i], found[i]
            for j in range(k):
                line[j] = max(near[j] + c2[j] + own, 0.0)


# ---------------------------------------------------------------- nearest centres


@njit(nogil=True, cache=True)
def two_lanes(least: Any, after: Any) -> tuple[int, float, float]:
    """Lane of the least value, that value, and the second of all lanes."""
    lane, lowest, beyond = 0, least[0], after[0]
    for i in range(1, LANES):
        beyond = min(beyond, after[i], max(lowest, least[i]))
        if least[i] < lowest:
            lane, lowest = i, least[i]
    return lane, np.float64(lowest), np.float64(beyond)


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def decide(x: Any, C: Any, c2: Any, tie: float) -> int:
    """Nearest centre in float64; of tied ones the first."""
    d = np.empty(len(c2))
    for k in range(len(d)):
        centre, product = C[k], 0.0
        for j in range(len(x)):
            product += np.float64(x[j]) * centre[j]
        d[k] = c2[k] - 2.0 * product
    least = d.min() + tie
    at = 0
    while d[at] > least:
        at += 1
    return at


@njit(nogil=True, cache=True)
def sweep(
    X: Any, start: int, rows: Any, ends: Any, edges: Any, packed: Any, offset: Any, column: Any,
    C: Any, c2: Any, x2: Any, error: float, tie: float, was: Any, sums: Any, counts: Any,
    step: float, best: Any, margin: Any,
) -> None:  # fmt: skip
    """Nearest centre of each row and its margin; moves the row to the group of that centre.

    Rows are in order of their families; `ends` says where each family of rows begins and ends,
    `edges` the same of centres. See `distance.Centres.nearest`. Without groups nothing is summed.
    """
    strip = np.zeros((STRIP, X.shape[1]), np.float32)
    least = np.empty((STRIP, LANES), np.float32)
    after = np.empty((STRIP, LANES), np.float32)
    place = np.empty((STRIP, LANES), np.int32)
    for family in range(len(ends) - 1):
        if ends[family] == ends[family + 1]:
            continue
        first, last, left = edges[family], edges[family + 1], column[family]
        vectors, largest = (column[family + 1] - left) // LANES, c2[first:last].max()
        panels = -(-vectors // MOST)
        for begin in range(ends[family], ends[family + 1], STRIP):
            some = min(STRIP, ends[family + 1] - begin)
            for i in range(some):
                prefetch(X, start + rows[min(begin + i + AHEAD, len(rows) - 1)])
                read_row(X, start + rows[begin + i], strip, i)
            least[:], after[:], place[:] = np.inf, np.inf, left
            for panel in range(panels):
                vector = panel * vectors // panels
                size = (panel + 1) * vectors // panels - vector
                for i in range(0, some, ROWS if size > 1 else 2 * ROWS):
                    args = strip, i, packed, left + vector * LANES, offset
                    if size == 4:
                        _four(*args, least, after, place, i)
                    elif size == 3:
                        _three(*args, least, after, place, i)
                    elif size == 2:
                        _two(*args, least, after, place, i)
                    else:
                        _one(*args, least, after, place, i)
            for i in range(some):
                at = begin + i
                lane, lowest, beyond = two_lanes(least[i], after[i])
                own = x2[rows[at]]
                scale = own + largest
                apart = beyond - lowest - error * scale
                if last - first == 1:
                    best[at], margin[at] = first, np.inf
                elif apart > 0:
                    best[at] = first + place[i, lane] - left
                    more = own + error * scale
                    further = np.sqrt(max(lowest + more, 0.0)) + np.sqrt(beyond + more)
                    margin[at] = apart / further
                else:
                    tied = tie * scale
                    best[at] = first + decide(strip[i], C[first:last], c2[first:last], tied)
                    margin[at] = 0.0
                if len(counts) and best[at] != was[at]:
                    move_one(sums, counts, strip, i, best[at], was[at], step)


# ---------------------------------------------------------------- rows that are due


@njit(nogil=True, cache=True)
def due(margin: Any, topic: Any, used: Any, inner: Any, family: Any, order: Any, ends: Any) -> int:
    """Placements whose margin is used up, in order of their families; returns their number.

    `used` : margin that each topic uses up, taken off first; empty: none
    `inner` : topic that each placement was in before, whose `family` of children is looked at
    `order`, `ends` : filled: the placements, and where each family of them begins and ends
    """
    ends[:] = 0
    for i in range(len(margin)):
        if len(used):
            margin[i] -= used[topic[i]]
        if margin[i] <= 0 and family[inner[i]] >= 0:
            ends[family[inner[i]] + 1] += 1
    for f in range(1, len(ends)):
        ends[f] += ends[f - 1]
    total, place = ends[-1], ends.copy()
    for i in range(len(margin)):
        if margin[i] <= 0 and family[inner[i]] >= 0:
            order[place[family[inner[i]]]] = i
            place[family[inner[i]]] += 1
    return total


@njit(nogil=True, cache=True)
def settle(order: Any, best: Any, far: Any, was: Any, centre: Any, topic: Any, margin: Any) -> int:
    """Write down where placements are now, and their margins; returns how many moved."""
    moved = 0
    for at in range(len(order)):
        topic[order[at]], margin[order[at]] = centre[best[at]], far[at]
        moved += best[at] != was[at]
    return moved


# ---------------------------------------------------------------- spheres


@njit(nogil=True, cache=True)
def windows(D: Any, empty: bool, spread: Any, radius: Any) -> None:
    """`sphere.windows` of squared distances; overwrites them."""
    width = min(3, D.shape[1])
    for i in range(len(D)):
        d = np.sqrt(D[i])
        if len(d) > 24:
            d.sort()
        else:
            for j in range(1, len(d)):
                value, at = d[j], j
                while at > 0 and d[at - 1] > value:
                    d[at] = d[at - 1]
                    at -= 1
                d[at] = value
        spread[i] = np.inf
        for j in range(1 if empty else len(d) - width + 1):
            if d[j + width - 1] - d[j] < spread[i]:
                total = d[j]
                for more in range(1, width):
                    total += d[j + more]
                spread[i], radius[i] = d[j + width - 1] - d[j], total / width


@njit(nogil=True, cache=True)
def unbeaten(spread: Any, radius: Any) -> Any:
    """`sphere.unbeaten`: those found so far are kept in order of spread, and so of radius."""
    kept, n = np.empty(len(spread), np.intp), 0
    for i in range(len(spread)):
        low, high = 0, n  # the first whose spread is larger
        while low < high:
            middle = (low + high) // 2
            if spread[kept[middle]] > spread[i]:
                high = middle
            else:
                low = middle + 1
        if low > 0 and radius[kept[low - 1]] >= radius[i]:
            continue
        if low > 0 and spread[kept[low - 1]] == spread[i]:
            low -= 1
        stop = low
        while stop < n and radius[kept[stop]] <= radius[i]:
            stop += 1
        if stop == low:
            for at in range(n, low, -1):
                kept[at] = kept[at - 1]
        else:
            for at in range(stop, n):
                kept[low + 1 + at - stop] = kept[at]
        n += 1 - (stop - low)
        kept[low] = i
    return kept[:n].copy()
