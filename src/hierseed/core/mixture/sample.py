"""A sample of the corpus: plenty to begin on, and to learn a few numbers from.

What is learned here only says where the rounds on the whole corpus begin, so float32 will do, at
twice the speed; unless topics are so tight, or so far from the origin, that its digits can't tell
them. Its sums are not exact; rows stand in an order of their own instead, which comes of what they
say, and so the result is still the same for any order of documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Block, Blocks
from hierseed.core.distance import chunks
from hierseed.core.mixture.gaussian_mixture import Mixture
from hierseed.core.mixture.moments import Spread, Totals, counted, pieces, spread
from hierseed.core.mixture.quantization import Quantization

Floats = NDArray[np.float64]
Rough = NDArray[np.float32]
Ints = NDArray[np.intp]

SAMPLE = 4_000  # documents
COARSE = 1e-5  # of a document's square: variances that float32 still tells
LEAST = -60.0  # below the best, in logs: products with what is almost nothing take very long
TURNED = 96  # rows made columns at a time, while they are in the cache
GOLDEN = 0.6180339887498949  # its multiples fill the unit interval evenly


@dataclass(frozen=True)
class Sample:
    """Some documents.

    Attributes
    ----------
    columns : their vectors, in whole multiples of the quantization, and a last row of ones
    quantization : of the whole corpus
    corpus : their sums, exact
    copies : how many documents each of them stands for
    whole : whether they are all there are
    """

    columns: Rough | Floats
    quantization: Quantization
    corpus: Spread
    copies: int
    whole: bool

    @property
    def X(self) -> NDArray[Any]:  # noqa: N802 - the matrix
        """Their vectors, row by row."""
        return self.columns[:-1].T

    @cached_property
    def fine(self) -> Sample:
        """The same in float64."""
        return replace(self, columns=self.columns.astype(np.float64))

    def at_precision(self, variance: float) -> Sample:
        """The same in digits that tell so small a variance of a coordinate."""
        square = float(np.trace(self.corpus.products)) / max(self.corpus.n, 1)
        return self if variance > COARSE * square else self.fine

    def ready(self, directions: Floats, offset: Floats) -> NDArray[Any]:
        """What gives `x @ direction + offset` of rows x when multiplied with `columns`."""
        found = np.empty((len(offset), len(self.columns)), dtype=self.columns.dtype)
        np.multiply(directions, self.quantization.unit, out=found[:, :-1], casting="same_kind")
        found[:, -1] = offset
        return found

    def shares(self, mixture: Mixture) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield some rows at a time, and the share of each component, on the quantization."""
        common = mixture.direction.mean(axis=1)  # tells nothing apart, and would cost digits
        ready = self.ready(mixture.direction.T - common, mixture.offset + mixture.log_size)
        for at in pieces(len(self.X)):
            L = ready @ self.columns[:, at]
            L -= L.max(axis=0)
            np.exp(np.maximum(L, LEAST, out=L), out=L)
            L *= L.dtype.type(2.0**self.quantization.shares.bits) / L.sum(axis=0)
            yield at, np.rint(L, out=L)

    def totals(self, mixture: Mixture) -> Totals:
        """E-step: share out every document, and sum up; of the likelihood nobody asks."""
        weights, sums = np.zeros(len(mixture.means)), np.zeros(mixture.means.shape)
        for at, share in self.shares(mixture):
            weights += np.einsum("ij->i", share)
            sums += share @ self.X[at]
        return Totals(
            self.quantization.shares.dequantize(weights),
            self.quantization.dequantize_sums(sums),
            np.nan,
        )


def rough(values: NDArray[np.floating]) -> Rough:
    """The same in float32, row by row."""
    return np.ascontiguousarray(values, dtype=np.float32)


def draw(blocks: Blocks, quantization: Quantization, rows: Ints) -> Sample:
    """One document in so many, chosen by what it says and not by its place; seeds left out."""
    every, total, skip = -(-blocks.n // SAMPLE), blocks.n * blocks.width, np.unique(rows)
    parts = blocks.fold(_chosen, quantization, skip, every, total)
    if every > 1 and not parts:  # all alike
        every, parts = 1, blocks.fold(_chosen, quantization, skip, 1, total)
    X = np.concatenate(parts) if parts else np.zeros((0, blocks.width), dtype=np.float32)
    columns, order = np.ones((blocks.width + 1, len(X)), dtype=np.float32), in_order(X)
    for at in chunks(len(X), 1, TURNED):
        columns[:-1, at] = X[order[at]].T
    if every == 1:
        return Sample(columns, quantization, spread(blocks, quantization, skip), 1, True)
    whole = X.astype(np.float64)
    corpus = Spread(
        len(X),
        quantization.vectors.dequantize(whole.sum(axis=0)),
        quantization.dequantize_squares(whole.T @ whole),
    )
    return Sample(
        columns, quantization, corpus, max(round((blocks.n - len(rows)) / len(X)), 1), False
    )


def in_order(X: Rough) -> Ints:
    """An order of rows of whole numbers that depends on nothing but them."""
    mixed = np.floor(np.mod(np.arange(1, 2 * X.shape[1] + 1) * GOLDEN, 1.0) * 2.0**12)
    mixed, sums = mixed.reshape(-1, 2), np.empty((2, len(X)))
    for at in pieces(len(X)):
        sums[:, at] = (X[at].astype(np.float64) @ mixed).T  # exact, whatever the rows beside
    return np.lexsort(sums)


class Rows(list[Rough]):
    """Rows of some blocks, in their order."""

    def merge(self, other: Rows) -> Rows:
        """Put the rows of later blocks behind."""
        return Rows([*self, *other])


def _chosen(block: Block, quantization: Quantization, skip: Ints, every: int, total: int) -> Rows:
    X = counted(block, quantization, skip, total)
    if every > 1:
        X = X[np.mod(X.sum(axis=1) * GOLDEN, 1.0) < 1 / every]
    return Rows([rough(X)] if len(X) else [])
