# mypy: disable-error-code="no-untyped-def, untyped-decorator, misc"
"""Triton kernels of a k-means pass: the nearest centre of each row, and exact sums by group.

Neither holds a whole row in shared memory, so the memory does not depend on the dimension.
Centres are processed in a wide tile and a narrow one: 141 centres take 128 + 16 columns, where
one power of two would take 256.
"""

import triton
import triton.language as tl

SURE = tl.constexpr(0.999999)  # relative error of a root or quotient in single precision is less
ROUND = tl.constexpr(6755399441055744.0)  # 1.5 * 2**52: added and subtracted it rounds


@triton.jit
def _keep_best(score, base, first, second, best):
    """Least and second least so far, and the position of the least; of tied ones the first."""
    low = tl.min(score, axis=1)
    column = tl.arange(0, score.shape[1])
    at = tl.min(tl.where(score == low[:, None], column[None, :], score.shape[1]), axis=1)
    rest = tl.min(tl.where(column[None, :] == at[:, None], float("inf"), score), axis=1)
    better = low < first
    second = tl.where(better, tl.minimum(first, rest), tl.minimum(second, low))
    return tl.where(better, low, first), second, tl.where(better, at + base, best)


@triton.jit
def _scores(dot, base, c2, of_centre, own, FAMILIES: tl.constexpr):
    """Squared distance less the row's own square; infinite for centres of other families."""
    centre = base + tl.arange(0, dot.shape[1])
    score = tl.load(c2 + centre)[None, :] - 2.0 * dot
    if FAMILIES:
        theirs = tl.load(of_centre + centre)
        score = tl.where(own[:, None] == theirs[None, :], score, float("inf"))
    return score


@triton.jit
def _chunk(C, base, column, D: tl.constexpr, EVEN: tl.constexpr, SIZE: tl.constexpr):
    at = C + (base + tl.arange(0, SIZE))[:, None] * D + column[None, :]
    return tl.load(at) if EVEN else tl.load(at, mask=(column < D)[None, :], other=0.0)


@triton.jit
def _margin(first, second, x2, longest, relative, moved):
    """How much farther the second is than the first, not squared, less the rounding error."""
    error = relative * (x2 + longest) + moved * tl.sqrt(x2)
    most = x2 + error
    apart = tl.sqrt(tl.maximum(first + most, 0.0)) + tl.sqrt(tl.maximum(second + most, 0.0))
    margin = (second - first - error) / tl.maximum(apart, 1e-30) * SURE
    return tl.where(second == float("inf"), second, margin)


@triton.jit(do_not_specialize=["n", "K", "width", "relative"])
def assign_kernel(
    X, rows, family, squares, C, c2, of_centre, longest, moved, best_out, margin_out,
    n, K, width, relative,
    D: tl.constexpr, GATHER: tl.constexpr, FAMILIES: tl.constexpr, EVEN: tl.constexpr,
    PRECISION: tl.constexpr, WIDE: tl.constexpr, TAIL: tl.constexpr,
    ROWS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """One program: `ROWS` rows against all centres."""
    at = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    inside = at < n
    row = tl.load(rows + at, mask=inside, other=0).to(tl.int64) if GATHER else at
    own = tl.load(family + at, mask=inside, other=0) if FAMILIES else tl.zeros_like(at)
    first = tl.full((ROWS,), float("inf"), tl.float32)
    second = tl.full((ROWS,), float("inf"), tl.float32)
    best = tl.zeros((ROWS,), tl.int32)
    for base in range(0, K, WIDE + TAIL):
        wide = tl.zeros((ROWS, WIDE), tl.float32)
        tail = tl.zeros((ROWS, TAIL if TAIL else 16), tl.float32)
        for start in range(0, width, DEPTH):  # width is D; a constant would unroll this
            column = start + tl.arange(0, DEPTH)
            known = inside[:, None] if EVEN else inside[:, None] & (column < D)[None, :]
            x = tl.load(X + row[:, None] * D + column[None, :], mask=known, other=0.0)
            c = _chunk(C, base, column, D, EVEN, WIDE)
            wide = tl.dot(x, tl.trans(c), wide, input_precision=PRECISION)
            if TAIL:
                c = _chunk(C, base + WIDE, column, D, EVEN, TAIL)
                tail = tl.dot(x, tl.trans(c), tail, input_precision=PRECISION)
        score = _scores(wide, base, c2, of_centre, own, FAMILIES)
        first, second, best = _keep_best(score, base, first, second, best)
        if TAIL:
            score = _scores(tail, base + WIDE, c2, of_centre, own, FAMILIES)
            first, second, best = _keep_best(score, base + WIDE, first, second, best)
    x2 = tl.load(squares + at, mask=inside, other=0.0).to(tl.float32)
    margin = _margin(first, second, x2, tl.load(longest + own), relative, tl.load(moved))
    tl.store(best_out + at, best, mask=inside)
    tl.store(margin_out + at, margin, mask=inside)


@triton.jit(do_not_specialize=["scale"])
def sum_kernel(
    X, order, piece, sums, scale,
    D: tl.constexpr, EVEN: tl.constexpr, ON_GRID: tl.constexpr,
    ROWS: tl.constexpr, SLICE: tl.constexpr,
):  # fmt: skip
    """One program: a piece of the rows of one group, and a slice of the columns."""
    column = tl.program_id(1) * SLICE + tl.arange(0, SLICE)
    at = piece + tl.program_id(0) * 3
    group, begin, end = tl.load(at), tl.load(at + 1), tl.load(at + 2)
    total = tl.zeros((ROWS, SLICE), tl.float64)
    place = begin + tl.arange(0, ROWS)
    row = tl.load(order + place, mask=place < end, other=-1)
    for _ in range(begin, end, ROWS):
        known = (row >= 0)[:, None] if EVEN else (row >= 0)[:, None] & (column < D)[None, :]
        x = tl.load(X + row[:, None] * D + column[None, :], mask=known, other=0.0)
        place += ROWS  # the next row numbers are loaded while these rows are
        row = tl.load(order + place, mask=place < end, other=-1)
        whole = x.to(tl.float64) * scale
        total += whole if ON_GRID else (whole + ROUND) - ROUND
    at = sums + group * D + column
    tl.atomic_add(at, tl.sum(total, axis=0), mask=column < D, sem="relaxed")
