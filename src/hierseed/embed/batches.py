"""Batches by length: padding is work, so texts share a batch with texts of their own length."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.intp]


def batches_by_length(lengths: Sequence[int], tokens: int) -> Iterator[Ints]:
    """Yield rows, longest first, in batches of at most `tokens` padded tokens (at least one row).

    The longest come first so that running out of memory shows at once, not after an hour.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.intp), kind="stable")
    start = 0
    while start < len(order):
        size = max(1, tokens // max(1, int(lengths[order[start]])))
        yield order[start : start + size]
        start += size
