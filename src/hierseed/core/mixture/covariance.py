"""The covariance that all components share, and what is solved with it.

From round to round only means change: the covariance is A - M'S, with A of all products, the same
in every round, and a row of M and of S for each component. Where these are fewer than dimensions,
A is inverted once, and what remains is a matrix of components (Woodbury's identity); else, or where
A is almost flat in some direction, the covariance is factored each time.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from threadpoolctl import ThreadpoolController

Floats = NDArray[np.float64]

SMALL = 48  # dimensions
TRIES = 14  # to make up for rounding, ten times as much each time, up to more than all there is
SOUND = 1e-5  # least variance to the sum of all; below, an inverse has too few digits left
FEW = 0.9  # components to a dimension: as long as they are fewer, the identity is faster


class Covariance(Protocol):
    """A factored covariance."""

    @property
    def log_det(self) -> float:
        """Log of the determinant."""

    def solve(self, vectors: Floats) -> Floats:
        """Return the inverse times each of these rows, row by row."""


@dataclass(frozen=True)
class Factored:
    """By Cholesky's factor."""

    factor: Floats

    @classmethod
    def of(cls, matrix: Floats) -> Factored:
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
class Updated:
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

    def less(self, means: Floats, sums: Floats) -> tuple[Covariance, Floats]:
        """A less means' x sums, over the mass; and what solves for the means, row by row."""
        if len(means) > FEW * len(self.squares) or not self._sound:
            left = self.squares - means.T @ sums  # before rounding: a corpus of doubles leaves none
            left /= self.mass
            found = Factored.of(self._smooth(left))
            return found, found.solve(means)
        inverse, log_det = self._inverse
        first, sums = means @ inverse, sums / self.mass
        left = np.eye(len(means)) - first @ sums.T
        factor, pivot, _ = lapack.dgetrf(left)
        log_det += float(np.log(np.abs(np.diag(factor))).sum())
        small, fault = lapack.dgetri(factor, pivot)
        assert fault == 0, "smoothing keeps the covariance positive"
        solved = small @ first
        return Updated(inverse, solved, sums, log_det), solved


def invert(matrix: Floats) -> tuple[Floats, float]:
    """Inverse and log of the determinant of a covariance.

    By halves, in matrix products: the library's own way takes half as long again.
    """
    n = len(matrix)
    if n <= SMALL:
        factored = Factored.of(matrix)
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


def one_thread() -> AbstractContextManager[Any]:
    """Limit the matrix libraries to one thread: the order of a sum depends on their number."""
    held: AbstractContextManager[Any] = _libraries().limit(limits=1)
    return held


@cache
def _libraries() -> ThreadpoolController:
    """The matrix libraries that this process has loaded; searching for them is slow."""
    return ThreadpoolController()
