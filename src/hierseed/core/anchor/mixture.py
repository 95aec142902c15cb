"""The mixture: one Gaussian a component, with one covariance for all.

A document's squared term is the same for all components, so what separates them is linear in
the document: one matrix product scores a block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from threadpoolctl import ThreadpoolController

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Mixture:
    """Means, sizes and covariance; from them what a block needs.

    Attributes
    ----------
    means : (components, dimensions)
    log_size : log of each component's share of documents
    direction, offset : log density of x in component k is `x @ direction[:, k] + offset[k]`,
        but for a term that is the same for all components
    factor : Cholesky's, of the covariance; needed to fit, not to place
    """

    means: Floats
    log_size: Floats
    direction: Floats
    offset: Floats
    factor: Floats | None = None

    @classmethod
    def of(cls, means: Floats, covariance: Floats, log_size: Floats) -> Mixture:
        """Factor the covariance; one thread, so that bits do not depend on their number.

        Of the covariance the upper half is read.
        """
        with _libraries().limit(limits=1):
            factor, fault = lapack.dpotrf(covariance.T, lower=1)  # in the order of columns
            assert fault == 0, "smoothing keeps the covariance positive"
            direction, _ = lapack.dpotrs(factor, means.T, lower=1)
        offset = -0.5 * np.einsum("kj,jk->k", means, direction)
        return cls(means, log_size, np.ascontiguousarray(direction), offset, factor)

    def without_factor(self) -> Mixture:
        """What a block needs of it, and no more: this travels to the workers of a cluster."""
        return replace(self, factor=None)

    @classmethod
    def of_balls(cls, means: Floats, variance: float, log_size: Floats) -> Mixture:
        """Return a mixture of round clouds."""
        offset = -0.5 * np.einsum("kj,kj->k", means, means) / variance
        return cls(means, log_size, np.ascontiguousarray(means.T) / variance, offset)

    def joined(self, means: Floats, log_size: Floats) -> Mixture:
        """The same with more components, of the same covariance."""
        with _libraries().limit(limits=1):
            direction, _ = lapack.dpotrs(self.factor, means.T, lower=1)
        offset = -0.5 * np.einsum("kj,jk->k", means, direction)
        return Mixture(
            np.concatenate([self.means, means]),
            np.concatenate([self.log_size, log_size]),
            np.concatenate([self.direction, direction], axis=1),
            np.concatenate([self.offset, offset]),
            self.factor,
        )

    def pick(self, kept: NDArray[np.integer]) -> Mixture:
        """Some of the components."""
        return Mixture(
            self.means[kept],
            self.log_size[kept] - np.log(np.exp(self.log_size[kept]).sum()),
            np.ascontiguousarray(self.direction[:, kept]),
            self.offset[kept],
            self.factor,
        )

    @cached_property
    def apart(self) -> Floats:
        """Squared distance of every two means, in units of the covariance."""
        inner = self.means @ self.direction
        square = np.diag(inner)
        return np.maximum(square[:, None] + square - inner - inner.T, 0.0)

    @property
    def log_det(self) -> float:
        """Log of the covariance's determinant."""
        assert self.factor is not None
        return 2.0 * float(np.log(np.diag(self.factor)).sum())

    def log_joint(self, X: Floats, unit: float = 1.0) -> Floats:
        """(components, documents): log of size x density, without the common term.

        X in multiples of `unit`, a power of two: scaling the small matrix is as exact.
        """
        L = (self.direction * unit).T @ X.T
        L += (self.offset + self.log_size)[:, None]
        return L


def shares(L: Floats, temperature: float = 1.0) -> tuple[Floats, Floats]:
    """Share of each component in each document, and the log of their sum; L is overwritten.

    Components are rows: what is done to each document then runs along whole rows, which is faster.
    """
    if temperature != 1.0:
        L /= temperature
    top = L.max(axis=0)
    L -= top
    np.exp(L, out=L)
    total = L.sum(axis=0)
    L /= total
    return L, top + np.log(total)


@cache
def _libraries() -> ThreadpoolController:
    """The matrix libraries that this process has loaded; to look for them anew takes long."""
    return ThreadpoolController()
