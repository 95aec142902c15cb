"""Kernels of the pivot: which radii reach a document, and the largest empty sphere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.kernels.jit import inner, kernel

FEW = 24  # distances that are sorted fastest by inserting one after the other


def windows(D: NDArray[np.float64], empty: bool) -> tuple[Any, Any]:
    """`sphere.windows` of squared distances; overwrites them."""
    if D.shape[1] > FEW:
        D.sort(axis=1)
    spread, radius = np.empty(len(D)), np.empty(len(D))
    find_windows(D, empty, spread, radius)
    return spread, radius


@kernel()
def find_windows(D: Any, empty: bool, spread: Any, radius: Any) -> None:
    """Sort the distances of each row, and find the three neighbours with the least spread."""
    n, children = D.shape
    width = min(3, children)
    for i in range(n):
        for j in range(children):
            value, at = np.sqrt(D[i, j]), j
            while at > 0 and D[i, at - 1] > value:
                D[i, at] = D[i, at - 1]
                at -= 1
            D[i, at] = value
        spread[i] = np.inf
        for j in range(1 if empty else children - width + 1):
            apart = D[i, j + width - 1] - D[i, j]
            if apart < spread[i]:
                total = D[i, j]
                for more in range(1, width):
                    total += D[i, j + more]
                spread[i], radius[i] = apart, total / width


@kernel()
def place(
    D: Any, limit: Any, squares: Any, family: Any, families: int, row: Any, column: Any, first: Any,
    nearest: Any,
) -> int:  # fmt: skip
    """`pivot.assigned` of topics without eccentricity; returns how many placements there are.

    `limit` : difference below which two distances of a document are tied
    `squares` : squared radius of each topic
    `family` : number of the siblings that each topic is one of
    `row`, `column`, `first` : filled: a document, its topic, and whether no topic of it is nearer
    `nearest` : filled: the nearest topic of each document, whether it is reached or not
    """
    found, least, taken = 0, np.empty(families), np.empty(families, np.bool_)
    for i in range(D.shape[0]):
        lowest = np.inf
        for f in range(families):
            least[f], taken[f] = np.inf, False
        for j in range(D.shape[1]):
            lowest = min(lowest, D[i, j])
            if reaches(D[i, j], squares[j], limit[i]):
                least[family[j]] = min(least[family[j]], D[i, j])
        at, own, best = -1, -1, np.inf
        for j in range(D.shape[1]):
            d = D[i, j]
            if at < 0 and d <= lowest + limit[i]:
                at = j
            f = family[j]
            if not taken[f] and d <= least[f] + limit[i] and reaches(d, squares[j], limit[i]):
                taken[f] = True
                row[found], column[found], first[found] = i, j, False
                if d < best:
                    own, best = found, d
                found += 1
        if own >= 0:
            first[own] = True
        nearest[i] = at
    return found


@inner()
def reaches(d: float, square: float, limit: float) -> bool:
    """`pivot.reached` of one squared distance."""
    return bool(square >= d or (square == 0.0 and d <= limit))


def unbeaten(spread: NDArray[np.float64], radius: NDArray[np.float64]) -> Any:
    """`sphere.unbeaten`."""
    kept = np.empty(len(spread), np.intp)
    return kept[: find_unbeaten(spread, radius, kept)]


@kernel()
def find_unbeaten(spread: Any, radius: Any, kept: Any) -> int:
    """Fill in the documents that none beats; returns their number.

    Those found so far are kept in order of spread, and so of radius.
    """
    n = 0
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
    return n
