"""The mixture: one Gaussian a component, with one covariance for all; how it is inverted.

A document's squared term is the same for all components, so what separates them is linear in
the document: one matrix product scores a block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.linalg import lapack

from hierseed.core.arrays import NUMPY, Array, Arrays, Floats
from hierseed.core.blocks import chunks
from hierseed.core.exact import Grid
from hierseed.core.kernels.compiled import load_kernels

PIECE = 1600  # rows
MOST_SHARES = 2_000_000  # of a piece: rows times components
SMALL = 48  # dimensions
TRIES = 14  # to make up for rounding, ten times as much each time, up to more than all there is
SOUND = 1e-5  # least variance to the sum of all; below, an inverse has too few digits left
FEW = 0.9  # components to a dimension: as long as they are fewer, the identity is faster


@dataclass(frozen=True)
class Mixture:
    """Means, sizes and covariance, and the arrays that a block needs.

    Attributes
    ----------
    means : (components, dimensions)
    log_size : log of each component's share of documents
    direction, offset : log density of x in component k is `x @ direction[:, k] + offset[k]`,
        but for a term that is the same for all components; stored by component
    covariance : made ready; needed to fit, not to place
    """

    means: Floats
    log_size: Floats
    direction: Floats
    offset: Floats
    covariance: Covariance | None = None

    @classmethod
    def of(
        cls,
        means: Floats,
        covariance: Covariance,
        log_size: Floats,
        solved: Floats | None = None,
    ) -> Mixture:
        """Return a mixture; what is `solved` for the means need not be solved again."""
        solved = covariance.solve(means) if solved is None else solved
        offset = -0.5 * np.einsum("kj,kj->k", means, solved)
        return cls(means, log_size, solved.T, offset, covariance)

    def without_covariance(self) -> Mixture:
        """Only what a block needs; this is sent to the workers of a cluster."""
        return replace(self, covariance=None)

    @classmethod
    def of_balls(cls, means: Floats, variance: float, log_size: Floats) -> Mixture:
        """Return a mixture of round clouds."""
        offset = -0.5 * np.einsum("kj,kj->k", means, means) / variance
        return cls(means, log_size, (means / variance).T, offset)

    def levelled(self, centre: Floats, variance: float | None = None) -> Mixture:
        """The same with no mean nearer to the centre of the corpus than is usual.

        A document about nothing in particular lies near the centre. Without this the topic whose
        mean is nearest to it collects all such documents, and moves nearer with each of them.
        Distances are in units of the covariance. A mean that is nearer than the median is moved
        out to it; one that is further away is moved half the way, on a logarithmic scale.

        `variance` : of balls, where there is no covariance yet
        """
        away = self.means - centre
        solved = away / variance if variance is not None else self.solve(away)
        length = np.sqrt(np.maximum(np.einsum("kj,kj->k", away, solved), 0.0))
        usual = float(np.median(length))
        target = np.where(length < usual, usual, np.sqrt(length * usual))
        has_direction = length > 1e-9 * usual  # a mean at the centre has no direction
        factor = np.where(has_direction, target / np.where(has_direction, length, 1.0), 1.0)
        direction = solved * factor[:, None]
        offset = np.where(has_direction, -0.5 * target**2, -0.5 * length**2) - direction @ centre
        return replace(self, direction=direction.T, offset=offset)

    def solve(self, vectors: Floats) -> Floats:
        """Return the covariance's inverse times each of these rows."""
        assert self.covariance is not None
        return self.covariance.solve(vectors)

    @property
    def log_det(self) -> float:
        """Log of the covariance's determinant."""
        assert self.covariance is not None
        return self.covariance.log_det

    def log_joint(
        self, X: Array, unit: float = 1.0, out: Array | None = None, xp: Arrays = NUMPY
    ) -> Array:
        """(components, documents): log of size x density, without the common term.

        X in multiples of `unit`, a power of two: scaling the small matrix is as exact.
        """
        L = xp.matmul(xp.asarray((self.direction * unit).T), X.T, out)
        L += xp.asarray((self.offset + self.log_size)[:, None])
        return L

    def packed(self, unit: float) -> tuple[Floats, Floats]:
        """What `log_joint` multiplies with and adds, as compiled kernels take it; kept."""
        if unit not in self._packed:
            kernels = load_kernels()
            assert kernels
            packed = kernels.pack_wide((unit * self.direction).T)
            offset = np.full(len(packed) // self.means.shape[1], -np.inf)
            offset[: len(self.means)] = self.offset + self.log_size
            self._packed[unit] = packed, offset
        return self._packed[unit]

    @cached_property
    def _packed(self) -> dict[float, tuple[Floats, Floats]]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: a worker packs them itself."""
        return {one.name: getattr(self, one.name) for one in fields(self)}


def pieces(n: int, xp: Arrays = NUMPY, components: int = 1) -> Iterator[slice]:
    """Chunks of rows so small that their responsibilities fit a core's cache."""
    return chunks(n, 1, xp.piece or min(PIECE, MOST_SHARES // components))


def responsibilities(
    L: Array, grid: Grid, temperature: float = 1.0, weight: Array | float = 1.0, xp: Arrays = NUMPY
) -> tuple[Array, Array]:
    """Share of each component in each document, and the log of their sum; L is overwritten.

    The shares of a document sum up to its weight.

    Shares are whole multiples of the grid. Components are rows: what is done to each document
    then runs along whole rows, which is faster.
    """
    if temperature != 1.0:
        L *= 1.0 / temperature
    return xp.round_shares(L, 2.0**grid.bits * weight)


class Covariance(Protocol):
    """A factored covariance."""

    @property
    def log_det(self) -> float:
        """Log of the determinant."""

    def solve(self, vectors: Floats) -> Floats:
        """Return the inverse times each of these rows, row by row."""


@dataclass(frozen=True)
class CholeskyCovariance:
    """By Cholesky's factor."""

    factor: Floats

    @classmethod
    def of(cls, matrix: Floats) -> CholeskyCovariance:
        """Factor a matrix, of which the upper half is read.

        Where rounded shares leave less than no variance in some direction, a little is added.
        """
        more, one = 1e-12 * float(np.abs(np.diag(matrix)).sum()), np.eye(len(matrix))
        factor, fault = lapack.dpotrf(matrix.T, lower=1)  # in the order of columns
        for _ in range(TRIES if fault else 0):
            factor, fault = lapack.dpotrf(matrix.T + more * one, lower=1)
            if not fault:
                break
            more *= 10.0
        assert fault == 0, "the covariance is positive, but for rounding"
        return cls(factor)

    @property
    def log_det(self) -> float:
        """Log of the determinant."""
        return 2.0 * float(np.log(np.diag(self.factor)).sum())

    def solve(self, vectors: Floats) -> Floats:
        """Return the inverse times each of these rows, row by row."""
        solved, _ = lapack.dpotrs(self.factor, vectors.T, lower=1)
        return np.ascontiguousarray(solved.T)


@dataclass(frozen=True)
class WoodburyCovariance:
    """By the inverse of A: with Y = M A^-1 it is A^-1 + A^-1 S' (1 - Y S')^-1 Y."""

    inverse: Floats
    solved: Floats
    sums: Floats
    log_det: float

    def solve(self, vectors: Floats) -> Floats:
        """Return the inverse times each of these rows, row by row."""
        first = vectors @ self.inverse
        first += (first @ self.sums.T) @ self.solved
        return first


class Products:
    """A: the part that is the same in every round.

    Parameters
    ----------
    squares, mass : weighted products of all documents and seeds, and their total weight
    ridge : variance added in every direction
    """

    def __init__(self, squares: Floats, mass: float, ridge: float) -> None:
        self.squares, self.mass, self.ridge = squares, mass, ridge
        self._sound = ridge > SOUND * float(np.trace(squares)) / mass

    @cached_property
    def _inverse(self) -> tuple[Floats, float]:
        return invert(self._smooth(self.squares / self.mass))

    def _smooth(self, matrix: Floats) -> Floats:
        matrix[np.diag_indices_from(matrix)] += self.ridge
        return matrix

    def covariance(self, means: Floats, sums: Floats) -> tuple[Covariance, Floats]:
        """A less means' x sums, over the mass; and what solves for the means, row by row."""
        if len(means) > FEW * len(self.squares) or not self._sound:
            left = self.squares - means.T @ sums  # before rounding: a corpus of doubles leaves none
            left /= self.mass
            found = CholeskyCovariance.of(self._smooth(left))
            return found, found.solve(means)
        inverse, log_det = self._inverse
        first, sums = means @ inverse, sums / self.mass
        left = np.eye(len(means)) - first @ sums.T
        factor, pivot, _ = lapack.dgetrf(left)
        log_det += float(np.log(np.abs(np.diag(factor))).sum())
        small, fault = lapack.dgetri(factor, pivot)
        assert fault == 0, "smoothing keeps the covariance positive"
        solved = small @ first
        return WoodburyCovariance(inverse, solved, sums, log_det), solved


def invert(matrix: Floats) -> tuple[Floats, float]:
    """Inverse and log of the determinant of a covariance.

    By halves, in matrix products: the library's own way takes half as long again.
    """
    n = len(matrix)
    if n <= SMALL:
        factored = CholeskyCovariance.of(matrix)
        half, _ = lapack.dpotri(factored.factor, lower=1)
        return half + np.tril(half, -1).T, factored.log_det
    m = n // 2
    first, log_det = invert(matrix[:m, :m])
    across = first @ matrix[:m, m:]
    second, more = invert(matrix[m:, m:] - matrix[m:, :m] @ across)
    inverse = np.empty((n, n))
    inverse[m:, m:], inverse[:m, m:] = second, -(across @ second)
    inverse[m:, :m] = inverse[:m, m:].T
    inverse[:m, :m] = first - inverse[:m, m:] @ across.T
    return inverse, log_det + more
