"""Consecutive rows of the corpus, on the device."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hierseed.core.arrays import Floats
from hierseed.core.blocks import Block, Families, Gains
from hierseed.core.exact import Grid
from hierseed.engines.torch.arrays import TorchArrays
from hierseed.engines.torch.distance import Centres, nearest, squared_distances
from hierseed.engines.torch.exact import sum_rows

TOGETHER = 256  # centres compared in one go: these take no longer than reading the rows


class TorchBlock(Block):
    """Rows as a tensor, which is there while a step runs.

    Where the corpus does not fit the device, rows are fetched again for each step.
    """

    xp: TorchArrays

    def __init__(self, start: int, stop: int, device: torch.device) -> None:
        super().__init__(start, stop)
        self.xp, self.device = TorchArrays(device), device
        self.rows: Tensor  # as steps see them
        self.raw: Tensor  # as they were read

    @property
    def X(self) -> Tensor:  # noqa: N802 - the matrix
        """The rows, in the number type that they are stored in."""
        return self.rows

    @property
    def stored(self) -> Tensor:
        """The rows as they were read."""
        return self.raw

    @property
    def width(self) -> int:
        """Dimensions of a row."""
        return int(self.rows.shape[1])

    def halves(self) -> list[TorchBlock]:
        """The same rows as two blocks with empty caches."""
        middle = len(self) // 2
        both = [
            TorchBlock(self.start, self.start + middle, self.device),
            TorchBlock(self.start + middle, self.stop, self.device),
        ]
        both[0].rows, both[1].rows = self.rows[:middle], self.rows[middle:]
        both[0].raw, both[1].raw = self.raw[:middle], self.raw[middle:]
        return both

    @cached_property
    def squared_norms(self) -> Tensor:
        """Squared length of each row, in float64."""
        return self.xp.wide_squared_norms(self.rows)

    def put(self, values: Any, dtype: torch.dtype | None = None) -> Tensor:
        """Send a small array to the device."""
        return self.xp.asarray(values, dtype)

    def distances(self, C: Floats, rows: Tensor | None = None) -> Tensor:
        """Squared distance of some rows (None: all) to each of some centres, in float64."""
        if rows is None or self.in_order(rows):
            return squared_distances(self.rows, self.put(C), self.squared_norms)
        return squared_distances(self.rows[rows], self.put(C), self.squared_norms[rows])

    def nearest(
        self, centres: Families, rows: Tensor | None = None, family: Tensor | None = None
    ) -> Tensor:
        """Position of the nearest centre of each row's family; `rows` None: all rows."""
        rows = self.xp.arange(len(self)) if rows is None else rows
        family = torch.zeros_like(rows, dtype=torch.int32) if family is None else family
        return self._compare(centres, rows, family)[0]

    def reassign(
        self, centres: Families, rows: Tensor, family: Tensor, was: Tensor, grid: Grid | None
    ) -> tuple[Tensor, Tensor, Gains | None]:
        """Nearest centre of each row, the margin to the second one, and what that changed."""
        best, margin = self._compare(centres, rows, family)
        if grid is None:
            return best, margin, None
        n = len(centres.vectors)
        changed = torch.nonzero(best != was)[:, 0]
        sums, counts = np.zeros((n, self.width)), np.zeros((2, n), dtype=np.intp)
        for sign, centre in enumerate((best[changed], was[changed])):
            real = torch.nonzero(centre >= 0)[:, 0]  # -1: not assigned before
            if len(real):
                added, counts[sign] = self.sum_by_group(
                    rows[changed[real]], centre[real].int(), n, grid
                )
                sums += (-1) ** sign * added
        here = np.flatnonzero(counts.any(axis=0))
        return best, margin, Gains(here, sums[here], counts[0, here] - counts[1, here])

    def sum_by_group(
        self, rows: Tensor, groups: Tensor, n_groups: int, grid: Grid
    ) -> tuple[Floats, NDArray[np.integer]]:
        """Sum of the rows of each group on a grid, and their number; on the host."""
        chosen = None if self.in_order(rows) else rows
        sums, counts = sum_rows(self.rows, chosen, groups, n_groups, grid)
        return self.xp.to_numpy(sums), self.xp.to_numpy(counts)

    def in_order(self, rows: Tensor) -> bool:
        """True if the rows are all of the block, one after the other."""
        return len(rows) == len(self) and bool((rows[1:] > rows[:-1]).all())

    def _compare(self, centres: Families, rows: Tensor, family: Tensor) -> tuple[Tensor, Tensor]:
        """Nearest centre of each row and its margin, by packs of families that fit one kernel."""
        best = torch.empty_like(rows, dtype=torch.int32)
        margin = torch.empty_like(rows, dtype=torch.float64)
        edges = centres.edges
        for first, last in packs(edges):
            start, stop = edges[first], edges[last]
            at = slice(None)
            if last - first < len(centres.first):
                at = torch.nonzero((family >= first) & (family < last))[:, 0]
            row, own = rows[at], family[at] - first
            if not len(row):
                continue
            number = np.repeat(np.arange(last - first), np.diff(edges[first : last + 1]))
            pack = Centres(
                self.put(centres.vectors[start:stop]), self.put(number, torch.int32), last - first
            )
            chosen = None if self.in_order(row) else row
            found, margin[at] = nearest(self.rows, chosen, own, pack, self.squared_norms[row])
            best[at] = (found + start).int()
        return best, margin


def packs(edges: list[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last of consecutive families with at most `TOGETHER` centres, or one."""
    first = 0
    for family in range(1, len(edges)):
        full = family < len(edges) - 1 and edges[family + 1] - edges[first] > TOGETHER
        if full or family == len(edges) - 1:
            yield first, family
            first = family
