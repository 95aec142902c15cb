"""The covariance that all components share, and what is solved with it.

From round to round only means change: the covariance is A - M'S, with A of all products, the same
in every round, and a row of M and of S for each component. Where these are fewer than dimensions,
A is inverted once, and what remains is a matrix of components (Woodbury's identity); else the
covariance is factored each time.
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

FEW = 0.6  # components to a dimension: as long as they are fewer, the identity is faster


class Covariance(Protocol):
    """A covariance made ready."""

    @property
    def log_det(self) -> float:
        """Log of the determinant."""

    def solve(self, vectors: Floats) -> Floats:
        """Return the inverse times each of these rows, as columns."""


@dataclass(frozen=True)
class Factored:
    """By Cholesky's factor."""

    factor: Floats

    @classmethod
    def of(cls, matrix: Floats) -> Factored:
        """Factor a matrix, of which the upper half is read."""
        with one_thread():
            factor, fault = lapack.dpotrf(matrix.T, lower=1)  # in the order of columns
        assert fault == 0, "smoothing keeps the covariance positive"
        return cls(factor)

    @property
    def log_det(self) -> float:
        """Log of the determinant."""
        return 2.0 * float(np.log(np.diag(self.factor)).sum())

    def solve(self, vectors: Floats) -> Floats:
        """Return the inverse times each of these rows, as columns."""
        with one_thread():
            solved, _ = lapack.dpotrs(self.factor, vectors.T, lower=1)
        return np.ascontiguousarray(solved)


@dataclass(frozen=True)
class Updated:
    """By the inverse of A: with Y = A^-1 M' it is A^-1 + Y (1 - S Y)^-1 S A^-1."""

    inverse: Floats
    solved: Floats
    sums: Floats
    log_det: float

    def solve(self, vectors: Floats) -> Floats:
        """Return the inverse times each of these rows, as columns."""
        with one_thread():
            first = self.inverse @ vectors.T
            first += self.solved @ (self.sums @ first)
        return first


class Products:
    """A: what is the same in every round."""

    def __init__(self, matrix: Floats) -> None:
        self.matrix = matrix

    @cached_property
    def _inverse(self) -> tuple[Floats, float]:
        factored = Factored.of(self.matrix)
        with one_thread():
            half, _ = lapack.dpotri(factored.factor, lower=1)
        whole = half + half.T
        whole[np.diag_indices_from(whole)] *= 0.5
        return whole, factored.log_det

    def less(self, means: Floats, sums: Floats) -> tuple[Covariance, Floats]:
        """A - M'S, and what solves for M."""
        if len(means) > FEW * len(self.matrix):
            found = Factored.of(self.matrix - means.T @ sums)
            return found, found.solve(means)
        inverse, log_det = self._inverse
        with one_thread():
            first = inverse @ means.T
            left = np.eye(len(means)) - sums @ first
            factor, pivot, _ = lapack.dgetrf(left)
            log_det += float(np.log(np.abs(np.diag(factor))).sum())
            small, fault = lapack.dgetri(factor, pivot)
            assert fault == 0, "smoothing keeps the covariance positive"
            solved = first @ small
        return Updated(inverse, solved, sums, log_det), solved


def one_thread() -> AbstractContextManager[Any]:
    """Hold the matrix libraries to one thread: the order of a sum depends on their number."""
    held: AbstractContextManager[Any] = _libraries().limit(limits=1)
    return held


@cache
def _libraries() -> ThreadpoolController:
    """The matrix libraries that this process has loaded; to look for them anew takes long."""
    return ThreadpoolController()
