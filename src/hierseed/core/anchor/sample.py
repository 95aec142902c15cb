"""A sample of the corpus: plenty to begin on, and to learn a few numbers from.

What is learned here only says where the rounds on the whole corpus begin, so float32 will do, at
twice the speed. Its sums are not exact; rows stand in an order of their own instead, which comes
of what they say, and so the result is still the same for any order of documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.mixture import Mixture
from hierseed.core.anchor.moments import Spread, Totals, counted, pieces, spread
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

    @cached_property
    def columns(self) -> Rough:
        """The vectors as columns, which some products are faster with; a last row of ones."""
        return rough(np.concatenate([self.X, np.ones((len(self.X), 1), np.float32)], axis=1).T)

    def ready(self, directions: Floats, offset: Floats) -> Rough:
        """What gives `x @ direction + offset` of rows x when multiplied with `columns`."""
        return rough(np.concatenate([directions * self.lattice.unit, offset[:, None]], axis=1))

    def shares(self, mixture: Mixture) -> Iterator[tuple[slice, Rough]]:
        """Yield some rows at a time, and the share of each component, on the lattice."""
        common = mixture.direction.mean(axis=1)  # tells nothing apart, and would cost digits
        ready = self.ready(mixture.direction.T - common, mixture.offset + mixture.log_size)
        for at in pieces(len(self.X)):
            L = ready @ self.columns[:, at]
            L -= L.max(axis=0)
            np.exp(np.maximum(L, LEAST, out=L), out=L)
            L *= np.float32(2.0**self.lattice.shares.bits) / L.sum(axis=0)
            yield at, np.rint(L, out=L)

    def totals(self, mixture: Mixture) -> Totals:
        """E-step: share out every document, and sum up; of the likelihood nobody asks."""
        weights, sums = np.zeros(len(mixture.means)), np.zeros(mixture.means.shape)
        for at, share in self.shares(mixture):
            weights += np.einsum("ij->i", share)
            sums += share @ self.X[at]
        return Totals(self.lattice.shares.value(weights), self.lattice.value_of_sums(sums), np.nan)


def rough(values: NDArray[np.floating]) -> Rough:
    """The same in float32, row by row."""
    return np.ascontiguousarray(values, dtype=np.float32)


def draw(blocks: Blocks, lattice: Lattice, rows: Ints) -> Sample:
    """One document in so many, chosen by what it says and not by its place; seeds left out."""
    every, total, skip = -(-blocks.n // SAMPLE), blocks.n * blocks.width, np.unique(rows)
    parts = blocks.fold(_chosen, lattice, skip, every, total)
    if every > 1 and not parts:  # all alike
        every, parts = 1, blocks.fold(_chosen, lattice, skip, 1, total)
    X = np.concatenate(parts) if parts else np.zeros((0, blocks.width), dtype=np.float32)
    X = X[in_order(X)]
    if every == 1:
        return Sample(X, lattice, spread(blocks, lattice, skip), 1, True)
    whole = X.astype(np.float64)
    corpus = Spread(
        len(X), lattice.vectors.value(whole.sum(axis=0)), lattice.value_of_squares(whole.T @ whole)
    )
    return Sample(X, lattice, corpus, max(round((blocks.n - len(rows)) / len(X)), 1), False)


def in_order(X: Rough) -> Ints:
    """An order of rows of whole numbers that depends on nothing but them."""
    mixed = np.floor(np.mod(np.arange(1, 3 * X.shape[1] + 1) * GOLDEN, 1.0) * 2.0**12)
    mixed, sums = mixed.reshape(-1, 3), np.empty((3, len(X)))
    for at in pieces(len(X)):
        sums[:, at] = (X[at].astype(np.float64) @ mixed).T  # exact, for any order
    return np.lexsort(sums)


class Rows(list[Rough]):
    """Rows of some blocks, in their order."""

    def merge(self, other: Rows) -> Rows:
        """Put the rows of later blocks behind."""
        return Rows([*self, *other])


def _chosen(block: Block, lattice: Lattice, skip: Ints, every: int, total: int) -> Rows:
    X = counted(block, lattice, skip, total)
    if every > 1:
        X = X[np.mod(X.sum(axis=1) * GOLDEN, 1.0) < 1 / every]
    return Rows([rough(X)] if len(X) else [])
