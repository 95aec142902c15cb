"""Small worlds for the parts of the anchored mixture."""

import numpy as np
from worlds import make_world

from hierseed.core.anchor.components import make_components
from hierseed.core.anchor.em import (
    pose,
    start,
)
from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.moments import spread
from hierseed.core.anchor.scale import Scale
from hierseed.core.anchor.seeds import Pairs, sum_seeds
from hierseed.core.blocks import ArrayBlocks


def set_up(name="two levels", other=True, **world):
    """Blocks, components, seed pairs, lattice and seed rows of a small world."""
    taxonomy, X, y, _ = make_world(name, **world)
    rows = np.flatnonzero(y >= 0)
    has_seeds = np.bincount(y[rows], minlength=len(taxonomy)) > 0
    inner = np.flatnonzero(~taxonomy.tree.is_leaf & ~has_seeds)
    rest = np.append(inner, -1) if other else np.zeros(0, dtype=np.intp)
    components = make_components(taxonomy.tree, has_seeds, rest)
    pairs = Pairs(X[rows], rows, components.of_topic[y[rows]])
    lattice = Lattice.holding(len(X), float(np.linalg.norm(X, axis=1).max()))
    return X, components, pairs, lattice, rows


def begun(X, components, pairs, lattice, rows, settings, block=64, within=None):
    """Blocks, seeds, problem and the mixture that round balls at the parents' means start from."""
    blocks, seeds = ArrayBlocks(X, block), sum_seeds(pairs, components, lattice, rows)
    scale = Scale(within or float(X.var(axis=0).sum()), settings.tree_weight or 8.0)
    problem = pose(components, seeds, spread(blocks, lattice, rows), scale, settings)
    rest = X[: components.is_rest.sum()]
    return blocks, seeds, problem, start(problem, rest)


def covariance(mixture):
    return np.linalg.inv(mixture.covariance.solve(np.eye(mixture.means.shape[1])))
