"""From seeds and corpus to a mixture with its scores, by way of the core.

Seeds lie in the corpus or beside it; an earlier model's vectors can stand in for them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Blocks
from hierseed.core.exact import Quantization
from hierseed.core.mixture.calibration import (
    HeldOut,
    Scores,
    calibrate,
    hold_out,
    temperature_for,
)
from hierseed.core.mixture.components import Pairs, make_components, sum_seeds
from hierseed.core.mixture.em import (
    Fitted,
    Initialisation,
    Progress,
    Settings,
    State,
    fit,
    initialise,
)
from hierseed.core.mixture.membership import Membership, SampleScores, learn_membership
from hierseed.core.mixture.moments import CorpusMoments, corpus_moments
from hierseed.core.mixture.sample import Drawn, draw
from hierseed.cpus import one_thread
from hierseed.errors import SeedError, name_some
from hierseed.estimators.earlier import topics_of
from hierseed.estimators.inputs import SeedPairs
from hierseed.taxonomy import Taxonomy

Bools = NDArray[np.bool_]
Start = tuple[Initialisation, HeldOut | None]


class UnseededTopicWarning(UserWarning):
    """Some leaves have no seeds, so nothing can be placed in them."""


def covered(given: SeedPairs, taxonomy: Taxonomy) -> Bools:
    """Which topics have seeds of their own; leaves that have none are named in a warning."""
    has_seeds = np.bincount(given.topics, minlength=len(taxonomy)) > 0
    bare = np.flatnonzero(taxonomy.tree.is_leaf & ~has_seeds & ~taxonomy.is_other)
    if len(bare):
        warnings.warn(
            f"{len(bare)} leaves have no seed and get no documents: "
            f"{name_some(taxonomy.paths[topic] for topic in bare)}. Give each a seed, or "
            "let its name stand in for one (seeds_from_names).",
            UnseededTopicWarning,
            stacklevel=5,
        )
    return has_seeds


def with_stand_ins(given: SeedPairs, taxonomy: Taxonomy, earlier: Any) -> SeedPairs:
    """Add vectors of an earlier model, if there is one, for leaves that have no seeds now."""
    if earlier is not None:
        was = topics_of(earlier, taxonomy, given.vectors.shape[1])
        bare = np.setdiff1d(np.flatnonzero(taxonomy.tree.is_leaf), given.topics).tolist()
        topics = [leaf for leaf in bare if not taxonomy.is_other[leaf] and was[leaf] >= 0]
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
