"""Radii and assigned sets at the pivot (paper: E-at-level-rho, appendix C)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierseed.core.distance import LEVEL, squared_distances
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.other import same_place
from hierseed.core.tree import Tree

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.intp]


def radii(
    tree: Tree,
    vectors: Floats,
    pivots: Ints,
    *,
    child_factor: float = 2.0,
    sibling_factor: float = 1.0,
) -> Floats:
    """So many times the distance of the furthest child; without children, of the nearest sibling.

    An only child on the very place of its topic counts as no child. A topic with neither is
    bounded by the nearest other pivot topic; the only pivot topic there is, by nothing.
    """
    result = np.full(len(tree), np.nan)
    for topic in pivots:
        children, siblings = tree.children(topic), tree.children(tree.parent[topic])
        furthest = np.linalg.norm(vectors[children] - vectors[topic], axis=1).max(initial=0.0)
        others = siblings[siblings != topic]
        if not len(others):
            others = pivots[pivots != topic]
        gaps = np.linalg.norm(vectors[others] - vectors[topic], axis=1)
        away = furthest > same_place(vectors[topic], vectors[children])
        result[topic] = (
            child_factor * furthest if away else sibling_factor * gaps.min(initial=np.inf)
        )
    return result


def assigned(D: Floats, scale: Floats, model: Model) -> Bools:
    """Which pivot topics each document belongs to, by its squared distances to all of them.

    All topics that reach the document; of two siblings the nearer keeps it, unless an
    eccentricity widens or narrows that. `scale`: how large the squares are that D comes of.
    """
    own = model.radii[model.pivots]
    within = np.asarray(own**2 >= D)
    eccentricity = model.eccentricity[model.pivots]
    plain = np.isnan(eccentricity)
    kept = within.copy()
    for members in model.pivot_families:
        nearer = members[plain[members]]
        if len(nearer):
            among = np.where(within[:, members], D[:, members], np.inf)
            first = np.argmax(among <= (among.min(axis=1) + LEVEL * scale)[:, None], axis=1)
            kept[:, nearer] &= members[first][:, None] == nearer
        vectors = model.vectors[model.pivots]
        for topic in members[~plain[members]]:
            rivals = members[members != topic]
            gap = np.sqrt(squared_distances(vectors[[topic]], vectors[rivals]))[0]
            overlap = own[topic] + own[rivals] - gap
            bound = gap - own[rivals] + eccentricity[topic] * overlap
            fits = np.sqrt(D[:, [topic]]) <= bound
            kept[:, topic] &= (fits | ~within[:, rivals]).all(axis=1)
    return kept
