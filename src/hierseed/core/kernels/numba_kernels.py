"""Loops that take numpy several passes, compiled by numba; `compiled` decides when.

`exact.Tally.move`, `half.floats` and `distance.two_least` give the same bits in numpy. `sweep`
rounds products differently from a matrix library; as in `distance.Centres`, float64 decides where
that matters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

from hierseed.core.kernels.aligned import aligned_zeros
from hierseed.core.kernels.llvm_kernels import LANES, MOST, ROWS, tile, widening

STRIP = 4 * ROWS  # rows that are compared with all centres before the next ones

_one, _two, _three, _four = (tile(vectors) for vectors in (1, 2, 3, 4))
_single, _many = widening(1), widening(LANES)


@njit(nogil=True, cache=True)
def move(sums: Any, counts: Any, X: Any, to: Any, out_of: Any, step: float) -> None:
    """Move rows from one group to another, where these differ."""
    for i in range(X.shape[0]):
        if to[i] != out_of[i]:
            move_one(sums, counts, X, i, to[i], out_of[i], step)


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


@njit(nogil=True, cache=True)
def widen(halves: Any, floats: Any) -> None:
    """Convert float16, given as int16 bits, to float32."""
    n = halves.size
    for at in range(0, n - n % LANES, LANES):
        _many(halves, floats, at)
    for at in range(n - n % LANES, n):
        _single(halves, floats, at)


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def two_least(D: Any, offset: Any, best: Any, first: Any, second: Any) -> None:
    """Column of the least of D + offset in each row, its value and the second; 4 columns a step."""
    for i in range(D.shape[0]):
        d = D[i]
        for j in range(d.shape[0]):
            d[j] += offset[j]
        least0 = least1 = least2 = least3 = next0 = next1 = next2 = next3 = d.dtype.type(np.inf)
        whole = d.shape[0] - d.shape[0] % 4
        for j in range(0, whole, 4):
            next0, least0 = min(next0, max(least0, d[j])), min(least0, d[j])
            next1, least1 = min(next1, max(least1, d[j + 1])), min(least1, d[j + 1])
            next2, least2 = min(next2, max(least2, d[j + 2])), min(least2, d[j + 2])
            next3, least3 = min(next3, max(least3, d[j + 3])), min(least3, d[j + 3])
        for j in range(whole, d.shape[0]):
            next0, least0 = min(next0, max(least0, d[j])), min(least0, d[j])
        left, right = min(least0, least1), min(least2, least3)
        next0 = min(max(least0, least1), min(next0, next1))
        next2 = min(max(least2, least3), min(next2, next3))
        first[i], second[i] = min(left, right), min(max(left, right), min(next0, next2))
        at = 0
        while at < d.shape[0] - 1 and d[at] != first[i]:
            at += 1
        best[i] = at


def pack(C: NDArray[np.float64], c2: NDArray[np.float64]) -> tuple[Any, Any]:
    """-2 C' in the panels that `sweep` reads, and c2, infinite for padding."""
    n = -(-len(C) // LANES) * LANES
    packed = aligned_zeros((n * C.shape[1],), np.float32)
    offset = aligned_zeros((n,), np.float32)
    offset[: len(C)] = c2
    offset[len(C) :] = np.inf
    fill(np.ascontiguousarray(C), packed)
    return packed, offset


@njit(nogil=True, cache=True)
def fill(C: Any, packed: Any) -> None:
    """Write -2 C' into panels."""
    n, width = C.shape
    vectors = -(-n // LANES)
    panels = -(-vectors // MOST)
    for panel in range(panels):
        begin = panel * vectors // panels * LANES
        size = (panel + 1) * vectors // panels * LANES - begin
        for i in range(begin, min(begin + size, n)):
            for j in range(width):
                packed[begin * width + j * size + i - begin] = -2.0 * C[i, j]


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


def _read(kind: Any, dimensions: int) -> Any:
    """A read-only array, such as rows of a memory map."""
    return types.Array(kind, dimensions, "C", readonly=True)


_real, _whole, _short = types.float64, types.intp, types.float32


@njit(
    types.void(  # one signature for all callers: compilation takes long
        _read(_short, 2), _read(_short, 1), _read(_short, 1), _read(_real, 2), _read(_real, 1),
        _read(_real, 1), _real, _real, _read(_whole, 1), _real[:, ::1], _whole[::1], _real,
        _whole[::1], _real[::1],
    ),
    nogil=True,
    cache=True,
)  # fmt: skip
def sweep(
    X: Any, packed: Any, offset: Any, C: Any, c2: Any, x2: Any, error: float, tie: float,
    was: Any, sums: Any, counts: Any, step: float, best: Any, margin: Any,
) -> None:  # fmt: skip
    """Nearest centre of each row and its margin; moves the row to the group of that centre.

    Takes at least `ROWS` rows; see `distance.Centres.nearest`. Without groups nothing is summed.
    """
    n, vectors, largest = X.shape[0], len(offset) // LANES, c2.max()
    panels = -(-vectors // MOST)
    least = np.empty((STRIP, LANES), np.float32)
    after = np.empty((STRIP, LANES), np.float32)
    place = np.empty((STRIP, LANES), np.int32)
    for start in range(0, n, STRIP):
        stop = min(start + STRIP, n)
        least[:], after[:], place[:] = np.inf, np.inf, 0
        for panel in range(panels):
            begin = panel * vectors // panels
            size = (panel + 1) * vectors // panels - begin
            for i in range(start, stop, ROWS):
                args = X, min(i, n - ROWS), packed, begin * LANES, offset  # the last six overlap
                if size == 4:
                    _four(*args, least, after, place, i - start)
                elif size == 3:
                    _three(*args, least, after, place, i - start)
                elif size == 2:
                    _two(*args, least, after, place, i - start)
                else:
                    _one(*args, least, after, place, i - start)
        for i in range(start, stop):
            group = start + (i - start) // ROWS * ROWS
            at = i - min(group, n - ROWS) + group - start
            lane, lowest, beyond = two_lanes(least[at], after[at])
            scale = x2[i] + largest
            apart = beyond - lowest - error * scale
            if apart > 0:
                best[i] = place[at, lane]
                more = x2[i] + error * scale
                margin[i] = apart / (np.sqrt(max(lowest + more, 0.0)) + np.sqrt(beyond + more))
            else:
                best[i], margin[i] = decide(X[i], C, c2, tie * scale), 0.0
            if len(counts) and best[i] != was[i]:
                move_one(sums, counts, X, i, best[i], was[i], step)
