"""The innermost loops of a pass, in LLVM IR: rows times centres.

A matrix library copies its arguments and writes the whole product to memory before the least is
found. Here six rows are multiplied with up to 64 centres at a time. The products stay in
registers; `tile` finds the least and the second there, `product` stores them. Numba does not
compile a plain loop to such code.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from hierseed.core.kernels.compiled import LINE

ROWS = 6  # times 4 vectors of centres: 24 of 32 registers; times 2: 12 of 16
INT, REAL, DOUBLE = ir.IntType(32), ir.FloatType(), ir.DoubleType()
SHORT = ir.IntType(16)


def shape(features: Mapping[str, bool], machine: str) -> tuple[int, int]:
    """Numbers in a vector register of the processor, and vectors of centres at a time."""
    if features.get("avx512f"):
        return 16, 4
    if all(features.get(name) for name in ("avx2", "fma", "f16c")):
        return 8, 2
    if machine in ("aarch64", "arm64"):
        return 4, 4
    raise RuntimeError(f"no compiled product for {machine}")


_features = binding.get_host_cpu_features()
LANES, MOST = shape(_features, platform.machine())
WIDE_LANES = LANES // 2  # of float64
REALS, INTS = ir.VectorType(REAL, LANES), ir.VectorType(INT, LANES)
# multiplies neighbouring int16 and adds each two products; with the addition that follows, one
# instruction of AVX-512 VNNI
PAIR_PRODUCTS = {
    16: "llvm.x86.avx512.pmaddw.d.512" if _features.get("avx512bw") else "",
    8: "llvm.x86.avx2.pmadd.wd",
}.get(LANES, "")


def rows_at_once(vectors: int) -> int:
    """Rows that are multiplied at once: more with few centres, or each would wait for the last."""
    return 2 * ROWS if vectors == 1 else ROWS


class Emitter:
    """LLVM IR helpers."""

    def __init__(self, build: Any) -> None:
        self.build = build

    def load(self, base: Any, at: Any, kind: Any) -> Any:
        """Load a number or a vector at a position of an array."""
        there = self.build.gep(base, [at])
        return self.build.load(self.build.bitcast(there, kind.as_pointer()), align=2)

    def store(self, value: Any, base: Any, at: Any) -> None:
        """Store a vector at a position of an array."""
        there = self.build.gep(base, [at])
        self.build.store(value, self.build.bitcast(there, value.type.as_pointer()), align=4)

    def every(self, number: Any, kind: Any) -> Any:
        """Broadcast a number to all lanes."""
        nothing, zeros = ir.Constant(kind, ir.Undefined), ir.VectorType(INT, kind.count)
        one = self.build.insert_element(nothing, number, INT(0))
        return self.build.shuffle_vector(one, nothing, ir.Constant(zeros, [0] * kind.count))

    def call(self, name: str, result: Any, *values: Any) -> Any:
        """Call an intrinsic."""
        kind = ir.FunctionType(result, [value.type for value in values])
        known = cgutils.get_or_insert_function(self.build.module, kind, name)
        return self.build.call(known, values)

    def multiply_add(self, x: Any, y: Any, total: Any) -> Any:
        """Vectors multiplied and added to a total; int32 are two int16, multiplied one by one."""
        kind = total.type
        if kind.element != INT:
            name = "f32" if kind.element == REAL else "f64"
            return self.call(f"llvm.fma.v{kind.count}{name}", kind, x, y, total)
        if PAIR_PRODUCTS:
            shorts = ir.VectorType(SHORT, 2 * kind.count)
            pairs = self.build.bitcast(x, shorts), self.build.bitcast(y, shorts)
            return self.build.add(total, self.call(PAIR_PRODUCTS, kind, *pairs))
        half = ir.Constant(kind, [16] * kind.count)
        low = (self.build.ashr(self.build.shl(some, half), half) for some in (x, y))
        high = (self.build.ashr(some, half) for some in (x, y))
        total = self.build.add(total, self.build.mul(*low))
        return self.build.add(total, self.build.mul(*high))

    def pick(self, sign: str, a: Any, b: Any) -> Any:
        """Minimum (`<`) or maximum (`>`) of two vectors, lane by lane."""
        return self.build.select(self.build.fcmp_ordered(sign, a, b), a, b)


def pointer(context: Any, build: Any, array_type: Any, array: Any, kind: Any) -> Any:
    """Where the numbers of an array begin."""
    data = context.make_array(array_type)(context, build, array).data
    return build.bitcast(data, kind.as_pointer())


def widening(lanes: int) -> Callable[..., None]:
    """Make an intrinsic that converts this many float16 to float32, from one place to another."""

    def write(context: Any, build: Any, signature: Any, args: Any) -> Any:
        halves, floats = (
            pointer(context, build, signature.args[i], args[i], kind)
            for i, kind in ((0, ir.IntType(16)), (2, REAL))
        )
        emit = Emitter(build)
        some = emit.load(halves, args[1], ir.VectorType(ir.IntType(16), lanes))
        some = build.bitcast(some, ir.VectorType(ir.HalfType(), lanes))
        emit.store(build.fpext(some, ir.VectorType(REAL, lanes)), floats, args[3])
        return context.get_dummy_value()

    def widen(_: Any, halves: Any, start: Any, floats: Any, to: Any) -> Any:
        return types.void(halves, types.intp, floats, types.intp), write

    made: Callable[..., None] = intrinsic(widen)
    return made


@intrinsic
def prefetch(_: Any, X: Any, row: Any) -> Any:
    """Fetch a row of an array into the cache in the background; it may lie outside."""

    def write(context: Any, build: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, build, args[0])
        begin, whole = build.bitcast(array.data, ir.IntType(8).as_pointer()), args[1].type
        size = build.extract_value(array.strides, 0)
        begin = build.gep(begin, [build.mul(args[1], size)])
        with cgutils.for_range_slice(build, whole(0), size, whole(LINE)) as (at, _):
            Emitter(build).call(
                "llvm.prefetch", ir.VoidType(), build.gep(begin, [at]), INT(0), INT(3), INT(1)
            )
        return context.get_dummy_value()

    return types.void(X, types.intp), write


def products(
    emit: Emitter, X: Any, row: Any, width: Any, panel: Any, vectors: int, number: Any = REAL
) -> list[Any]:
    """Products of some rows and some vectors of centres, all of one type, row by row."""
    build, whole = emit.build, row.type
    lanes = WIDE_LANES if number is DOUBLE else LANES
    kind = ir.VectorType(number, lanes)
    at_once = rows_at_once(vectors)
    lines = [build.gep(X, [build.mul(build.add(row, whole(r)), width)]) for r in range(at_once)]
    before, loop, after = build.block, *map(build.append_basic_block, ("width", "after"))
    build.branch(loop)
    build.position_at_end(loop)
    j, so_far = build.phi(whole), [build.phi(kind) for _ in range(at_once * vectors)]
    at = build.mul(j, whole(vectors * lanes))
    centres = [emit.load(panel, build.add(at, whole(v * lanes)), kind) for v in range(vectors)]
    rows = [emit.every(emit.load(line, j, number), kind) for line in lines]
    pairs = [(x, some) for x in rows for some in centres]
    sums = [emit.multiply_add(x, some, total) for (x, some), total in zip(pairs, so_far)]
    for total, more in zip(so_far, sums):
        total.add_incoming(ir.Constant(kind, [0] * lanes), before)
        total.add_incoming(more, loop)
    step = build.add(j, whole(1))
    j.add_incoming(whole(0), before)
    j.add_incoming(step, loop)
    build.cbranch(build.icmp_signed("<", step, width), loop, after)
    build.position_at_end(after)
    return sums


def product(vectors: int, number: Any) -> Callable[..., None]:
    """Make an intrinsic that multiplies some rows with some vectors of centres.

    `number` : DOUBLE, REAL, or INT for two int16 in an int32.
    Its arguments: the rows, contiguous, and the first of them; the panels of
    `panels.pack_wide` or `pack_whole`, and the first column; an array of as many columns for the
    products, and the row of it where the first of the rows goes.
    """
    lanes = WIDE_LANES if number is DOUBLE else LANES

    def write(context: Any, build: Any, signature: Any, args: Any) -> Any:
        X, row, _, column, out, to = args
        rows, panels, found = (
            pointer(context, build, signature.args[i], args[i], kind)
            for i, kind in ((0, number), (2, number), (4, number))
        )
        width = build.extract_value(
            context.make_array(signature.args[0])(context, build, X).shape, 1
        )
        columns = build.extract_value(
            context.make_array(signature.args[4])(context, build, out).shape, 1
        )
        emit, whole = Emitter(build), row.type
        panel = build.gep(panels, [build.mul(column, width)])
        sums = products(emit, rows, row, width, panel, vectors, number)
        for r in range(rows_at_once(vectors)):
            at = build.add(build.mul(build.add(to, whole(r)), columns), column)
            for v in range(vectors):
                emit.store(sums[r * vectors + v], found, build.add(at, whole(v * lanes)))
        return context.get_dummy_value()

    def multiply(_: Any, X: Any, row: Any, packed: Any, column: Any, out: Any, to: Any) -> Any:
        at = types.intp
        return types.void(X, at, packed, at, out, at), write

    made: Callable[..., None] = intrinsic(multiply)
    return made


def tile(vectors: int) -> Callable[..., None]:
    """Make an intrinsic that compares some rows with some vectors of centres.

    Its arguments: the rows, contiguous, and the first of them; the panels of
    `panels.pack`, and the first column; the offset of each column; for each lane of a row
    the least so far, the second, and the column of the least; and the first row of these.
    """

    def write(context: Any, build: Any, signature: Any, args: Any) -> Any:
        arrays = {
            i: pointer(context, build, signature.args[i], args[i], kind)
            for i, kind in ((0, REAL), (2, REAL), (4, REAL), (5, REAL), (6, REAL), (7, INT))
        }
        width = build.extract_value(
            context.make_array(signature.args[0])(context, build, args[0]).shape, 1
        )
        _, row, _, column, _, _, _, _, state = args
        emit, whole = Emitter(build), row.type
        panel = build.gep(arrays[2], [build.mul(column, width)])
        sums = products(emit, arrays[0], row, width, panel, vectors)
        starts = [build.add(column, whole(v * LANES)) for v in range(vectors)]
        offsets = [emit.load(arrays[4], start, REALS) for start in starts]
        columns = [emit.every(build.trunc(start, INT), INTS) for start in starts]
        columns = [build.add(c, ir.Constant(INTS, list(range(LANES)))) for c in columns]
        for r in range(rows_at_once(vectors)):
            at = build.mul(build.add(state, whole(r)), whole(LANES))
            first, second, place = (
                emit.load(arrays[i], at, kind) for i, kind in ((5, REALS), (6, REALS), (7, INTS))
            )
            for v in range(vectors):
                d = build.fadd(sums[r * vectors + v], offsets[v])
                second = emit.pick("<", second, emit.pick(">", first, d))
                place = build.select(build.fcmp_ordered("<", d, first), columns[v], place)
                first = emit.pick("<", first, d)
            for i, value in ((5, first), (6, second), (7, place)):
                emit.store(value, arrays[i], at)
        return context.get_dummy_value()

    def compare(
        _: Any, X: Any, row: Any, packed: Any, column: Any, offset: Any, first: Any,
        second: Any, place: Any, state: Any,
    ) -> Any:  # fmt: skip
        at = types.intp
        given = types.void(X, at, packed, at, offset, first, second, place, at)
        return given, write

    made: Callable[..., None] = intrinsic(compare)
    return made
