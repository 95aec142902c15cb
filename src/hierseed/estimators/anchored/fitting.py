"""The fit of the default method: a mixture with its scores, a placer with Other topics, findings.

Seeds are documents of the corpus or others; an earlier model's vectors can stand in for them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.arrays import Bools, Floats, Ints
from hierseed.core.blocks import Blocks, chunks
from hierseed.core.exact import Grid, Quantization
from hierseed.core.mixture.belonging import (
    Membership,
    SampleScores,
    learn_membership,
    pack_membership,
    unpack_membership,
)
from hierseed.core.mixture.calibration import (
    HeldOut,
    Scores,
    calibrate,
    hold_out,
    temperature_for,
)
from hierseed.core.mixture.components import Components, Pairs, make_components, sum_seeds
from hierseed.core.mixture.em import (
    Fitted,
    Initialisation,
    Progress,
    Settings,
    State,
    fit,
    initialise,
)
from hierseed.core.mixture.gaussian_mixture import Mixture, pieces
from hierseed.core.mixture.moments import CorpusMoments, corpus_moments
from hierseed.core.mixture.placement import Placer, labels, stop_where_they_belong
from hierseed.core.mixture.sample import Drawn, draw
from hierseed.errors import HierSeedWarning, SeedError, name_some
from hierseed.estimators.earlier import topics_of
from hierseed.estimators.inputs import SeedPairs
from hierseed.taxonomy import Taxonomy
from hierseed.threads import one_thread

Start = tuple[Initialisation, HeldOut | None]

LARGEST_BITS = 1000  # 2.0**bits is a number
SWELLED = 3.0  # times the documents nearest to its seeds
STARVED = 0.2  # of the documents nearest to its seeds
LARGE = 0.02  # share of the corpus; smaller topics are not reported as too large
MANY = 20  # documents nearest to its seeds that a topic needs to be reported as too small
ADVICE = {
    "swelled": "has far more documents than lie near its seeds: add seeds to it and its rivals",
    "starved": "has far fewer documents than lie near its seeds: add seeds",
    "left its seeds": "does not find most of its own seeds again: check them",
}


class UnseededTopicWarning(HierSeedWarning):
    """Some leaves have no seeds, so nothing can be placed in them."""


def covered(given: SeedPairs, taxonomy: Taxonomy) -> Bools:
    """Which topics have seeds of their own; leaves that have none are named in a warning."""
    has_seeds = np.bincount(given.topics, minlength=len(taxonomy)) > 0
    bare = np.flatnonzero(taxonomy.tree.is_leaf & ~has_seeds & ~taxonomy.is_other)
    if len(bare):
        few = name_some(taxonomy.paths[topic] for topic in bare)
        warning = UnseededTopicWarning(
            f"{len(bare)} leaves have no seed and get no documents: {few}",
            "Give each a seed, or let its name stand in for one with {seeds_from_names:True}",
        )
        warnings.warn(warning, stacklevel=5)
    return has_seeds


def with_stand_ins(given: SeedPairs, taxonomy: Taxonomy, earlier: Any) -> SeedPairs:
    """Add vectors of an earlier model, if there is one, for leaves that have no seeds now.

    Leaves that had no documents there are left out: their vectors are those of their parents.
    """
    if earlier is not None:
        was = topics_of(earlier, taxonomy, given.vectors.shape[1])
        filled = getattr(earlier, "sizes_", np.ones(len(earlier.vectors_))) > 0.0
        bare = np.setdiff1d(np.flatnonzero(taxonomy.tree.is_leaf), given.topics).tolist()
        bare = [leaf for leaf in bare if was[leaf] >= 0 and filled[was[leaf]]]
        topics = [leaf for leaf in bare if not taxonomy.is_other[leaf]]
        more = np.asarray(earlier.vectors_)[[was[leaf] for leaf in topics]]
        given = replace(
            given,
            vectors=np.concatenate([given.vectors, more]),
            topics=np.concatenate([given.topics, np.array(topics, dtype=np.intp)]),
            seed=np.concatenate([given.seed, -1 - np.arange(len(topics))]),
            longest=max(given.longest, float(np.linalg.norm(more, axis=1).max(initial=0.0))),
        )
    if not len(given.topics):
        raise SeedError(
            "no seed at all: every entry of y is -1. Give at least one document for a topic."
        )
    return given


@dataclass(frozen=True)
class Outcome:
    """A fitted mixture with its scores, and what they were learned from."""

    has_seeds: NDArray[np.bool_]
    membership: Membership
    result: Fitted
    scores: Scores
    held_out: HeldOut | None
    sample: Drawn
    sample_scores: SampleScores | None


def fit_mixture(
    taxonomy: Taxonomy,
    blocks: Blocks,
    given: SeedPairs,
    settings: Settings,
    quantization: Quantization,
    other: bool,
    progress: Progress | None = None,
    resume: State | None = None,
    save: Callable[[State], None] | None = None,
) -> Outcome:
    """Learn what belongs, start on a sample of it, fit, and calibrate.

    1. Draw a sample of the corpus.
    2. Learn from it and the seeds which documents belong to listed topics.
    3. Fit the mixture to the sample; fit it again without half of the seeds.
    4. Fit it to the whole corpus. Documents count with the weight of their belonging.
    5. Calibrate scores by the seeds that were held out.
    """
    has_seeds = covered(given, taxonomy)
    components = make_components(taxonomy.tree, has_seeds)
    pairs = Pairs(given.vectors, given.seed, components.of_topic[given.topics])
    seeds = sum_seeds(pairs, components, quantization, given.decided)
    drawn = draw(blocks, quantization, given.decided)
    with one_thread():  # the bits of float32 sums depend on the number of threads
        membership, looked_up = Membership.certain(taxonomy.tree.height), None
        if other:
            membership, looked_up = learn_membership(
                drawn.vectors, drawn.centre, pairs, components, settings.false_alarm
            )
        sample = drawn.weigh(membership, blocks, given.decided, looked_up)

        def start() -> Start:
            initial = initialise(sample, components, seeds, settings, drawn.centre)
            return initial, hold_out(sample, pairs, initial)

        def moments() -> CorpusMoments:
            return corpus_moments(blocks, quantization, seeds.rows, membership)

        corpus, seen = None, None
        if sample.whole:
            initial, held = start()
            seen = sample.at_precision(initial.problem.ridge).e_step(initial.mixture)
        elif resume:
            initial, held = start()
        else:
            (initial, held), corpus = beside(start, moments, blocks)
    temperature = temperature_for(held)
    result = fit(
        blocks, initial, quantization, membership, corpus=corpus, seen=seen,
        temperature=temperature, progress=progress, resume=resume, save=save,
    )  # fmt: skip
    scores = calibrate(held, result, temperature)
    return Outcome(has_seeds, membership, result, scores, held, drawn, looked_up)


def beside(
    start: Callable[[], Start], moments: Callable[[], CorpusMoments], blocks: Blocks
) -> tuple[Start, CorpusMoments]:
    """Start on the sample in one thread, while all others sum up the corpus."""
    if getattr(blocks, "threads", 2) == 1:
        return start(), moments()
    with ThreadPoolExecutor(1) as thread:
        started = thread.submit(start)
        found = moments()
        return started.result(), found


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


@dataclass(frozen=True)
class Finding:
    """A topic to look at: what is wrong, its documents, and those nearest to its seeds."""

    topic: int
    path: str
    kind: str
    documents: int
    near_seeds: int

    def __str__(self) -> str:
        return (
            f"{self.path} {ADVICE[self.kind]} "
            f"({self.documents:,} documents, {self.near_seeds:,} near its seeds)"
        )


def diagnose(
    taxonomy: Taxonomy, documents: Ints, near_seeds: Floats, recalled: Floats, total: int
) -> list[Finding]:
    """List topics much larger or smaller than expected from their seeds, or far from these.

    Parameters
    ----------
    documents : number of documents in each topic itself
    near_seeds : estimated number of documents nearest to the mean of the topic's seeds; NaN for
        topics without seeds
    recalled : share of a topic's seeds that the fit would place in it; NaN with fewer than two
    """
    found = []
    for topic in np.flatnonzero(np.isfinite(near_seeds)).tolist():
        size, near = int(documents[topic]), float(near_seeds[topic])
        if size > max(SWELLED * near, LARGE * total):
            kind = "swelled"
        elif near >= MANY and size < STARVED * near:
            kind = "starved"
        elif recalled[topic] < 0.5 and size > LARGE * total:
            kind = "left its seeds"
        else:
            continue
        found.append(Finding(topic, taxonomy.paths[topic], kind, size, round(near)))
    return found


def diagnose_fit(
    taxonomy: Taxonomy,
    placer: Placer,
    found: Outcome,
    given: SeedPairs,
    labels: NDArray[np.integer],
) -> list[Finding]:
    """Compare topics with the documents that lie near their seeds, and with these seeds."""
    n = len(taxonomy)
    if found.sample_scores is None:
        return []
    topics, near = placer.components.topic, np.full(n, np.nan)
    nearest = np.bincount(found.sample_scores.nearest, minlength=len(topics))
    near[topics] = nearest * found.sample.copies
    seeds = np.bincount(given.topics, minlength=n)
    asked = np.flatnonzero(seeds[given.topics] > 1)  # a single seed says nothing
    rows, own = placer.grid.quantize(given.vectors[asked]), given.topics[asked]
    placed = np.empty_like(own)
    for at in pieces(len(rows), components=len(topics)):
        L = placer.mixture.log_joint(rows[at], 2.0**-placer.grid.bits)
        placed[at] = topics[L.argmax(axis=0)]
    hits = np.bincount(own, placed == own, minlength=n)
    recalled = np.where(seeds > 1, hits / np.maximum(seeds, 1), np.nan)
    documents = count_documents(labels, n)
    return diagnose(taxonomy, documents, near, recalled, len(labels))


def count_documents(labels: NDArray[np.integer], n: int) -> Ints:
    """Documents in each of n topics itself; some labels at a time, while they are in the cache."""
    found = np.zeros(n + 1, dtype=np.intp)
    for at in chunks(len(labels), 1):
        found += np.bincount(labels[at] + 1, minlength=n + 1)
    return found[1:]
