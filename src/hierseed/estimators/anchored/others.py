"""Where Other is: which topics get one, and where it lies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierseed.core.mixture.components import Components, make_components
from hierseed.taxonomy import Taxonomy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


def with_others(taxonomy: Taxonomy, parents: Ints) -> Taxonomy:
    """Append an Other to each of these topics that has none yet."""
    known = set(taxonomy.tree.parent[taxonomy.is_other].tolist())
    missing = [p for p in np.unique(parents).tolist() if p >= 0 and p not in known]
    return taxonomy.with_others(missing) if missing else taxonomy


def others_of(taxonomy: Taxonomy) -> Ints:
    """The Other topic below each topic, -1 where there is none."""
    found = np.full(len(taxonomy), -1, dtype=np.intp)
    others = np.flatnonzero(taxonomy.is_other & (taxonomy.tree.parent >= 0))[::-1]
    found[taxonomy.tree.parent[others]] = others
    return found


def components_of(taxonomy: Taxonomy, has_seeds: Bools) -> Components:
    """Components of a taxonomy to which Other topics were appended."""
    more = np.zeros(len(taxonomy) - len(has_seeds), dtype=bool)
    return make_components(taxonomy.tree, np.concatenate([has_seeds, more]))


def place_others(taxonomy: Taxonomy, means: Floats, X: Floats, topic: Ints) -> Floats:
    """Put each Other in the middle of the documents in it, or where its parent is."""
    means = means.copy()
    for other in np.flatnonzero(taxonomy.is_other).tolist():
        mine, parent = topic == other, taxonomy.tree.parent[other]
        if mine.any():
            means[other] = X[mine].mean(axis=0)
        elif parent >= 0 and not means[other].any():
            means[other] = means[parent]
    return means
