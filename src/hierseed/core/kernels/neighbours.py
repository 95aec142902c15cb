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
from hierseed.core.kernels.rows import read_wide, squared

LOOKED = 16 * ROWS  # rows at a time
GROUPS = 64  # of values: more than neighbours
NEVER = -(2**30)  # lower than any product


@inner()
def highest(values: Any, i: int, begin: int, end: int) -> int:
    """The largest value of a part of a row."""
    found = values[i, begin]
    for at in range(begin, end):
        found = max(found, values[i, at])
    return int(found)


@inner()
def kth_largest(values: Any, i: int, n: int, k: int, room: Any) -> tuple[int, int]:
    """The k-th largest of the first n values of a row, and the largest.

    Values are dealt to groups. The k-th largest of the groups' largest values bounds what is looked
    for, and only groups that reach this bound are looked at. All loops are without branches.

    `room` : (3, groups) for the largest of each group, what reaches the bound, and counts
    """
    peaks, reach, above = room[0], room[1], room[2]
    for g in range(GROUPS):
        peaks[g] = NEVER
    for begin in range(0, n - n % GROUPS, GROUPS):
        for g in range(GROUPS):
            peaks[g] = max(peaks[g], values[i, begin + g])
    for c in range(n - n % GROUPS, n):
        peaks[c % GROUPS] = max(peaks[c % GROUPS], values[i, c])
    most, bound = NEVER, kth_of_groups(peaks, k, above)
    many = 0
    for g in range(GROUPS):
        most = max(most, peaks[g])
        above[many] = g
        many += peaks[g] >= bound
    found = 0
    for at in range(many):
        for c in range(above[at], n, GROUPS):
            if found == GROUPS:
                return by_insertion(values, i, n, k, reach), most
            reach[found] = values[i, c]
            found += values[i, c] >= bound
    for g in range(found, GROUPS):
        reach[g] = NEVER
    return kth_of_groups(reach, k, above), most


@inner()
def kth_of_groups(values: Any, k: int, above: Any) -> int:
    """The k-th largest of as many values as there are groups; `above` is room for counts."""
    for g in range(GROUPS):
        above[g] = 0
    for at in range(GROUPS):
        value = values[at]
        for g in range(GROUPS):
            above[g] += value > values[g]
    found = -NEVER
    for g in range(GROUPS):
        if above[g] < k:
            found = min(found, values[g])
    return int(found)


@inner()
def by_insertion(values: Any, i: int, n: int, k: int, top: Any) -> int:
    """The k-th largest where many are as large as it is; `top` is room for k."""
    for at in range(k):
        top[at] = NEVER
    for c in range(n):
        value = values[i, c]
        if value > top[0]:
            at = 0
            while at < k - 1 and top[at + 1] < value:
                top[at] = top[at + 1]
                at += 1
            top[at] = value
    return int(top[0])


@inner()
def round_direction(
    X: Any, row: int, centre: Any, length: float, narrow: Any, exact: Any, strip: Any, i: int
) -> bool:
    """Direction of a row from the centre, rounded to whole numbers; whether the row has content."""
    read_wide(X, row, narrow, exact)
    content = squared(exact, 0) > 0
    for j in range(X.shape[1]):
        exact[0, j] -= centre[j]
    size = np.sqrt(squared(exact, 0))
    factor = length / size if size > 0 else 0.0
    for j in range(X.shape[1]):
        strip[i, j] = np.int16(np.rint(exact[0, j] * factor))
    return bool(content)


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


@inner(fastmath={"reassoc"})
def reaching(values: Any, i: int, least: int, coarse: Any) -> tuple[float, float]:
    """How many of the values of a row reach the least, and the sum of what `coarse` says of these.

    Sums of whole numbers: exact, so in any order.
    """
    near, total = 0.0, 0.0
    for c in range(len(coarse)):
        reaches = values[i, c] >= least
        near += 1.0 if reaches else 0.0
        total += coarse[c] if reaches else 0.0
    return near, total


@kernel()
def look_up(
    X: Any, start: int, centre: Any, length: float, main: Any, packed: Any, references: Any,
    topics: int, coarse: Any, k: int, own: Any, nearest: Any, count: Any, around: Any, part: Any,
    content: Any,
) -> None:  # fmt: skip
    """Look up rows among reference documents and topics; see `Neighbourhood.scores`.

    `main` : the main directions, packed
    `packed` : references, then this many `topics`, padded together
    `own`, `nearest` : similarity to the nearest topic, and which it is
    `count`, `around` : neighbours, and the sum of what `coarse` says of them
    `part` : of a row's length along the main directions
    `content` : whether a row is not zero
    """
    n, width, turned, many = len(own), X.shape[1], references.shape[1], len(references)
    double, half = (width + 1) // 2, (turned + 1) // 2
    exact, short = np.empty((1, width)), np.empty((1, turned))
    narrow = np.empty((1, width), np.float32)
    read, pairs = np.zeros((LOOKED, double), np.int32), np.zeros((LOOKED, half), np.int32)
    rows, strip = read.view(np.int16), pairs.view(np.int16)
    along = np.empty((LOOKED, len(main) // double), np.int32)
    found = np.empty((LOOKED, len(packed) // half), np.int32)
    room = np.empty((3, GROUPS), np.int32)
    lowest = np.int32(-2 * length**2)
    for begin in range(0, n, LOOKED):
        some = min(LOOKED, n - begin)
        for i in range(some):
            content[begin + i] = round_direction(
                X, start + begin + i, centre, length, narrow, exact, rows, i
            )
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
            least, most = kth_largest(found, i, many, k, room)
            if most >= squared(strip, i):  # a reference may be the row itself
                for c in range(many):
                    if found[i, c] >= least and same(strip, i, references, c):
                        found[i, c] = NEVER
                least, _ = kth_largest(found, i, many, k, room)
            least = max(least, lowest)
            count[row], around[row] = reaching(found, i, least, coarse)
