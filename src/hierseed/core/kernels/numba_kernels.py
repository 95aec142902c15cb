"""All kernels: whole steps on the rows of a block, compiled by numba; `compiled` decides when.

Each takes all rows of a block in one call, without the interpreter's lock: many threads that each
make many small numpy calls wait for that lock most of the time. Rows are read, and widened from
half precision, in strips that stay in a core's first cache.
"""

from hierseed.core.kernels.llvm_kernels import PAIR_PRODUCTS
from hierseed.core.kernels.nearest import distances, due, lloyd, sweep
from hierseed.core.kernels.neighbours import look_up
from hierseed.core.kernels.panels import pack, pack_whole, pack_wide
from hierseed.core.kernels.rows import add_rows, half_norms, move, prepare_rows, source, widen
from hierseed.core.kernels.shares import (
    add_products,
    largest_in_columns,
    round_rows,
    share_out,
    walk_down,
)
from hierseed.core.kernels.spheres import place, unbeaten, windows

__all__ = [
    "PAIR_PRODUCTS", "add_products", "add_rows", "distances", "due", "half_norms",
    "largest_in_columns", "lloyd", "look_up", "move", "pack", "pack_whole", "pack_wide", "place",
    "prepare_rows", "round_rows", "share_out", "source", "sweep", "unbeaten",
    "walk_down", "widen", "windows",
]  # fmt: skip
