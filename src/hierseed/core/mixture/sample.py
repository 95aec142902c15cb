"""A sample of the corpus, large enough to start the fit and to learn a few numbers.

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

from hierseed.core.arrays import Floats, Ints
from hierseed.core.blocks import Block, Blocks, chunks, portable, squared_norms
from hierseed.core.exact import Quantization
from hierseed.core.mixture.belonging import PARTS, Membership, SampleScores
from hierseed.core.mixture.components import Seeds
from hierseed.core.mixture.gaussian_mixture import Mixture
from hierseed.core.mixture.moments import (
    CorpusMoments,
    Expected,
    corpus_moments,
    counted,
    dequantize_moments,
    pieces,
    seeds_in,
    weighted_sums,
)

Rough = NDArray[np.float32]

SAMPLE = 4_000  # documents
COARSE = 1e-5  # of a document's square: variances that float32 resolves
LEAST = -60.0  # below the best, in logs: products with what is almost nothing take very long
TURNED = 96  # rows made columns at a time, while they are in the cache
GOLDEN = 0.6180339887498949  # its multiples fill the unit interval evenly


@dataclass(frozen=True)
class Sample:
    """Some documents.

    Attributes
    ----------
    columns : their vectors, in whole multiples of the quantization, and a last row of ones
    weight : of each document, by its belonging
    quantization : of the whole corpus
    corpus : their sums, exact
    copies : how many documents each of them represents
    whole : whether they are all there are
    """

    columns: Rough | Floats
    weight: Floats
    quantization: Quantization
    corpus: CorpusMoments
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
        """The same in float64 if float32 can't resolve this variance of a coordinate."""
        square = float(np.trace(self.corpus.products)) / max(self.corpus.n, 1)
        return self if variance > COARSE * square else self.fine

    def ready(self, directions: Floats, offset: Floats) -> NDArray[Any]:
        """What gives `x @ direction + offset` of rows x when multiplied with `columns`."""
        found = np.empty((len(offset), len(self.columns)), dtype=self.columns.dtype)
        np.multiply(directions, self.quantization.unit, out=found[:, :-1], casting="same_kind")
        found[:, -1] = offset
        return found

    def responsibilities(self, mixture: Mixture) -> Iterator[tuple[slice, NDArray[Any]]]:
        """Yield some rows at a time, and the share of each component, on the quantization."""
        common = mixture.direction.mean(
            axis=1
        )  # the same for all components, and would cost precision
        ready = self.ready(mixture.direction.T - common, mixture.offset + mixture.log_size)
        for at in pieces(len(self.X), components=len(mixture.means)):
            L = ready @ self.columns[:, at]
            L -= L.max(axis=0)
            np.exp(np.maximum(L, LEAST, out=L), out=L)
            weight = self.weight[at] * 2.0**self.quantization.responsibilities.bits
            L *= weight.astype(L.dtype) / L.sum(axis=0)
            yield at, np.rint(L, out=L)

    def e_step(self, mixture: Mixture) -> Expected:
        """E step: responsibilities of every document, summed; the likelihood is not computed."""
        weights, sums = np.zeros(len(mixture.means)), np.zeros(mixture.means.shape)
        for at, share in self.responsibilities(mixture):
            weights += np.einsum("ij->i", share)
            sums += share @ self.X[at]
        return Expected(
            self.quantization.responsibilities.dequantize(weights),
            self.quantization.dequantize_sums(sums),
            np.nan,
        )


def rough(values: NDArray[np.floating]) -> Rough:
    """The same in float32, row by row."""
    return np.ascontiguousarray(values, dtype=np.float32)


def draw(blocks: Blocks, quantization: Quantization, rows: Ints) -> Drawn:
    """One document in this many, chosen by content, not by position; without seeds."""
    every, total, skip = -(-blocks.n // SAMPLE), blocks.n * blocks.width, np.unique(rows)
    parts = blocks.fold(_chosen, quantization, skip, every, total)
    if every > 1 and not parts:  # all alike
        every, parts = 1, blocks.fold(_chosen, quantization, skip, 1, total)
    X = np.concatenate(parts) if parts else np.zeros((0, blocks.width), dtype=np.float32)
    copies = 1 if every == 1 else max(round((blocks.n - len(rows)) / len(X)), 1)
    return Drawn(X[in_order(X)], quantization, copies, every == 1)


@dataclass(frozen=True)
class Drawn:
    """Documents drawn from the corpus, in an order that depends on their content alone.

    Attributes
    ----------
    X : their vectors, in whole multiples of the quantization
    copies : how many documents each of them represents
    whole : whether they are all there are
    """

    X: Rough
    quantization: Quantization
    copies: int
    whole: bool

    @property
    def vectors(self) -> Rough:
        """Vectors of the documents; float32 holds them exactly."""
        return self.X * np.float32(self.quantization.unit)

    @property
    def centre(self) -> Floats:
        """Mean of the vectors."""
        total = self.X.sum(axis=0, dtype=np.float64)  # of whole numbers: exact in any order
        return np.asarray(total * (self.quantization.unit / max(len(self.X), 1)))

    def weigh(
        self, membership: Membership, blocks: Blocks, rows: Ints, scores: SampleScores | None = None
    ) -> Sample:
        """Make the sample that a fit starts on: documents with the weight of their belonging.

        `scores` : of these documents, where they are known
        """
        n = len(self.X)
        if membership.neighbourhood is None:
            parts = np.full(n, float(PARTS))
        else:
            known = scores.score if scores else membership.neighbourhood.scores(self.vectors)[0]
            parts = membership.parts(known)
        columns = np.ones((blocks.width + 1, n), dtype=np.float32)
        for at in chunks(n, 1, TURNED):
            columns[:-1, at] = self.X[at].T
        if self.whole:
            corpus = corpus_moments(blocks, self.quantization, np.unique(rows), membership)
        else:
            corpus = dequantize_moments(
                weighted_sums(self.X.astype(np.float64), parts), self.quantization
            )
        return Sample(columns, parts / PARTS, self.quantization, corpus, self.copies, self.whole)


def in_order(X: Rough) -> Ints:
    """An order of rows that depends only on their values."""
    mixed = np.floor(np.mod(np.arange(1, 2 * X.shape[1] + 1) * GOLDEN, 1.0) * 2.0**12)
    mixed, sums = mixed.reshape(-1, 2), np.empty((2, len(X)))
    for at in pieces(len(X)):
        sums[:, at] = (X[at].astype(np.float64) @ mixed).T  # exact, whatever the rows beside
    return np.lexsort(sums)


class Rows(list[Rough]):
    """Rows of some blocks, in their order."""

    def merge(self, other: Rows) -> Rows:
        """Append the rows of later blocks."""
        return Rows([*self, *other])


@portable
def _chosen(block: Block, quantization: Quantization, skip: Ints, every: int, total: int) -> Rows:
    xp, mine, grid = block.xp, seeds_in(block, skip), quantization.vectors
    kept = xp.full(len(block), True, xp.bool)
    if every > 1:
        kept = (block.quantized_sums(grid) * GOLDEN) % 1.0 < 1 / every
    if len(mine):
        kept[xp.asarray(mine)] = False
    if every > 1:
        X = grid.quantize(block.rows_at(xp.flatnonzero(kept)), xp)
    else:
        X = counted(block, quantization, total)[kept]
    return Rows([rough(xp.to_numpy(xp.astype(X, xp.float32)))] if len(X) else [])


def mean_stray(sample: Sample, seeds: Seeds) -> float:
    """Mean squared distance to the nearest seeded topic, less what the noise of few seeds adds."""
    exponent, known = sample.quantization.exponent, np.flatnonzero(seeds.counts)
    means, noise = seeds.means[known], 1.0 + 1.0 / seeds.counts[known]
    mean = _mean(sample, means, noise)
    better = sample.at_precision(mean * 4.0**exponent / sample.X.shape[1])
    if better is not sample:
        mean = _mean(better, means, noise)
    return mean * 4.0**exponent


def _mean(sample: Sample, means: Floats, noise: Floats) -> float:
    away = _nearest(sample, means, noise)
    return float(away @ sample.weight) / max(float(sample.weight.sum()), 1e-300)


def _nearest(sample: Sample, means: Floats, noise: Floats) -> Floats:
    """Squared distance to the nearest mean, in units of the longest vector's square."""
    quantization, kind = sample.quantization, sample.columns.dtype
    unit = quantization.unit * 2.0**-quantization.exponent
    scaled = means * 2.0**-quantization.exponent
    own, direction = squared_norms(scaled), (scaled.T * (-2.0 * unit)).astype(kind)
    away = [np.zeros(0)]
    for X in (sample.X[at] for at in pieces(len(sample.X), components=len(means))):
        product, square = X @ direction, squared_norms(X) * unit**2
        D = product + own.astype(kind)
        D += square.astype(kind)[:, None]
        D /= noise.astype(kind)
        best = D.argmin(axis=1)
        least = product[np.arange(len(X)), best] + own[best] + square
        away.append(np.maximum(least, 0.0) / noise[best])
    return np.concatenate(away)
