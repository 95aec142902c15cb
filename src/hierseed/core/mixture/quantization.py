"""Numbers so rounded that sums of products are exact, whatever the order of rows.

Vectors are rounded to multiples of one power of two and shares to multiples of another, so
chosen that n products still fit the 53 bits of a float64 (see `core.exact`). For 30,000
documents that is 18 bits each; half-precision vectors have 11.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.exact import Grid

Floats = NDArray[np.float64]

SINGLE = 24  # bits of a float32: quantized values fit one
WEIGHT = 3  # bits of the weight of a document


@dataclass(frozen=True)
class Quantization:
    """One grid for vectors, one for shares, one for log-likelihoods.

    No vector is longer than two to the `exponent`.
    """

    vectors: Grid
    shares: Grid
    logs: Grid
    exponent: int

    @classmethod
    def holding(cls, n: int, largest: float) -> Quantization:
        """Return the finest quantization for n documents of at most this length."""
        bits = min((52 - WEIGHT - math.ceil(math.log2(max(n, 1) + 1))) // 2, SINGLE)
        scale = math.ceil(math.log2(max(largest, 1e-100)))
        return cls(Grid(bits - scale), Grid(bits), Grid.holding(n, 2.0**16), scale)

    @property
    def unit(self) -> float:
        """Step of the vectors' grid."""
        return float(2.0**-self.vectors.bits)

    def dequantize_sums(self, counted: Floats) -> Floats:
        """Sums of share x vector, as numbers."""
        return counted * 2.0 ** -(self.vectors.bits + self.shares.bits)

    def dequantize_squares(self, counted: Floats) -> Floats:
        """Sums of vector x vector, as numbers."""
        return counted * 2.0 ** -(2 * self.vectors.bits)
