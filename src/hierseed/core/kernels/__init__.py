"""Compiled kernels behind functions of `core`: numba, and LLVM IR for the innermost loop."""
