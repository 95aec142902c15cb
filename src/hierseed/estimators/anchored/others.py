"""Where Other and None are: taxonomy and components, each made from the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierseed.core.mixture.components import Components, make_components
from hierseed.core.mixture.gaussian_mixture import Mixture
from hierseed.taxonomy import Taxonomy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

NOWHERE = np.zeros(0, dtype=np.intp)


def parents_of_others(taxonomy: Taxonomy, has_seeds: Bools) -> Ints:
    """Where documents may belong to no listed topic from the start.

    Below the root; inner topics with seeds below but none of their own; those whose Other is
    listed. Of a branch without any seed nothing is known, so nothing can be like it.
    """
    tree, below = taxonomy.tree, has_seeds.copy()
    for topic in range(len(tree) - 1, -1, -1):
        below[tree.parent[topic]] |= below[topic] and tree.parent[topic] >= 0
    bare = np.flatnonzero(~tree.is_leaf & ~has_seeds & below)
    listed = tree.parent[taxonomy.is_other & ~has_seeds]
    return np.unique(np.concatenate([[-1], bare, listed])).astype(np.intp)


def with_unlisted(taxonomy: Taxonomy, parents: Ints) -> Taxonomy:
    """Append an Other to each of these topics that has none; the root has None."""
    known = set(taxonomy.tree.parent[taxonomy.is_other].tolist())
    if not len(parents):
        return taxonomy
    return taxonomy.with_others(
        [p for p in np.unique(parents).tolist() if p >= 0 and p not in known]
    )


def components_of(taxonomy: Taxonomy, has_seeds: Bools, rest: Ints) -> Components:
    """Components with their Other topics; those below the root are None."""
    place = np.full(len(taxonomy) + 1, -1, dtype=np.intp)
    others = np.flatnonzero(taxonomy.is_other)[::-1]
    place[taxonomy.tree.parent[others]] = others
    has_seeds = np.concatenate([has_seeds, np.zeros(len(taxonomy) - len(has_seeds), dtype=bool)])
    return make_components(taxonomy.tree, has_seeds, rest, place[rest])


def with_groups(components: Components, mixture: Mixture, means: Floats) -> Floats:
    """Means of topics; an Other lies in the middle of its groups."""
    means, rest = means.copy(), np.flatnonzero(components.is_unlisted & (components.topic >= 0))
    size = np.exp(mixture.log_size)
    for topic in np.unique(components.topic[rest]):
        mine = rest[components.topic[rest] == topic]
        means[topic] = size[mine] @ mixture.means[mine] / size[mine].sum()
    return means
