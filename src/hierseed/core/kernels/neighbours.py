"""The kernel of `mixture.neighbours`: rows compared with reference documents and topics.

Products are of whole numbers below 2**12, and exact. Two of them are multiplied and added at a
time, as integers: twice as fast as float32 on a processor with AVX-512 VNNI.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hierseed.core.kernels.jit import inner, kernel
from hierseed.core.kernels.llvm_kernels import ROWS
from hierseed.core.kernels.panels import multiply_whole
from hierseed.core.kernels.rows import squared

LOOKED = 16 * ROWS  # rows at a time
GROUPS = 48  # of values: more than neighbours
NEVER = -(2**30)  # lower than any product


@inner()
def highest(values: Any, i: int, begin: int, end: int) -> int:
    """The largest value of a part of a row."""
    found = values[i, begin]
    for at in range(begin, end):
        found = max(found, values[i, at])
    return int(found)


@inner()
def largest(values: Any, i: int, n: int, peaks: Any, top: Any) -> None:
    """The largest of the first n values of a row, in ascending order; as many as `top` holds.

    Values are dealt to groups. The largest values of the groups bound what `top` can hold, and
    only groups that reach this bound are looked at. `peaks` is room for these largest values.
    """
    groups = len(peaks)
    for g in range(groups):
        peaks[g] = NEVER
    for begin in range(0, n - n % groups, groups):
        for g in range(groups):
            peaks[g] = max(peaks[g], values[i, begin + g])
    for c in range(n - n % groups, n):
        peaks[c % groups] = max(peaks[c % groups], values[i, c])
    for at in range(len(top)):
        top[at] = NEVER
    for g in range(groups):
        insert(top, peaks[g])
    bound = top[0]
    for at in range(len(top)):
        top[at] = NEVER
    for g in range(groups):
        if peaks[g] >= bound:
            for c in range(g, n, groups):
                if values[i, c] >= bound:
                    insert(top, values[i, c])


@inner()
def insert(top: Any, value: int) -> None:
    """Insert a value into an ascending list of fixed size, which loses its least value."""
    if value > top[0]:
        at = 0
        while at < len(top) - 1 and top[at + 1] < value:
            top[at] = top[at + 1]
            at += 1
        top[at] = value


@inner()
def round_direction(
    X: Any, row: int, centre: Any, length: float, exact: Any, strip: Any, i: int
) -> bool:
    """Direction of a row from the centre, rounded to whole numbers; whether the row has content."""
    empty = True
    for j in range(X.shape[1]):
        exact[0, j] = np.float64(X[row, j]) - centre[j]
        empty &= np.float64(X[row, j]) * np.float64(X[row, j]) == 0
    size = np.sqrt(squared(exact, 0))
    factor = length / size if size > 0 else 0.0
    for j in range(X.shape[1]):
        strip[i, j] = np.int16(np.rint(exact[0, j] * factor))
    return not empty


@inner()
def same(one: Any, i: int, other: Any, k: int) -> bool:
    """Whether a row of one array is a row of another."""
    j = 0
    while j < other.shape[1] and one[i, j] == other[k, j]:
        j += 1
    return bool(j == other.shape[1])


@inner()
def turn_direction(along: Any, i: int, exact: Any, length: float, strip: Any) -> float:
    """Scale products with the main directions to a length, rounded; how long they were."""
    for j in range(exact.shape[1]):
        exact[0, j] = along[i, j]
    size = np.sqrt(squared(exact, 0))
    factor = length / size if size > 0 else 0.0
    for j in range(exact.shape[1]):
        strip[i, j] = np.int16(np.rint(exact[0, j] * factor))
    return float(size)


@kernel()
def look_up(
    X: Any, centre: Any, length: float, main: Any, packed: Any, references: Any, topics: int,
    coarse: Any, k: int, own: Any, nearest: Any, count: Any, around: Any, part: Any, content: Any,
) -> None:  # fmt: skip
    """Look up rows among reference documents and topics; see `Neighbourhood.scores`.

    `main` : the main directions, packed
    `packed` : references, then so many `topics`, padded together
    `own`, `nearest` : similarity to the nearest topic, and which it is
    `count`, `around` : neighbours, and the sum of what `coarse` says of them
    `part` : of a row's length along the main directions
    `content` : whether a row is not zero
    """
    n, width, turned, many = len(own), X.shape[1], references.shape[1], len(references)
    double, half = (width + 1) // 2, (turned + 1) // 2
    exact, short = np.empty((1, width)), np.empty((1, turned))
    read, pairs = np.zeros((LOOKED, double), np.int32), np.zeros((LOOKED, half), np.int32)
    rows, strip = read.view(np.int16), pairs.view(np.int16)
    along = np.empty((LOOKED, len(main) // double), np.int32)
    found = np.empty((LOOKED, len(packed) // half), np.int32)
    top, peaks = np.empty(k, np.int32), np.empty(GROUPS, np.int32)
    lowest = np.int32(-2 * length**2)
    for begin in range(0, n, LOOKED):
        some = min(LOOKED, n - begin)
        for i in range(some):
            content[begin + i] = round_direction(X, begin + i, centre, length, exact, rows, i)
        multiply_whole(read, some, main, along)
        for i in range(some):
            whole = length * max(np.sqrt(squared(rows, i)), 1.0)
            part[begin + i] = turn_direction(along, i, short, length, strip) / whole
        multiply_whole(pairs, some, packed, found)
        for i in range(some):
            row, at = begin + i, 0
            best = highest(found, i, many, many + topics)
            while found[i, many + at] != best:
                at += 1
            own[row], nearest[row] = best, at
            largest(found, i, many, peaks, top)
            if top[k - 1] >= squared(strip, i):  # a reference may be the row itself
                for c in range(many):
                    if found[i, c] >= top[0] and same(strip, i, references, c):
                        found[i, c] = NEVER
                largest(found, i, many, peaks, top)
            least, near, total = max(top[0], lowest), 0, 0
            for c in range(many):
                counts = 1 if found[i, c] >= least else 0
                near += counts
                total += counts * coarse[c]
            count[row], around[row] = near, total
