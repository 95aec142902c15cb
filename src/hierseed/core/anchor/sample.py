"""A sample of the corpus: plenty to begin on, and to learn a few numbers from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.anchor.lattice import Lattice
from hierseed.core.blocks import ArrayBlocks, Block, Blocks

Ints = NDArray[np.intp]

SAMPLE = 4_000  # documents
GOLDEN = 0.6180339887498949  # its multiples fill the unit interval evenly


@dataclass(frozen=True)
class Sample:
    """Some documents, how many each of them stands for, and rows still to be skipped."""

    blocks: Blocks
    copies: int
    skip: Ints


def draw(blocks: Blocks, lattice: Lattice, rows: Ints) -> Sample:
    """One document in so many, chosen by what it says and not by its place; seeds left out."""
    every = -(-blocks.n // SAMPLE)
    if every == 1:
        return Sample(blocks, 1, rows)
    parts = blocks.fold(_chosen, lattice, rows, every)
    if not parts:
        return Sample(blocks, 1, rows)
    kept = np.concatenate(parts)
    copies = max(round((blocks.n - len(rows)) / len(kept)), 1)
    return Sample(ArrayBlocks(kept, threads=getattr(blocks, "threads", None)), copies, rows[:0])


class Rows(list[NDArray[np.floating]]):
    """Rows of some blocks, in their order."""

    def merge(self, other: Rows) -> Rows:
        """Put the rows of later blocks behind."""
        return Rows([*self, *other])


def _chosen(block: Block, lattice: Lattice, rows: Ints, every: int) -> Rows:
    X = block.X
    number = np.mod(lattice.vectors.count(X).sum(axis=1) * GOLDEN, 1.0)
    mine = rows[np.searchsorted(rows, block.start) : np.searchsorted(rows, block.stop)]
    number[mine - block.start] = 1.0
    kept = X[number < 1 / every]
    return Rows([kept] if len(kept) else [])
