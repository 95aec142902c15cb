"""The mixture: one Gaussian a component, with one covariance for all.

A document's squared term is the same for all components, so what separates them is linear in
the document: one matrix product scores a block.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierseed.core.exact import Grid
from hierseed.core.mixture.covariance import Covariance

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Mixture:
    """Means, sizes and covariance; from them what a block needs.

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
        """What a block needs of it, and no more: this travels to the workers of a cluster."""
        return replace(self, covariance=None)

    @classmethod
    def of_balls(cls, means: Floats, variance: float, log_size: Floats) -> Mixture:
        """Return a mixture of round clouds."""
        offset = -0.5 * np.einsum("kj,kj->k", means, means) / variance
        return cls(means, log_size, (means / variance).T, offset)

    def joined(self, means: Floats, log_size: Floats) -> Mixture:
        """The same with more components, of the same covariance."""
        assert self.covariance is not None
        more = Mixture.of(means, self.covariance, log_size)
        return Mixture(
            np.concatenate([self.means, means]),
            np.concatenate([self.log_size, log_size]),
            np.concatenate([self.direction.T, more.direction.T]).T,
            np.concatenate([self.offset, more.offset]),
            self.covariance,
        )

    def pick(self, kept: NDArray[np.integer]) -> Mixture:
        """Some of the components."""
        return Mixture(
            self.means[kept],
            self.log_size[kept] - np.log(np.exp(self.log_size[kept]).sum()),
            self.direction.T[kept].T,
            self.offset[kept],
            self.covariance,
        )

    @cached_property
    def apart(self) -> Floats:
        """Squared distance of every two means, in units of the covariance."""
        inner = self.means @ self.direction
        square = np.diag(inner)
        return np.maximum(square[:, None] + square - inner - inner.T, 0.0)

    def solve(self, vectors: Floats) -> Floats:
        """Return the covariance's inverse times each of these rows."""
        assert self.covariance is not None
        return self.covariance.solve(vectors)

    @property
    def log_det(self) -> float:
        """Log of the covariance's determinant."""
        assert self.covariance is not None
        return self.covariance.log_det

    def log_joint(self, X: Floats, unit: float = 1.0, out: Floats | None = None) -> Floats:
        """(components, documents): log of size x density, without the common term.

        X in multiples of `unit`, a power of two: scaling the small matrix is as exact.
        """
        L = np.matmul((self.direction * unit).T, X.T, out=out)
        L += (self.offset + self.log_size)[:, None]
        return L


def shares(
    L: Floats, grid: Grid, temperature: float = 1.0, weight: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    """Share of each component in each document, and the log of their sum; L is overwritten.

    The shares of a document sum up to its weight.

    Shares are whole multiples of the grid. Components are rows: what is done to each document
    then runs along whole rows, which is faster.
    """
    if temperature != 1.0:
        L *= 1.0 / temperature
    top = L.max(axis=0)
    L -= top
    np.exp(L, out=L)
    total = L.sum(axis=0)
    L *= 2.0**grid.bits * weight / total
    return np.rint(L, out=L), top + np.log(total)
