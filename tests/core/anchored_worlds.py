"""Small worlds for the parts of the anchored mixture."""

import numpy as np
from worlds import make_world

from hierseed.core.blocks import ArrayBlocks
from hierseed.core.mixture.components import make_components
from hierseed.core.mixture.em import (
    pose,
    start,
)
from hierseed.core.mixture.moments import spread
from hierseed.core.mixture.quantization import Quantization
from hierseed.core.mixture.seeds import Pairs, sum_seeds
from hierseed.core.mixture.variance_components import VarianceComponents


def set_up(name="two levels", other=True, **world):
    """Blocks, components, seed pairs, quantization and seed rows of a small world."""
    taxonomy, X, y, _ = make_world(name, **world)
    rows = np.flatnonzero(y >= 0)
    has_seeds = np.bincount(y[rows], minlength=len(taxonomy)) > 0
    inner = np.flatnonzero(~taxonomy.tree.is_leaf & ~has_seeds)
    rest = np.append(inner, -1) if other else np.zeros(0, dtype=np.intp)
    components = make_components(taxonomy.tree, has_seeds, rest)
    pairs = Pairs(X[rows], rows, components.of_topic[y[rows]])
    quantization = Quantization.holding(len(X), float(np.linalg.norm(X, axis=1).max()))
    return X, components, pairs, quantization, rows


def begun(X, components, pairs, quantization, rows, settings, block=64, within=None):
    """Blocks, seeds, problem and the mixture that round balls at the parents' means start from."""
    blocks, seeds = ArrayBlocks(X, block), sum_seeds(pairs, components, quantization, rows)
    scale = VarianceComponents(within or float(X.var(axis=0).sum()), settings.tree_weight or 8.0)
    problem = pose(components, seeds, spread(blocks, quantization, rows), scale, settings)
    rest = X[: components.is_unlisted.sum()]
    return blocks, seeds, problem, start(problem, rest)


def covariance(mixture):
    return np.linalg.inv(mixture.covariance.solve(np.eye(mixture.means.shape[1])))
