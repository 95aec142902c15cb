"""A sample of the corpus: plenty to begin on, and to learn a few numbers from.

What is learned here only says where the rounds on the whole corpus begin, so float32 will do, at
twice the speed. Its sums are not exact; rows stand in an order of their own instead, which comes
of what they say, and so the result is still the same for any order of documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.mixture import Mixture
from hierseed.core.anchor.moments import Spread, Totals, counted, pieces, seeds_in
from hierseed.core.blocks import Block, Blocks

Floats = NDArray[np.float64]
Rough = NDArray[np.float32]
Ints = NDArray[np.intp]

SAMPLE = 4_000  # documents
LEAST = -60.0  # below the best, in logs: products with what is almost nothing take very long
GOLDEN = 0.6180339887498949  # its multiples fill the unit interval evenly


@dataclass(frozen=True)
class Sample:
    """Some documents.

    Attributes
    ----------
    X : their vectors, in whole multiples of the lattice
    lattice : of the whole corpus
    corpus : their sums, exact
    copies : how many documents each of them stands for
    whole : whether they are all there are
    """

    X: Rough
    lattice: Lattice
    corpus: Spread
    copies: int
    whole: bool

    def shares(self, mixture: Mixture) -> Iterator[tuple[Rough, Rough]]:
        """Yield some rows at a time, and the share of each component, on the lattice."""
        common = mixture.direction.mean(axis=1, keepdims=True)  # tells nothing apart, costs digits
        direction = rough(((mixture.direction - common) * self.lattice.unit).T)
        offset = rough(mixture.offset + mixture.log_size)[:, None]
        for at in pieces(len(self.X)):
            L = direction @ self.X[at].T
            L += offset
            L -= L.max(axis=0)
            np.exp(np.maximum(L, LEAST, out=L), out=L)
            L *= np.float32(2.0**self.lattice.shares.bits) / L.sum(axis=0)
            yield self.X[at], np.rint(L, out=L)

    def totals(self, mixture: Mixture) -> Totals:
        """E-step: share out every document, and sum up; of the likelihood nobody asks."""
        weights, sums = np.zeros(len(mixture.means)), np.zeros(mixture.means.shape)
        for X, share in self.shares(mixture):
            weights += share.sum(axis=1, dtype=np.float64)
            sums += share @ X
        return Totals(self.lattice.shares.value(weights), self.lattice.value_of_sums(sums), np.nan)


def rough(values: Floats) -> Rough:
    """The same in float32, row by row."""
    return np.ascontiguousarray(values, dtype=np.float32)


def draw(blocks: Blocks, lattice: Lattice, rows: Ints) -> Sample:
    """One document in so many, chosen by what it says and not by its place; seeds left out."""
    every = -(-blocks.n // SAMPLE)
    total = blocks.n * blocks.width
    parts = blocks.fold(_chosen, lattice, rows, every, total)
    if every > 1 and not parts:  # all alike
        every, parts = 1, blocks.fold(_chosen, lattice, rows, 1, total)
    X = lattice.vectors.count(np.concatenate(parts or [np.zeros((0, blocks.width))]))
    corpus = Spread(len(X), lattice.vectors.value(X.sum(axis=0)), lattice.value_of_squares(X.T @ X))
    copies = max(round((blocks.n - len(rows)) / max(len(X), 1)), 1)
    return Sample(rough(X)[in_order(X)], lattice, corpus, copies, every == 1)


def in_order(X: Floats) -> Ints:
    """An order of rows of whole numbers that depends on nothing but them."""
    width = X.shape[1]
    mixed = np.floor(np.mod(np.arange(1, 3 * width + 1) * GOLDEN, 1.0) * 2.0**12)
    return np.lexsort((X @ mixed.reshape(width, 3)).T)


class Rows(list[NDArray[np.floating]]):
    """Rows of some blocks, in their order."""

    def merge(self, other: Rows) -> Rows:
        """Put the rows of later blocks behind."""
        return Rows([*self, *other])


def _chosen(block: Block, lattice: Lattice, rows: Ints, every: int, total: int) -> Rows:
    X, mine = block.X, seeds_in(block, rows)
    X = np.delete(X, mine, axis=0) if len(mine) else X
    if every > 1:
        number = counted(block, lattice, rows, total).sum(axis=1)
        X = X[np.mod(number * GOLDEN, 1.0) < 1 / every]
    return Rows([X] if len(X) else [])
