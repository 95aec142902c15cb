"""How kernels are compiled: they run without the interpreter's lock, and are kept on disk.

Compiling a kernel takes a good part of a second. Kernels therefore spell out loops where numba
would compile numpy's functions, and share the parts that do not depend on the type of a row.
"""

from __future__ import annotations

from functools import partial

from numba import njit

kernel = partial(njit, nogil=True, cache=True, error_model="numpy", no_cfunc_wrapper=True)
inner = partial(kernel, no_cpython_wrapper=True)  # called by kernels only
