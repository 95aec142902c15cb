"""An estimated share with its 95% confidence interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z = 1.96


@dataclass(frozen=True)
class Share:
    """An estimated share and its confidence interval."""

    value: float
    low: float
    high: float

    @classmethod
    def from_counts(cls, value: float, n: float) -> Share:
        """A share of n cases with Wilson's interval; 0 to 1 without any case."""
        if n < 1:
            return cls(value, 0.0, 1.0)
        middle = (value + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z / (1 + Z**2 / n) * math.sqrt(value * (1 - value) / n + (Z / (2 * n)) ** 2)
        return cls(value, max(middle - half, 0.0), min(middle + half, 1.0))

    def complement(self) -> Share:
        """The share of the others."""
        return Share(1 - self.value, 1 - self.high, 1 - self.low)

    def __str__(self) -> str:
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%})"
