"""Other: which topics get one, and where its mean lies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import ArrayBlocks
from hierseed.core.mixture.components import Components, make_components
from hierseed.core.mixture.membership import Membership
from hierseed.core.mixture.placement import Placer, labels, stop_where_they_belong
from hierseed.estimators.anchored.fitting import Outcome
from hierseed.taxonomy import Taxonomy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


def find_others(
    taxonomy: Taxonomy, placer: Placer, found: Outcome, threads: int | None
) -> tuple[Taxonomy, Floats] | None:
    """The taxonomy with an Other for each topic where documents of the sample stop, and its means.

    None where no document stops at an inner topic.
    """
    scores, limit = found.sample_scores, placer.membership.belonging.limit
    if scores is None or not (scores.score < limit).any():
        return None
    X = found.sample.vectors
    certain = replace(placer, membership=Membership.certain(len(placer.thresholds)))
    parts = ArrayBlocks(X, threads=threads).map(labels, certain)
    topic = np.concatenate([np.zeros(0, dtype=np.intp), *parts])
    out, _, above, _ = stop_where_they_belong(topic, scores.score, placer)
    topic[out] = above
    stops = np.append(taxonomy.tree.is_leaf | found.has_seeds, True)
    extended = with_others(taxonomy, topic[~stops[topic]])
    if len(extended) == len(taxonomy):
        return None
    topic = np.where(stops[topic], topic, others_of(extended)[topic])
    means = np.zeros((len(extended), X.shape[1]))
    means[: len(taxonomy)] = placer.vectors
    return extended, place_others(extended, means, X.astype(np.float64), topic)


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
