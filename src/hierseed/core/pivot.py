"""Radii and assigned sets at the pivot (paper: E-at-level-rho, appendix C)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Block, Blocks
from hierseed.core.distance import LEVEL, squared_distances, squared_norms
from hierseed.core.model import Model
from hierseed.core.other import same_place
from hierseed.core.tree import Tree

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]


def radii(tree: Tree, vectors: Floats, pivots: Ints) -> Floats:
    """Twice the distance of the furthest child; without children, that of the nearest sibling.

    An only child on the very place of its topic counts as no child. A topic with neither has
    nothing to bound it: its radius is infinite.
    """
    result = np.full(len(tree), np.nan)
    for topic in pivots:
        children, siblings = tree.children(topic), tree.children(tree.parent[topic])
        furthest = np.linalg.norm(vectors[children] - vectors[topic], axis=1).max(initial=0.0)
        others = siblings[siblings != topic]
        gaps = np.linalg.norm(vectors[others] - vectors[topic], axis=1)
        away = furthest > same_place(vectors[topic], vectors[children])
        result[topic] = 2 * furthest if away else gaps.min(initial=np.inf)
    return result


def reach(block: Block, model: Model) -> tuple[Floats, Ints]:
    """Squared distance of the nearest document to each pivot topic, and how many lie inside."""
    D = squared_distances(block.X, model.vectors[model.pivots], block.squared_norms)
    inside = model.radii[model.pivots] ** 2 >= D
    return D.min(axis=0), inside.sum(axis=0)


def widen(blocks: Blocks, model: Model, alpha: float) -> tuple[Model, Ints]:
    """Let an empty topic reach `alpha` times its nearest document, if within twice its radius.

    Answers with the model and the topics that stay empty all the same.
    """
    nearest = np.full(len(model.pivots), np.inf)
    inside = np.zeros(len(model.pivots), dtype=np.intp)
    for near, count in blocks.map(reach, model):
        nearest, inside = np.minimum(nearest, near), inside + count
    nearest = np.sqrt(nearest)
    own = model.radii[model.pivots]
    empty = inside == 0
    reachable = empty & (nearest <= 2 * own)
    if reachable.any():
        radii = model.radii.copy()
        radii[model.pivots[reachable]] = alpha * nearest[reachable]
        model = model.changed(radii=radii)
    return model, model.pivots[empty & ~reachable]


def assigned(X: NDArray[np.floating], x2: Floats, model: Model) -> tuple[Bools, Floats]:
    """Which pivot topics each document belongs to, and its squared distance to all of them.

    All topics that reach the document; of two siblings the nearer keeps it, unless an
    eccentricity widens or narrows that.
    """
    vectors, tree = model.vectors[model.pivots], model.tree
    D = squared_distances(X, vectors, x2)
    scale = LEVEL * (x2 + squared_norms(vectors).max(initial=0.0))
    own = model.radii[model.pivots]
    within = np.asarray(own**2 >= D)
    group = tree.parent[model.pivots]
    eccentricity = model.eccentricity[model.pivots]
    kept = within.copy()
    for parent in np.unique(group):
        members = np.flatnonzero(group == parent)
        nearer = members[np.isnan(eccentricity[members])]
        if len(nearer):
            among = np.where(within[:, members], D[:, members], np.inf)
            first = np.argmax(among <= (among.min(axis=1) + scale)[:, None], axis=1)
            kept[:, nearer] &= members[first][:, None] == nearer
        for topic in members[~np.isnan(eccentricity[members])]:
            rivals = members[members != topic]
            gap = np.sqrt(squared_distances(vectors[[topic]], vectors[rivals]))[0]
            overlap = own[topic] + own[rivals] - gap
            bound = gap - own[rivals] + eccentricity[topic] * overlap
            fits = np.sqrt(D[:, [topic]]) <= bound
            kept[:, topic] &= (fits | ~within[:, rivals]).all(axis=1)
    return kept, D
