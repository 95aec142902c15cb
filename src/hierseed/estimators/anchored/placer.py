"""What places documents once a model is fitted: its Other topics, and how it is saved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.exact import Grid
from hierseed.core.mixture.components import Components, make_components
from hierseed.core.mixture.gaussian_mixture import Mixture
from hierseed.core.mixture.membership import Membership, pack_membership, unpack_membership
from hierseed.core.mixture.placement import Placer, labels, stop_where_they_belong
from hierseed.estimators.anchored.fitting import Outcome
from hierseed.taxonomy import Taxonomy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
LARGEST_BITS = 1000  # 2.0**bits is a number


def make_placer(taxonomy: Taxonomy, found: Outcome, grid: Grid) -> Placer:
    """Return what places documents by a fitted mixture, in listed topics only."""
    result, scores = found.result, found.scores
    return Placer(
        components_of(taxonomy, found.has_seeds),
        result.mixture.without_covariance(),
        scores.temperature,
        result.node_means[: len(taxonomy)],
        np.zeros(max(taxonomy.tree.height, 1)),
        scores.curve,
        grid,
        found.membership,
        others_of(taxonomy),
    )


def append_others(
    taxonomy: Taxonomy, placer: Placer, found: Outcome, threads: int | None
) -> tuple[Taxonomy, Placer]:
    """Append an Other to each topic where documents of the sample stop."""
    scores, limit = found.sample_scores, placer.membership.belonging.limit
    if scores is None or not (scores.score < limit).any():
        return taxonomy, placer
    X = found.sample.vectors
    certain = replace(placer, membership=Membership.certain(len(placer.thresholds)))
    parts = ArrayBlocks(X, threads=threads).map(labels, certain)
    topic = np.concatenate([np.zeros(0, dtype=np.intp), *parts])
    out, _, above, _ = stop_where_they_belong(topic, scores.score, placer)
    topic[out] = above
    stops = np.append(taxonomy.tree.is_leaf | found.has_seeds, True)
    extended = with_others(taxonomy, topic[~stops[topic]])
    if len(extended) == len(taxonomy):
        return taxonomy, placer
    others = others_of(extended)
    topic = np.where(stops[topic], topic, others[topic])
    means = np.zeros((len(extended), X.shape[1]))
    means[: len(taxonomy)] = placer.vectors
    means = place_others(extended, means, X.astype(np.float64), topic)
    components = components_of(extended, found.has_seeds)
    return extended, replace(placer, components=components, vectors=means, others=others)


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


def pack_placer(placer: Placer) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what it takes to place documents, as JSON and arrays."""
    mixture = placer.mixture
    header = {
        "temperature": placer.temperature,
        "several": placer.secondary,
        "promise": placer.promise,
        "bits": placer.grid.bits,
    }
    arrays = {
        "vectors": placer.vectors,
        "thresholds": placer.thresholds,
        "curve": placer.curve,
        "seeded": placer.components.topic,
        "means": mixture.means,
        "log_size": mixture.log_size,
        "direction": mixture.direction,
        "offset": mixture.offset,
    }
    membership, belonging = pack_membership(placer.membership)
    return header | {"membership": membership}, arrays | belonging


def unpack_placer(
    taxonomy: Taxonomy, header: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> Placer:
    """Return the placer that `pack_placer` packed."""
    has_seeds = np.zeros(len(taxonomy), dtype=bool)
    has_seeds[arrays["seeded"]] = True
    if abs(header["bits"]) > LARGEST_BITS:
        raise ValueError(f"vectors rounded to {header['bits']} bits")
    components = components_of(taxonomy, has_seeds)
    if min(len(arrays["curve"]), len(arrays["thresholds"])) < components.tree.height:
        raise ValueError(f"scores of fewer levels than the taxonomy's {components.tree.height}")
    mixture = Mixture(arrays["means"], arrays["log_size"], arrays["direction"], arrays["offset"])
    return Placer(
        components, mixture, header["temperature"], arrays["vectors"], arrays["thresholds"],
        arrays["curve"], Grid(header["bits"]), unpack_membership(header["membership"], arrays),
        others_of(taxonomy), header["several"],
    )  # fmt: skip
