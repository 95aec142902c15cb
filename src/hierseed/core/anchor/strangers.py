"""Documents far from every seeded topic: where Other and None begin.

Whoever looks for what a taxonomy lacks looks among the documents that lie furthest from it. If
they have something in common, their mean is a topic nobody listed; if they are merely odd, they
cancel out and Other starts at its parent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.anchor.components import Components
from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.moments import counted
from hierseed.core.anchor.scale import average_up
from hierseed.core.anchor.seeds import Seeds
from hierseed.core.blocks import Block, Blocks
from hierseed.core.exact import Grid, Sums

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]

FAR = 1.5  # standard deviations beyond the mean squared distance


@dataclass(frozen=True)
class Strangers:
    """Mean squared distance from the nearest seeded topic, and the documents far beyond it.

    `weights` and `sums` are per component and not zero for Other and None only.
    """

    stray: float
    weights: Floats
    sums: Floats


def find_strangers(
    blocks: Blocks, components: Components, seeds: Seeds, lattice: Lattice
) -> Strangers:
    """Two passes: how far documents are, then who is far. The seeds' own noise is taken off."""
    known = np.flatnonzero(seeds.counts)
    means, noise = seeds.means[known], 1.0 + 1.0 / seeds.counts[known]
    model = (means, noise, lattice, seeds.rows, blocks.n * blocks.width)
    grid, unit = lattice.logs, 4.0**lattice.exponent
    n, total, squares = blocks.fold(_distances, *model)
    mean = float(grid.value(np.asarray(total))) / max(n, 1)
    deviation = max(float(grid.value(np.asarray(squares))) / max(n, 1) - mean**2, 0.0) ** 0.5
    shape = (len(components), blocks.width)
    if not n or not components.is_rest.any() or deviation <= 1e-9 * mean:
        return Strangers(mean * unit, np.zeros(shape[0]), np.zeros(shape))
    means_up, _ = average_up(components, seeds)
    rest = np.flatnonzero(components.is_rest)
    centres = np.zeros(shape)
    centres[rest] = means_up[components.parent[rest]]
    at_root = np.flatnonzero(components.is_rest & (components.parent < 0))
    home, none = rest_of(components)[known], int(at_root[0]) if len(at_root) else -1
    weights, sums = blocks.fold(_far, mean + FAR * deviation, centres, home, none, *model)
    return Strangers(mean * unit, weights, lattice.vectors.value(sums))


def rest_of(components: Components) -> NDArray[np.intp]:
    """Other beside each component, or the next one above; -1 where there is none."""
    nodes = components.nodes
    beside = np.full(len(nodes) + 1, -1, dtype=np.intp)
    for component in np.flatnonzero(components.is_rest):
        beside[nodes.parent[components.node[component]]] = component
    for node in range(len(nodes)):
        if beside[node] < 0:
            beside[node] = beside[nodes.parent[node]]
    return beside[nodes.parent[components.node]]


def _distances(
    block: Block, means: Floats, noise: Floats, lattice: Lattice, skip: Ints, total: int
) -> Sums:
    X = counted(block, lattice, skip, total)
    best, away = nearest(X, means, noise, lattice)
    block.memo["nearest seeds"] = best, away
    grid: Grid = lattice.logs
    return Sums((len(X), float(grid.count(away).sum()), float(grid.count(away**2).sum())))


def _far(
    block: Block,
    limit: float,
    centres: Floats,
    home: NDArray[np.intp],
    none: int,
    means: Floats,
    noise: Floats,
    lattice: Lattice,
    skip: Ints,
    total: int,
) -> Sums:
    """Strangers go to Other beside their nearest topic, or to None if the root is nearer yet."""
    X = counted(block, lattice, skip, total)
    best, away = block.memo.pop("nearest seeds", None) or nearest(X, means, noise, lattice)
    far = np.flatnonzero(away > limit)
    X, rest = X[far], home[best[far]]
    if none >= 0:
        two = np.stack([np.full(len(far), none), rest], axis=1)
        offset = X[:, None, :] * lattice.unit - centres[two]
        distance = np.einsum("ijk,ijk->ij", offset, offset)
        rest = np.where(distance[:, 1] < distance[:, 0], rest, none)
    at = np.flatnonzero(rest >= 0)
    share = np.zeros((len(centres), len(at)))
    share[rest[at], np.arange(len(at))] = 1.0
    return Sums((share.sum(axis=1), share @ X[at]))


def nearest(
    X: Floats, means: Floats, noise: Floats, lattice: Lattice
) -> tuple[NDArray[np.intp], Floats]:
    """Nearest mean and its squared distance, in units of the longest vector's square.

    X in whole multiples of the lattice. Rounded, so that no limit is met by a hair.
    """
    unit = lattice.unit * 2.0**-lattice.exponent
    scaled = means * 2.0**-lattice.exponent
    D = X @ (scaled.T * (-2.0 * unit))
    D += np.einsum("kj,kj->k", scaled, scaled)
    D += (np.einsum("ij,ij->i", X, X) * unit**2)[:, None]
    D /= noise
    D = np.rint(np.maximum(D, 0.0) * 2.0**30) * 2.0**-30
    best = D.argmin(axis=1)
    return best, D[np.arange(len(D)), best]
