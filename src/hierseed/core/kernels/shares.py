"""Kernels of the mixture: the E step, and the way down the tree.

A matrix library's product of all rows with all components would be written to memory, and then
read five times.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from hierseed.core.kernels.jit import inner, kernel
from hierseed.core.kernels.llvm_kernels import LANES, MOST, ROWS
from hierseed.core.kernels.panels import multiply_lower, multiply_wide
from hierseed.core.kernels.rows import read_row

LOG2_E, LN2_HIGH, LN2_LOW = 1.4426950408889634, 6.93147180369123816490e-01, 1.90821492927058770e-10
SHARED = 4 * ROWS  # rows at a time: they, and what they are multiplied with, fit a cache
MANY = 1000  # components
PAIRED, FEW_ROWS = 128, 16  # rows whose products are added in 32 bits: at most, and worth it
SHORTEST, LARGEST = 2.0**15, 2.0**31  # beyond what int16 and int32 hold
LOWEST = -700.0  # below, exp is as good as nothing
TAYLOR = tuple(1.0 / math.factorial(i) for i in range(14))


@inner(fastmath={"contract"})
def exponentials(values: Any, at: int, powers: Any) -> None:
    """Exponentials of a row of numbers that are not positive; `powers` is room for as many."""
    bits = powers.view(np.int64)
    for i in range(values.shape[1]):
        x = max(values[at, i], LOWEST)
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
        values[at, i] = p * r + TAYLOR[0]
    for i in range(values.shape[1]):
        values[at, i] *= powers[i]


@inner()
def round_strip(X: Any, start: int, some: int, step: float, row: Any, strip: Any) -> None:
    """Some rows times a step, rounded to whole numbers; `row` is room for one."""
    for i in range(some):
        read_row(X, start + i, row, 0)
        for j in range(X.shape[1]):
            strip[i, j] = np.rint(np.float64(row[0, j]) * step)


@kernel()
def round_rows(X: Any, start: int, step: float, place: Any, sums: Any, found: Any) -> None:
    """Rows times a step, rounded to whole numbers, and the sum of each.

    `place` : where each row goes in `found`, -1 for nowhere; empty: `found` is not filled
    """
    row, whole = np.empty((1, X.shape[1]), np.float32), np.empty((1, X.shape[1]))
    for i in range(len(sums)):
        round_strip(X, start + i, np.int64(1), step, row, whole)
        if len(place) and place[i] >= 0:
            for j in range(X.shape[1]):
                found[place[i], j] = whole[0, j]
        sums[i] = whole_sum(whole)


@inner(fastmath={"reassoc"})
def whole_sum(row: Any) -> float:
    """Sum of whole numbers: exact, so in any order."""
    total = 0.0
    for j in range(row.shape[1]):
        total += row[0, j]
    return total


@kernel()
def add_products(
    X: Any, start: int, rows: Any, weight: Any, step: float, sums: Any, products: Any
) -> bool:
    """Add up rows times a step, rounded to whole numbers, and their products, by weight.

    Products of int16 are added in int32, in pieces so short that the squares of no column
    overflow: the products of two columns are never larger. False: numbers are too large for that
    to pay off, and what was filled is of no use.

    `rows`, `weight` : which rows, in order of their weights, which are whole numbers
    `products` : (width, width), the lower half is filled
    """
    n, width, pairs = len(rows), X.shape[1], PAIRED // 2
    columns = -(-width // LANES) * LANES
    row, strip = np.empty((1, width), np.float32), np.empty((1, width))
    squares, ahead = np.empty(width), np.zeros((2, width), np.int32)
    packed = np.zeros(columns * pairs, np.int32)
    turned = np.zeros((columns + 2 * ROWS, pairs), np.int32)
    found, begin = np.empty((columns + 2 * ROWS, columns), np.int32), 0
    while begin < n:
        packed[:], squares[:] = 0, 0.0
        some, whole = 0, True
        while some < PAIRED and begin + some < n and weight[begin + some] == weight[begin]:
            round_strip(X, start + rows[begin + some], np.int64(1), step, row, strip)
            largest, square = 0.0, 0.0
            for j in range(width):
                largest = max(largest, abs(strip[0, j]))
                square = max(square, squares[j] + strip[0, j] * strip[0, j])
            whole = square < LARGEST and largest < SHORTEST
            if not whole:
                break
            for j in range(width):
                squares[j] += strip[0, j] * strip[0, j]
                sums[j] += weight[begin] * strip[0, j]
                ahead[some % 2, j] = np.int32(strip[0, j])
            if some % 2:
                pair_up(ahead, some // 2, packed, columns, turned)
            some += 1
        if some < FEW_ROWS and not whole:
            return False
        if some % 2:
            ahead[1] = 0
            pair_up(ahead, some // 2, packed, columns, turned)
        for pair in range((some + 1) // 2, pairs):
            turned[:, pair] = 0
        multiply_lower(turned, packed, found)
        for i in range(width):
            for j in range(i + 1):
                products[i, j] += weight[begin] * found[i, j]
        begin += some
    return True


@inner()
def pair_up(two: Any, pair: int, packed: Any, columns: int, turned: Any) -> None:
    """Put two rows of whole numbers, as pairs of int16, where `multiply_lower` reads them."""
    vectors, pairs = columns // LANES, turned.shape[1]
    panels = -(-vectors // MOST)
    for panel in range(panels):
        left = panel * vectors // panels * LANES
        size = (panel + 1) * vectors // panels * LANES - left
        at = left * pairs + pair * size
        for j in range(left, min(left + size, two.shape[1])):
            packed[at + j - left] = (two[0, j] & 0xFFFF) | (two[1, j] << 16)
            turned[j, pair] = packed[at + j - left]


@inner()
def add_shares(
    strip: Any, share: Any, weight: Any, begin: int, some: int, weights: Any, sums: Any
) -> None:
    """Add shares of rows to components; four rows at a time, because most shares are zero."""
    width, rows = strip.shape[1], np.empty(some, np.int64)
    if len(weights) > MANY:  # columns of shares lie far apart
        for i in range(some):
            for c in range(len(weights) if weight[begin + i] != 0.0 else 0):
                if share[i, c] != 0.0:
                    weights[c] += share[i, c]
                    for j in range(width):
                        sums[c, j] += share[i, c] * strip[i, j]
        return
    for c in range(len(weights)):
        n = 0
        for i in range(some):
            if weight[begin + i] != 0.0 and share[i, c] != 0.0:
                rows[n] = i
                n += 1
                weights[c] += share[i, c]
        for at in range(0, n - n % 4, 4):
            w, x, y, z = rows[at], rows[at + 1], rows[at + 2], rows[at + 3]
            of_w, of_x, of_y, of_z = share[w, c], share[x, c], share[y, c], share[z, c]
            for j in range(width):
                sums[c, j] += (of_w * strip[w, j] + of_x * strip[x, j]) + (
                    of_y * strip[y, j] + of_z * strip[z, j]
                )
        for at in range(n - n % 4, n):
            w, of_w = rows[at], share[rows[at], c]
            for j in range(width):
                sums[c, j] += of_w * strip[w, j]


@inner()
def soften(share: Any, i: int, k: int, offset: Any, softer: float, powers: Any) -> Any:
    """Turn the products of a row into shares up to a factor; the largest log, and their sum."""
    top, total = -np.inf, 0.0
    for c in range(share.shape[1]):
        share[i, c] = (share[i, c] + offset[c]) * softer
        top = max(top, share[i, c])
    for c in range(share.shape[1]):
        share[i, c] -= top
    exponentials(share, i, powers)
    for c in range(k):
        total += share[i, c]
    return top, total


@kernel()
def share_out(
    X: Any, start: int, step: float, packed: Any, offset: Any, grid: float, log_grid: float,
    weight: Any, weights: Any, sums: Any,
) -> float:  # fmt: skip
    """Share out rows among components; add to `weights` and `sums`, return the log-likelihood.

    `step`, `grid`, `log_grid` : factors before rounding, of rows, of shares, of logs
    `offset` : of each component, minus infinity for padding
    """
    k, n, width, columns = len(weights), len(weight), X.shape[1], len(offset)
    row, strip = np.empty((1, width), np.float32), np.zeros((SHARED, width))
    share, powers, logs = np.empty((SHARED, columns)), np.empty(columns), 0.0
    for begin in range(0, n, SHARED):
        some = min(SHARED, n - begin)
        round_strip(X, start + begin, some, step, row, strip)
        multiply_wide(strip, some, packed, share)
        for i in range(some):
            own = weight[begin + i]
            if own == 0.0:
                continue
            top, total = soften(share, i, k, offset, 1.0, powers)
            logs += np.rint((top + math.log(total)) * own * log_grid)
            factor = grid * own / total
            for c in range(k):
                share[i, c] = np.rint(share[i, c] * factor)
        add_shares(strip, share, weight, begin, some, weights, sums)
    return logs


@kernel()
def walk_down(
    X: Any, start: int, step: float, packed: Any, offset: Any, softer: float, grid: float,
    topic: Any, children: Any, first: Any, stops: Any, path: Any, chance: Any,
    share_grid: float, log_grid: float, weight: Any, weights: Any,
) -> float:  # fmt: skip
    """Go from the root to the most probable topic at each level; see `placement.go_down`.

    With weights of rows, it also shares them out as `share_out` does, without sums of vectors.

    `softer`, `grid` : factor of logs, and of probabilities before they are rounded
    `topic` : of each component
    `children`, `first` : children of topic t are `children[first[t]:first[t + 1]]`; the root's last
    `stops` : whether documents may stop at a topic
    `path`, `chance` : (rows, levels) topics and their probabilities, filled as far as a row goes;
        without rows nothing is placed
    `weight` : of each row; empty: nothing is shared out
    """
    k, n, width, columns = len(topic), max(len(path), len(weight)), X.shape[1], len(offset)
    row, strip = np.empty((1, width), np.float32), np.zeros((SHARED, width))
    share, powers = np.empty((SHARED, columns)), np.empty(columns)
    other, logs = np.empty((1, columns)), 0.0
    own, mass = np.zeros(len(stops)), np.zeros(len(stops))
    above = np.flatnonzero(first[1:-1] > first[:-2])
    for begin in range(0, n, SHARED):
        some = min(SHARED, n - begin)
        round_strip(X, start + begin, some, step, row, strip)
        multiply_wide(strip, some, packed, share)
        for i in range(some):
            if len(weight) and weight[begin + i] != 0.0:
                for c in range(columns):
                    other[0, c] = share[i, c]
                top, total = soften(other, 0, k, offset, 1.0, powers)
                logs += np.rint((top + math.log(total)) * weight[begin + i] * log_grid)
                factor = share_grid * weight[begin + i] / total
                for c in range(k):
                    weights[c] += np.rint(other[0, c] * factor)
            if not len(path):
                continue
            _, total = soften(share, i, k, offset, softer, powers)
            factor, unit = grid / total, 1.0 / grid  # a power of two
            for c in range(k):
                share[i, c] = np.rint(share[i, c] * factor) * unit
            for c in range(k):
                mass[topic[c]] = share[i, c]
            descend(own, mass, above, children, first, stops, path, chance, begin + i)
    return logs


@inner()
def descend(
    own: Any, mass: Any, above: Any, children: Any, first: Any, stops: Any, path: Any,
    chance: Any, row: int,
) -> None:  # fmt: skip
    """Add up what is in or below each topic, and go down to the most probable child.

    `above` : topics that have children
    """
    here, level = len(mass) - 1, 0
    for t in above[::-1]:
        own[t] = total = mass[t] if stops[t] else 0.0
        for at in range(first[t], first[t + 1]):
            total += mass[children[at]]
        mass[t] = total
    while first[here] < first[here + 1]:
        best, worth = -1, -1.0
        for at in range(first[here], first[here + 1]):
            value = min(mass[children[at]], 1.0)
            if value > worth:
                best, worth = children[at], value
        if stops[here] and own[here] > worth:
            return
        path[row, level], chance[row, level] = best, worth
        here, level = best, level + 1


@kernel()
def largest_in_columns(values: Any, place: Any, found: Any) -> None:
    """Rows of the largest values of each column and these values; see `arrays`.

    `place`, `found` : (columns, as many as are wanted), filled with -1 and 0
    """
    k = found.shape[1]
    for row in range(values.shape[0]):
        for i in range(values.shape[1]):
            value = values[row, i]
            if value > found[i, k - 1]:
                at = k - 1
                while at > 0 and found[i, at - 1] < value:
                    found[i, at], place[i, at] = found[i, at - 1], place[i, at - 1]
                    at -= 1
                found[i, at], place[i, at] = value, row
