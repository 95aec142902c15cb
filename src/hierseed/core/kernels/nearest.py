"""Kernels of k-means: distances to centres, the nearest one, and rows that have to be compared.

`sweep` rounds products differently from a matrix library. As in `distance.Centres`, float64
decides where that matters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hierseed.core.kernels.jit import inner, kernel
from hierseed.core.kernels.llvm_kernels import LANES, ROWS
from hierseed.core.kernels.panels import compare, multiply_wide
from hierseed.core.kernels.rows import move_one, read_strip

STRIP, WIDE_STRIP = 4 * ROWS, 2 * ROWS  # rows, in float64, compared with all centres at a time


@kernel()
def distances(X: Any, start: int, rows: Any, packed: Any, c2: Any, x2: Any, D: Any) -> None:
    """Squared distances of some rows to all centres, in float64; all rows if `rows` is empty."""
    n, k = D.shape
    strip = np.zeros((WIDE_STRIP, X.shape[1]), np.float32)
    wide, found = np.zeros(strip.shape), np.empty((WIDE_STRIP, len(packed) // X.shape[1]))
    for begin in range(0, n, WIDE_STRIP):
        some = min(WIDE_STRIP, n - begin)
        read_strip(X, start, rows, begin, some, strip)
        for i in range(some):
            for j in range(X.shape[1]):
                wide[i, j] = strip[i, j]
        multiply_wide(wide, some, packed, found)
        for i in range(some):
            own = x2[rows[begin + i] if len(rows) else begin + i]
            for j in range(k):
                D[begin + i, j] = max(found[i, j] + c2[j] + own, 0.0)


@inner()
def two_lanes(least: Any, after: Any, i: int) -> tuple[int, float, float]:
    """Lane of the least value of a row, that value, and the second of all lanes."""
    lane, lowest, beyond = 0, least[i, 0], after[i, 0]
    for at in range(1, LANES):
        beyond = min(beyond, after[i, at], max(lowest, least[i, at]))
        if least[i, at] < lowest:
            lane, lowest = at, least[i, at]
    return lane, np.float64(lowest), np.float64(beyond)


@inner(fastmath={"reassoc", "contract"})
def decide(X: Any, i: int, C: Any, c2: Any, first: int, last: int, tie: float) -> int:
    """Nearest centre in float64, from the first to before the last; of tied ones the first."""
    d, least = np.empty(last - first), np.inf
    for k in range(first, last):
        product = 0.0
        for j in range(X.shape[1]):
            product += np.float64(X[i, j]) * C[k, j]
        d[k - first] = c2[k] - 2.0 * product
        least = min(least, d[k - first])
    at, limit = 0, least + tie
    while d[at] > limit:
        at += 1
    return first + at


@kernel()
def sweep(
    X: Any, start: int, rows: Any, ends: Any, edges: Any, packed: Any, offset: Any, column: Any,
    C: Any, c2: Any, x2: Any, error: float, tie: float, was: Any, group: Any, sums: Any,
    counts: Any, step: float, best: Any, margin: Any,
) -> None:  # fmt: skip
    """Nearest centre of each row and its margin; moves the row to the group of that centre.

    Rows are in order of their families; `ends` says where each family of rows begins and ends,
    `edges` the same of centres. See `distance.Centres.nearest`. `group` is that of each centre;
    without `counts` nothing is summed.
    """
    strip = np.zeros((STRIP, X.shape[1]), np.float32)
    least = np.empty((STRIP, LANES), np.float32)
    after = np.empty((STRIP, LANES), np.float32)
    place = np.empty((STRIP, LANES), np.int32)
    for family in range(len(ends) - 1):
        first, last, left = edges[family], edges[family + 1], column[family]
        largest = 0.0
        for k in range(first, last):
            largest = max(largest, c2[k])
        for begin in range(ends[family], ends[family + 1], STRIP):
            some = min(STRIP, ends[family + 1] - begin)
            read_strip(X, start, rows, begin, some, strip)
            compare(strip, some, packed, left, column[family + 1], offset, least, after, place)
            for i in range(some):
                at = begin + i
                lane, lowest, beyond = two_lanes(least, after, i)
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
                    best[at] = decide(strip, i, C, c2, first, last, tie * scale)
                    margin[at] = 0.0
                if len(counts) and best[at] != was[at]:
                    before = group[was[at]] if was[at] >= 0 else np.int64(-1)
                    move_one(sums, counts, strip, i, group[best[at]], before, step)


@kernel()
def due(margin: Any, topic: Any, used: Any, above: Any, family: Any, order: Any, ends: Any) -> int:
    """Placements whose margin is used up, in order of their families; returns their number.

    `used` : margin that each topic uses up, taken off first; empty: none
    `above` : topic that each placement was in before, whose `family` of children is looked at
    `order`, `ends` : filled: the placements, and where each family of them begins and ends
    """
    place = np.zeros(len(ends), np.int64)
    for i in range(len(margin)):
        if len(used):
            margin[i] -= used[topic[i]]
        if margin[i] <= 0 and family[above[i]] >= 0:
            place[family[above[i]] + 1] += 1
    for f in range(1, len(ends)):
        place[f] += place[f - 1]
    for f in range(len(ends)):
        ends[f] = place[f]
    for i in range(len(margin)):
        if margin[i] <= 0 and family[above[i]] >= 0:
            order[place[family[above[i]]]] = i
            place[family[above[i]]] += 1
    return int(ends[-1])


@kernel()
def lloyd(
    X: Any, start: int, rows: Any, ends: Any, edges: Any, packed: Any, offset: Any, column: Any,
    C: Any, c2: Any, x2: Any, error: float, tie: float, group: Any, sums: Any, counts: Any,
    step: float, order: Any, position: Any, centre: Any, topic: Any, margin: Any,
) -> int:  # fmt: skip
    """`sweep` of the placements that are due; returns how many moved.

    `order`, `rows` : the placements, in order of their families, and their rows
    `position` : which centre each topic is; `centre` : the topic of each
    `topic`, `margin` : of each placement, filled: where it is now
    """
    moved, n = 0, len(order)
    was, best, far = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n)
    for at in range(n):
        was[at] = position[topic[order[at]]]
    sweep(
        X, start, rows, ends, edges, packed, offset, column, C, c2, x2, error, tie, was, group,
        sums, counts, step, best, far,
    )  # fmt: skip
    for at in range(n):
        topic[order[at]], margin[order[at]] = centre[best[at]], far[at]
        moved += best[at] != was[at]
    return moved
