"""An estimated share, with an interval of about 95%."""

from __future__ import annotations

import math
from dataclasses import dataclass

Z = 1.96


@dataclass(frozen=True)
class Share:
    """An estimated share and the bounds that it lies between."""

    value: float
    low: float
    high: float

    @classmethod
    def seen_on(cls, value: float, n: float) -> Share:
        """Wilson's interval of a share seen on n cases; without any, 0 to 1."""
        if n < 1:
            return cls(value, 0.0, 1.0)
        middle = (value + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z / (1 + Z**2 / n) * math.sqrt(value * (1 - value) / n + (Z / (2 * n)) ** 2)
        return cls(value, max(middle - half, 0.0), min(middle + half, 1.0))

    def __str__(self) -> str:
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%})"
