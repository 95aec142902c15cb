"""Centres in panels, as the innermost loops read them, and products of rows with all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hierseed.core.kernels.compiled import aligned_zeros
from hierseed.core.kernels.jit import inner, kernel
from hierseed.core.kernels.llvm_kernels import (
    DOUBLE,
    INT,
    LANES,
    MOST,
    ROWS,
    WIDE_LANES,
    product,
    tile,
)

_one, _two, _three, _four = (tile(vectors) for vectors in (1, 2, 3, 4))
_wide_one, _wide_two, _wide_three, _wide_four = (
    product(vectors, DOUBLE) for vectors in (1, 2, 3, 4)
)
_whole_one, _whole_two, _whole_three, _whole_four = (
    product(vectors, INT) for vectors in (1, 2, 3, 4)
)


def pack(
    C: NDArray[np.float64], c2: NDArray[np.float64], edges: NDArray[np.intp]
) -> tuple[Any, Any, Any]:
    """-2 C' in the panels that `compare` reads, c2, infinite for padding, and the first columns.

    `edges` : where each family of centres begins, and where the last ends
    """
    column = np.append(0, np.cumsum(-(-np.diff(edges) // LANES) * LANES))
    packed = aligned_zeros((column[-1] * C.shape[1],), np.float32)
    offset = aligned_zeros((column[-1],), np.float32)
    offset[:] = np.inf
    fill(np.ascontiguousarray(C), c2, edges, column, packed, offset)
    return packed, offset, column


def pack_wide(C: NDArray[np.float64]) -> Any:
    """C' in float64, in the panels that `multiply_wide` reads."""
    return _pack_all(C, np.float64, WIDE_LANES)


def pack_whole(C: NDArray[np.floating]) -> Any:
    """C' of whole numbers, two int16 in an int32, in the panels that `multiply_whole` reads."""
    return _pack_all(C, np.int16, LANES, together=2).view(np.int32)


def _pack_all(C: NDArray[np.floating], dtype: DTypeLike, lanes: int, together: int = 1) -> Any:
    """One family in panels; this many coordinates of a centre lie together."""
    vectors, depth = -(-len(C) // lanes), -(-C.shape[1] // together)
    packed = aligned_zeros((vectors * lanes, depth * together), dtype)
    panels = -(-vectors // MOST)
    for panel in range(panels):
        left, right = (at * vectors // panels * lanes for at in (panel, panel + 1))
        centres, places = C[left:right].T, packed[left:right].reshape(depth, -1, together)
        for i in range(together):
            some = centres[i::together]
            places[: len(some), : some.shape[1], i] = some
    return packed.reshape(-1)


@kernel()
def fill(C: Any, c2: Any, edges: Any, column: Any, packed: Any, offset: Any) -> None:
    """Write -2 C' into panels, family by family."""
    width = C.shape[1]
    for family in range(len(column) - 1):
        first, left = edges[family], column[family]
        n, vectors = edges[family + 1] - first, (column[family + 1] - left) // LANES
        panels = -(-vectors // MOST)
        for panel in range(panels):
            begin = panel * vectors // panels * LANES
            size = (panel + 1) * vectors // panels * LANES - begin
            for i in range(begin, min(begin + size, n)):
                offset[left + i] = c2[first + i]
                for j in range(width):
                    place = (left + begin) * width + j * size + i - begin
                    packed[place] = -2.0 * C[first + i, j]


@inner()
def compare(
    strip: Any, some: int, packed: Any, left: int, right: int, offset: Any,
    least: Any, after: Any, place: Any,
) -> None:  # fmt: skip
    """Least and second of the distances of float32 rows to the centres of one family.

    `left`, `right` : the columns of the family
    `least`, `after`, `place` : of each lane of a row; see `llvm_kernels.tile`
    """
    for i in range(len(least)):
        for lane in range(LANES):
            least[i, lane], after[i, lane], place[i, lane] = np.inf, np.inf, left
    vectors = (right - left) // LANES
    panels = -(-vectors // MOST)
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


@inner()
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
                _wide_four(*args)
            elif size == 3:
                _wide_three(*args)
            elif size == 2:
                _wide_two(*args)
            else:
                _wide_one(*args)


@inner()
def multiply_whole(strip: Any, some: int, packed: Any, found: Any) -> None:
    """Products of rows of whole numbers, two int16 in an int32, with all centres; exact."""
    multiply_from(strip, some, packed, found, 0)


@inner()
def multiply_lower(turned: Any, packed: Any, found: Any) -> None:
    """The same of columns, turned to rows, with themselves; the lower half at least."""
    multiply_from(turned, found.shape[1], packed, found, 1)


@inner()
def multiply_from(strip: Any, some: int, packed: Any, found: Any, slope: int) -> None:
    """Products of rows with all centres, for each from as many rows on as come before it.

    `slope` : 1; or 0 for all rows
    """
    vectors = found.shape[1] // LANES
    panels = -(-vectors // MOST)
    for panel in range(panels):
        left = panel * vectors // panels
        size = (panel + 1) * vectors // panels - left
        first = slope * (left * LANES)
        for i in range(first - first % ROWS, some, ROWS if size > 1 else 2 * ROWS):
            args = strip, i, packed, left * LANES, found, i
            if size == 4:
                _whole_four(*args)
            elif size == 3:
                _whole_three(*args)
            elif size == 2:
                _whole_two(*args)
            else:
                _whole_one(*args)
