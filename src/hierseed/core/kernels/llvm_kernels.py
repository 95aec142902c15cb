"""The innermost loop of a pass, in LLVM IR: rows times centres, and the two nearest of each row.

A matrix library writes the whole product to memory before the least is found. Here six rows are
multiplied with up to 64 centres at a time. The products stay in registers, where the least and
the second are found, while the next six rows are prefetched. Numba does not compile a plain loop
to such code.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

ROWS = 6  # times 4 vectors of centres: 24 of 32 registers; times 2: 12 of 16
INT, REAL = ir.IntType(32), ir.FloatType()


def shape(features: Mapping[str, bool], machine: str) -> tuple[int, int]:
    """Numbers in a vector register of the processor, and vectors of centres at a time."""
    if features.get("avx512f"):
        return 16, 4
    if all(features.get(name) for name in ("avx2", "fma", "f16c")):
        return 8, 2
    if machine in ("aarch64", "arm64"):
        return 4, 4
    raise RuntimeError(f"no compiled product for {machine}")


LANES, MOST = shape(binding.get_host_cpu_features(), platform.machine())
REALS, INTS = ir.VectorType(REAL, LANES), ir.VectorType(INT, LANES)


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
        nothing = ir.Constant(kind, ir.Undefined)
        one = self.build.insert_element(nothing, number, INT(0))
        return self.build.shuffle_vector(one, nothing, ir.Constant(INTS, [0] * LANES))

    def call(self, name: str, result: Any, *values: Any) -> Any:
        """Call an intrinsic."""
        kind = ir.FunctionType(result, [value.type for value in values])
        known = cgutils.get_or_insert_function(self.build.module, kind, name)
        return self.build.call(known, values)

    def pick(self, sign: str, a: Any, b: Any) -> Any:
        """Minimum (`<`) or maximum (`>`) of two vectors, lane by lane."""
        return self.build.select(self.build.fcmp_ordered(sign, a, b), a, b)


def widening(lanes: int) -> Callable[..., None]:
    """Make an intrinsic that converts so many float16 to float32, at a position of two arrays."""

    def write(context: Any, build: Any, signature: Any, args: Any) -> Any:
        halves, floats = (
            build.bitcast(context.make_array(kind)(context, build, array).data, of.as_pointer())
            for kind, array, of in zip(signature.args, args, (ir.IntType(16), REAL))
        )
        emit = Emitter(build)
        some = emit.load(halves, args[2], ir.VectorType(ir.IntType(16), lanes))
        some = build.bitcast(some, ir.VectorType(ir.HalfType(), lanes))
        emit.store(build.fpext(some, ir.VectorType(REAL, lanes)), floats, args[2])
        return context.get_dummy_value()

    def widen(_: Any, halves: Any, floats: Any, at: Any) -> Any:
        return types.void(halves, floats, types.intp), write

    made: Callable[..., None] = intrinsic(widen)
    return made


def products(emit: Emitter, X: Any, row: Any, width: Any, panel: Any, vectors: int) -> list[Any]:
    """Products of six rows and some vectors of centres, row by row."""
    build, whole = emit.build, row.type
    lines = [build.gep(X, [build.mul(build.add(row, whole(r)), width)]) for r in range(ROWS + 1)]
    before, loop, after = build.block, *map(build.append_basic_block, ("width", "after"))
    build.branch(loop)
    build.position_at_end(loop)
    j, so_far = build.phi(whole), [build.phi(REALS) for _ in range(ROWS * vectors)]
    ahead = build.gep(lines[ROWS], [build.mul(j, whole(ROWS))])  # prefetches the next six rows
    ahead = build.bitcast(ahead, ir.IntType(8).as_pointer())
    emit.call("llvm.prefetch", ir.VoidType(), ahead, INT(0), INT(3), INT(1))
    at = build.mul(j, whole(vectors * LANES))
    centres = [emit.load(panel, build.add(at, whole(v * LANES)), REALS) for v in range(vectors)]
    rows = [emit.every(emit.load(line, j, REAL), REALS) for line in lines[:ROWS]]
    pairs = [(x, some) for x in rows for some in centres]
    sums = [
        emit.call(f"llvm.fma.v{LANES}f32", REALS, x, some, total)
        for (x, some), total in zip(pairs, so_far)
    ]
    for total, more in zip(so_far, sums):
        total.add_incoming(ir.Constant(REALS, [0.0] * LANES), before)
        total.add_incoming(more, loop)
    step = build.add(j, whole(1))
    j.add_incoming(whole(0), before)
    j.add_incoming(step, loop)
    build.cbranch(build.icmp_signed("<", step, width), loop, after)
    build.position_at_end(after)
    return sums


def tile(vectors: int) -> Callable[..., None]:
    """Make an intrinsic that compares six rows with some vectors of centres.

    Its arguments: the rows, contiguous, and the first of the six; the panels of
    `numba_kernels.pack`, and the first column; the offset of each column; for each lane of a row
    the least so far, the second, and the column of the least; and the first row of these.
    """

    def write(context: Any, build: Any, signature: Any, args: Any) -> Any:
        arrays = {}
        for i, kind in ((0, REAL), (2, REAL), (4, REAL), (5, REAL), (6, REAL), (7, INT)):
            array = context.make_array(signature.args[i])(context, build, args[i])
            arrays[i] = build.bitcast(array.data, kind.as_pointer())
            if i == 0:
                width = build.extract_value(array.shape, 1)
        _, row, _, column, _, _, _, _, state = args
        emit, whole = Emitter(build), row.type
        panel = build.gep(arrays[2], [build.mul(column, width)])
        sums = products(emit, arrays[0], row, width, panel, vectors)
        starts = [build.add(column, whole(v * LANES)) for v in range(vectors)]
        offsets = [emit.load(arrays[4], start, REALS) for start in starts]
        columns = [emit.every(build.trunc(start, INT), INTS) for start in starts]
        columns = [build.add(c, ir.Constant(INTS, list(range(LANES)))) for c in columns]
        for r in range(ROWS):
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
