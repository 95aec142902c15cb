"""Radii and assigned sets at the pivot (paper: E-at-level-rho, appendix C)."""

from __future__ import annotations

import numpy as np

from hierseed.core.arrays import NUMPY, Array, Arrays, Floats, Ints
from hierseed.core.distance import TIE, squared_distances
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.other import same_place
from hierseed.core.tree import Tree


def radii(
    tree: Tree,
    vectors: Floats,
    pivots: Ints,
    *,
    child_factor: float = 2.0,
    sibling_factor: float = 1.0,
    zero_allowed: bool = False,
) -> Floats:
    """Radius of each pivot topic, NaN elsewhere.

    `child_factor` times the distance to the farthest child. Without children, `sibling_factor`
    times the distance to the nearest sibling. An only child at the position of its topic counts
    as no child, unless a radius of zero is allowed. A topic with neither is bounded by the
    nearest other pivot topic. The only pivot topic has no bound.
    """
    result = np.full(len(tree), np.nan)
    for topic in pivots:
        children, siblings = tree.children(topic), tree.children(tree.parent[topic])
        furthest = np.linalg.norm(vectors[children] - vectors[topic], axis=1).max(initial=0.0)
        others = siblings[siblings != topic]
        if not len(others):
            others = pivots[pivots != topic]
        gaps = np.linalg.norm(vectors[others] - vectors[topic], axis=1)
        if furthest > same_place(vectors[topic], vectors[children]):
            result[topic] = child_factor * furthest
        elif zero_allowed and len(children):
            result[topic] = 0.0
        else:
            result[topic] = sibling_factor * gaps.min(initial=np.inf)
    return result


def reached(D: Array, scale: Array, radius: Floats, xp: Arrays = NUMPY) -> Array:
    """Which radii reach each document (Eq. 3).

    A radius of zero reaches documents at the topic's place, whose distance is zero but for
    rounding.
    """
    within = xp.asarray(radius**2) >= D
    at_place = np.flatnonzero(radius == 0)
    if len(at_place):
        within[:, at_place] |= D[:, at_place] <= (TIE * scale)[:, None]
    return within


def assigned(D: Array, scale: Array, model: Model, xp: Arrays = NUMPY) -> Array:
    """Which pivot topics each document belongs to, by its squared distances to all of them.

    All topics that reach the document; of two siblings the nearer keeps it, unless an
    eccentricity widens or narrows that. `scale`: magnitude of the squares behind D.
    """
    vectors, radius = model.vectors[model.pivots], model.radii[model.pivots]
    eccentricity = model.eccentricity[model.pivots]
    plain = np.isnan(eccentricity)
    within = reached(D, scale, radius, xp)
    kept = xp.copy(within)
    for members in model.pivot_families:
        nearer = members[plain[members]]
        if len(nearer):
            among = xp.where(within[:, members], D[:, members], np.inf)
            first = xp.argmax(among <= (xp.min(among, axis=1) + TIE * scale)[:, None], axis=1)
            kept[:, nearer] &= xp.asarray(members)[first][:, None] == xp.asarray(nearer)
        for topic in members[eccentricity[members] < 1]:  # at 1 a topic keeps all it reaches
            rivals = members[members != topic]
            gap = np.sqrt(squared_distances(vectors[[topic]], vectors[rivals]))[0]
            overlap = radius[topic] + radius[rivals] - gap
            bound = gap - radius[rivals] + eccentricity[topic] * overlap
            fits = xp.sqrt(D[:, [topic]]) <= xp.asarray(bound)
            kept[:, topic] &= xp.all_in_rows(fits | ~within[:, rivals])
    return kept
