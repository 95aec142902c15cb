"""Seeds as the mixture sees them: sums that stay the same through all rounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.anchor.components import Components
from hierseed.core.anchor.lattice import Lattice

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Pairs:
    """One entry for each seed and topic it serves; a seed of two topics counts half in each.

    Attributes
    ----------
    vectors : of the seed
    seed : number of the seed, the same in all its pairs
    component : that the topic belongs to
    """

    vectors: Floats
    seed: Ints
    component: Ints

    @property
    def weights(self) -> Floats:
        """One over the number of topics that the seed serves."""
        _, inverse, count = np.unique(self.seed, return_inverse=True, return_counts=True)
        return 1.0 / count[inverse]

    def pick(self, kept: NDArray[np.bool_]) -> Pairs:
        """Some of the pairs."""
        return Pairs(self.vectors[kept], self.seed[kept], self.component[kept])


@dataclass(frozen=True)
class Seeds:
    """Sums over seeds, per component, and the corpus rows that are seeds (sorted)."""

    weights: Floats
    sums: Floats
    products: Floats
    rows: Ints


def sum_seeds(pairs: Pairs, components: Components, lattice: Lattice, rows: Ints) -> Seeds:
    """Sum up; the order of seeds is no matter."""
    vectors = lattice.vectors.count(pairs.vectors)
    whole = lattice.shares.count(pairs.weights)
    share = np.zeros((len(whole), len(components)))
    share[np.arange(len(whole)), pairs.component] = whole
    # weights first: the products of three factors would not be exact
    _, first = np.unique(pairs.seed, return_index=True)
    return Seeds(
        lattice.shares.value(share.sum(axis=0)),
        lattice.value_of_sums(share.T @ vectors),
        lattice.value_of_squares(vectors[first].T @ vectors[first]),
        np.unique(rows),
    )
