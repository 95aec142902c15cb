"""The mixture: one Gaussian a component, with one covariance for all.

A document's squared term is the same for all components, so what separates them is linear in
the document: one matrix product scores a block.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY, Array, Arrays
from hierseed.core.exact import Grid
from hierseed.core.kernels.compiled import load_kernels
from hierseed.core.mixture.covariance import Covariance

Floats = NDArray[np.float64]


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


def shares(
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
