"""Steps of the mixture on the rows of a block, compiled by numba, outside the interpreter's lock.

`share_out` is the E-step: a matrix library's product of all rows with all components would be
written to memory, and then read five times. `look_up` compares rows with the reference
documents of `mixture.neighbours`; its products are of whole numbers, and exact.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from hierseed.core.kernels.llvm_kernels import LANES, MOST, REAL, ROWS, product
from hierseed.core.kernels.numba_kernels import multiply_wide, read_row, squared

LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770e-10
SHARED, LOOKED = 4 * ROWS, 16 * ROWS  # rows at a time: they, and what they meet, fit a cache
MANY = 1000  # components
GROUP = 32  # values that are looked at together
LOWEST = -700.0  # below, exp is as good as nothing
TAYLOR = tuple(1.0 / math.factorial(i) for i in range(14))

_by_one, _by_two, _by_three, _by_four = (product(vectors, REAL) for vectors in (1, 2, 3, 4))


@njit(nogil=True, cache=True, fastmath={"contract"})
def exponentials(values: Any, powers: Any) -> None:
    """Exponential of numbers that are not positive, in place; `powers` is room for as many."""
    bits = powers.view(np.int64)
    for i in range(len(values)):
        x = max(values[i], LOWEST)
        n = np.rint(x * LOG2_E)
        r = (x - n * LN2_HIGH) - n * LN2_LOW
        bits[i] = (np.int64(n) + 1023) << 52
        p = TAYLOR[13]
        p = p * r + TAYLOR[12]
        p = p * r + TAYLOR[11]
        p = p * r + TAYLOR[10]
        p = p * r + TAYLOR[9]
        p = p * r + TAYLOR[8]
        p = p * r + TAYLOR[7]
        p = p * r + TAYLOR[6]
        p = p * r + TAYLOR[5]
        p = p * r + TAYLOR[4]
        p = p * r + TAYLOR[3]
        p = p * r + TAYLOR[2]
        p = p * r + TAYLOR[1]
        values[i] = p * r + TAYLOR[0]
    for i in range(len(values)):
        values[i] *= powers[i]


@njit(nogil=True, cache=True)
def round_rows(X: Any, start: int, step: float, place: Any, sums: Any, found: Any) -> None:
    """Rows times a step, rounded to whole numbers, and the sum of each.

    `place` : where each row goes in `found`, -1 for nowhere; empty: `found` is not filled
    """
    row = np.empty((1, X.shape[1]), np.float32)
    for i in range(len(sums)):
        read_row(X, start + i, row, 0)
        if len(place) and place[i] >= 0:
            line = found[place[i]]
            for j in range(X.shape[1]):
                line[j] = np.rint(np.float64(row[0, j]) * step)
        sums[i] = whole_sum(row[0], step)


@njit(nogil=True, cache=True, fastmath={"reassoc"})
def whole_sum(x: Any, step: float) -> float:
    """Sum of whole numbers: exact, so in any order."""
    total = 0.0
    for j in range(len(x)):
        total += np.rint(np.float64(x[j]) * step)
    return total


@njit(nogil=True, cache=True)
def add_shares(strip: Any, share: Any, weight: Any, weights: Any, sums: Any, summed: bool) -> None:
    """Add shares of rows to components; four rows at a time, because most shares are zero."""
    width, rows = strip.shape[1], np.empty(len(weight), np.intp)
    if len(weights) > MANY:  # columns of shares lie far apart
        for i in range(len(weight)):
            for c in range(len(weights) if weight[i] != 0.0 else 0):
                if share[i, c] != 0.0:
                    weights[c] += share[i, c]
                    if summed:
                        for j in range(width):
                            sums[c, j] += share[i, c] * strip[i, j]
        return
    for c in range(len(weights)):
        some = 0
        for i in range(len(weight)):
            if weight[i] != 0.0 and share[i, c] != 0.0:
                rows[some] = i
                some += 1
                weights[c] += share[i, c]
        if some == 0 or not summed:
            continue
        total = sums[c]
        for at in range(0, some - some % 4, 4):
            w, x, y, z = rows[at], rows[at + 1], rows[at + 2], rows[at + 3]
            of_w, of_x, of_y, of_z = share[w, c], share[x, c], share[y, c], share[z, c]
            for j in range(width):
                total[j] += (of_w * strip[w, j] + of_x * strip[x, j]) + (
                    of_y * strip[y, j] + of_z * strip[z, j]
                )
        for at in range(some - some % 4, some):
            w, of_w = rows[at], share[rows[at], c]
            for j in range(width):
                total[j] += of_w * strip[w, j]


@njit(nogil=True, cache=True)
def share_out(
    X: Any, start: int, step: float, packed: Any, offset: Any, grid: float, log_grid: float,
    weight: Any, weights: Any, sums: Any, summed: bool,
) -> float:  # fmt: skip
    """Share out rows among components; add to `weights` and `sums`, return the log-likelihood.

    `step`, `grid`, `log_grid` : factors before rounding, of rows, of shares, of logs
    `offset` : of each component, minus infinity for padding
    `summed` : whether vectors are added to `sums`
    """
    k, n, width, columns = len(weights), len(weight), X.shape[1], len(offset)
    row, strip = np.empty((1, width), np.float32), np.zeros((SHARED, width))
    found, powers, logs = np.empty((SHARED, columns)), np.empty(columns), 0.0
    for begin in range(0, n, SHARED):
        some = min(SHARED, n - begin)
        for i in range(some):
            read_row(X, start + begin + i, row, 0)
            for j in range(width):
                strip[i, j] = np.rint(np.float64(row[0, j]) * step)
        multiply_wide(strip, some, packed, found)
        for i in range(some):
            share, own, top = found[i], weight[begin + i], -np.inf
            for c in range(columns):
                share[c] += offset[c]
                top = max(top, share[c])
            if own == 0.0:
                continue
            for c in range(columns):
                share[c] -= top
            exponentials(share, powers)
            total = 0.0
            for c in range(k):
                total += share[c]
            logs += np.rint((top + math.log(total)) * own * log_grid)
            factor = grid * own / total
            for c in range(k):
                share[c] = np.rint(share[c] * factor)
        add_shares(strip, found, weight[begin : begin + some], weights, sums, summed)
    return logs


@njit(nogil=True, cache=True)
def walk_down(
    X: Any, start: int, step: float, packed: Any, offset: Any, softer: float, grid: float,
    topic: Any, parent: Any, children: Any, first: Any, stops: Any, path: Any, chance: Any,
) -> None:  # fmt: skip
    """Go from the root to the most probable topic at each level; see `placement.go_down`.

    `softer`, `grid` : factor of logs, and of probabilities before they are rounded
    `topic` : of each component
    `children`, `first` : children of topic t are `children[first[t]:first[t + 1]]`; the root's last
    `stops` : whether documents may stop at a topic
    `path`, `chance` : (rows, levels) topics and their probabilities, filled as far as a row goes
    """
    k, n, width, columns = len(topic), len(path), X.shape[1], len(offset)
    row, strip = np.empty((1, width), np.float32), np.zeros((SHARED, width))
    found, powers = np.empty((SHARED, columns)), np.empty(columns)
    own, mass = np.zeros(len(stops)), np.zeros(len(stops))
    root = len(parent)
    for begin in range(0, n, SHARED):
        some = min(SHARED, n - begin)
        for i in range(some):
            read_row(X, start + begin + i, row, 0)
            for j in range(width):
                strip[i, j] = np.rint(np.float64(row[0, j]) * step)
        multiply_wide(strip, some, packed, found)
        for i in range(some):
            share, top = found[i], -np.inf
            for c in range(columns):
                share[c] = (share[c] + offset[c]) * softer
                top = max(top, share[c])
            for c in range(columns):
                share[c] -= top
            exponentials(share, powers)
            total = 0.0
            for c in range(k):
                total += share[c]
            factor = grid / total
            for c in range(k):
                own[topic[c]] = np.rint(share[c] * factor) / grid
            mass[:] = own
            for t in range(root - 1, -1, -1):
                if parent[t] >= 0:
                    mass[parent[t]] += mass[t]
            here, level = root, 0
            while first[here] < first[here + 1]:
                best, worth = -1, -1.0
                for at in range(first[here], first[here + 1]):
                    child = children[at]
                    if min(mass[child], 1.0) > worth:
                        best, worth = child, min(mass[child], 1.0)
                if stops[here] and own[here] > worth:
                    break
                path[begin + i, level], chance[begin + i, level] = best, worth
                here, level = best, level + 1


@njit(nogil=True, cache=True)
def multiply(strip: Any, some: int, packed: Any, found: Any) -> None:
    """Products of float32 rows with all centres."""
    vectors = found.shape[1] // LANES
    panels = -(-vectors // MOST)
    for panel in range(panels):
        left = panel * vectors // panels
        size = (panel + 1) * vectors // panels - left
        for i in range(0, some, ROWS if size > 1 else 2 * ROWS):
            args = strip, i, packed, left * LANES, found, i
            if size == 4:
                _by_four(*args)
            elif size == 3:
                _by_three(*args)
            elif size == 2:
                _by_two(*args)
            else:
                _by_one(*args)


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def highest(values: Any) -> float:
    """The largest value."""
    found = values[0]
    for i in range(len(values)):
        found = max(found, values[i])
    return found


@njit(nogil=True, cache=True)
def largest(values: Any, top: Any) -> None:
    """The largest values, in ascending order, as many as `top` has room for."""
    n, k = len(values), len(top)
    top[:] = -np.inf
    for begin in range(0, n, GROUP):
        some = values[begin : min(begin + GROUP, n)]
        if highest(some) <= top[0]:
            continue
        for i in range(len(some)):
            if some[i] > top[0]:
                at = 0
                while at < k - 1 and top[at + 1] < some[i]:
                    top[at] = top[at + 1]
                    at += 1
                top[at] = some[i]


@njit(nogil=True, cache=True)
def count_from(values: Any, least: float, marks: Any) -> tuple[int, int]:
    """How many values are at least so large, and the sum of their marks."""
    count, total = 0, 0
    for i in range(len(values)):
        counts = 1 if values[i] >= least else 0
        count += counts
        total += counts * marks[i]
    return count, total


@njit(nogil=True, cache=True)
def look_up(
    X: Any, centre: Any, length: float, packed: Any, references: Any, topics: int, coarse: Any,
    k: int, own: Any, nearest: Any, count: Any, around: Any,
) -> None:  # fmt: skip
    """Look up rows among reference documents and topics; see `Neighbourhood.scores`.

    `packed` : references, then so many `topics`, padded together
    `own`, `nearest` : similarity to the nearest topic, and which it is
    `count`, `around` : neighbours, and the sum of what `coarse` says of them
    """
    n, width, many = len(own), X.shape[1], len(references)
    columns = len(packed) // width
    exact, strip = np.empty(width), np.zeros((LOOKED, width), np.float32)
    found, top = np.empty((LOOKED, columns), np.float32), np.empty(k, np.float32)
    for begin in range(0, n, LOOKED):
        some = min(LOOKED, n - begin)
        for i in range(some):
            for j in range(width):
                exact[j] = np.float64(X[begin + i, j]) - centre[j]
            size = np.sqrt(squared(exact))
            factor = length / size if size > 0 else 0.0
            for j in range(width):
                strip[i, j] = np.rint(exact[j] * factor)
        multiply(strip, some, packed, found)
        for i in range(some):
            near, to_topics, row = found[i, :many], found[i, many : many + topics], begin + i
            own[row], at = highest(to_topics), 0
            while to_topics[at] != own[row]:
                at += 1
            nearest[row] = at
            largest(near, top)
            if top[k - 1] >= squared(strip[i]):  # a reference may be the row itself
                for c in range(many):
                    if near[c] >= top[0] and np.all(references[c] == strip[i]):
                        near[c] = -np.inf
                largest(near, top)
            least = max(top[0], np.float32(-2.0 * length**2))
            count[row], around[row] = count_from(near, least, coarse)
