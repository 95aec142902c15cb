"""Bags of words of overlapping regions: what HiLAP's bow-CNN reads (Johnson and Zhang 2015)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from hierseed_bench.competitors.systems.backend import torch
from hierseed_bench.competitors.systems.text import PADDING, UNKNOWN

SIZE, STRIDE = 20, 2
SEGMENTS = 10  # a document's regions are averaged in this many equal parts


def regions_of(numbers: NDArray[np.int32], limit: int) -> NDArray[np.int32]:
    """Sets of known words per region, zeros after them; a region like the last is skipped.

    There are at least as many as there are segments.
    """
    before = SIZE - 1 if len(numbers) else SIZE  # an empty document has one region of nothing
    padded = np.concatenate([np.full(before, UNKNOWN, dtype=np.int32), numbers])
    windows = np.sort(sliding_window_view(padded, SIZE)[::STRIDE], axis=1)
    windows[:, 1:][windows[:, 1:] == windows[:, :-1]] = PADDING
    windows[windows == UNKNOWN] = PADDING
    windows = -np.sort(-windows, axis=1)
    new = np.ones(len(windows), dtype=bool)
    new[1:] = (windows[1:] != windows[:-1]).any(axis=1)
    kept = windows[new][:limit]
    short = max(0, SEGMENTS - len(kept))
    return np.concatenate([kept, np.zeros((short, SIZE), dtype=np.int32)])


@dataclass(frozen=True)
class Regions:
    """Regions of many documents, one after another; `rows[some]` gives a batch."""

    words: Any  # (regions, SIZE), the last one empty
    starts: Any
    counts: Any

    @classmethod
    def build(cls, documents: Sequence[NDArray[np.int32]], limit: int, place: Any) -> Regions:
        """Cut documents into regions and put them on a device."""
        parts = [regions_of(numbers, limit) for numbers in documents]
        counts = np.array([len(part) for part in parts])
        empty = np.zeros((1, SIZE), dtype=np.int32)
        words = torch.as_tensor(np.concatenate([*parts, empty])).to(place)
        starts = np.concatenate([[0], counts.cumsum()[:-1]])
        return cls(words, torch.as_tensor(starts).to(place), torch.as_tensor(counts))

    def __getitem__(self, rows: Any) -> Batch:
        place = self.words.device
        counts = self.counts[rows]
        longest = int(counts.max())
        counts = counts.to(place, non_blocking=True)[:, None]
        step = torch.arange(longest, device=place)
        inside = step < counts
        number = self.starts[rows.to(place, non_blocking=True)][:, None] + step
        words = self.words[number.where(inside, torch.full_like(number, len(self.words) - 1))]
        # share of each region in the mean of its segment; the segments are of the document's
        # own regions, so that an answer does not depend on the batch
        segment = (step * SEGMENTS).div(counts, rounding_mode="floor")
        member = (segment[:, None] == torch.arange(SEGMENTS, device=place)[:, None]) & inside[
            :, None
        ]
        shares = member / member.sum(dim=2, keepdim=True).clamp(min=1)
        return Batch(words, shares)


class Batch(NamedTuple):
    """(documents, regions, SIZE) words and (documents, SEGMENTS, regions) shares."""

    words: Any
    shares: Any
