"""From seeds and corpus to a mixture with its scores, by way of the core."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Blocks
from hierseed.core.exact import Quantization
from hierseed.core.mixture.calibration import Scores, calibrate
from hierseed.core.mixture.components import Pairs, make_components, sum_seeds
from hierseed.core.mixture.em import Fitted, Initialisation, Progress, Settings, fit, initialise
from hierseed.core.mixture.gaussian_mixture import one_thread
from hierseed.core.mixture.hold_out import HeldOut, hold_out
from hierseed.core.mixture.membership import Membership, SampleScores, learn_membership
from hierseed.core.mixture.moments import spread
from hierseed.core.mixture.sample import Drawn, draw
from hierseed.estimators.anchored.seeding import SeedPairs
from hierseed.taxonomy import Taxonomy


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
    **keeping: Any,
) -> Outcome:
    """Learn what belongs, start on a sample of it, fit, and calibrate.

    1. Draw a sample of the corpus.
    2. Learn from it and the seeds which documents belong to listed topics.
    3. Fit the mixture to the sample; fit it again without half of the seeds. Meanwhile the other
       threads sum up the corpus.
    4. Fit it to the whole corpus. Documents count with the weight of their belonging.
    5. Calibrate scores by the seeds that were held out.
    """
    has_seeds = given.covers(taxonomy)
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

        def start_on_sample() -> tuple[Initialisation, HeldOut | None]:
            initial = initialise(sample, components, seeds, settings, drawn.centre)
            return initial, hold_out(sample, pairs, initial)

        known: dict[str, Any] = {}
        if sample.whole or keeping.get("resume") or getattr(blocks, "threads", 2) == 1:
            initial, held = start_on_sample()
        else:  # one thread has the sample while all others go over the corpus
            with ThreadPoolExecutor(1) as thread:
                started = thread.submit(start_on_sample)
                known["corpus"] = spread(blocks, quantization, seeds.rows, membership)
                initial, held = started.result()
        if sample.whole:
            seen = sample.at_precision(initial.problem.ridge).totals(initial.mixture)
            known = {"posed": initial.problem, "seen": seen}
    result = fit(
        blocks, components, seeds, settings, quantization, initial.mixture,
        initial.problem.scale, membership, drawn.centre, progress=progress, **keeping, **known,
    )  # fmt: skip
    scores = calibrate(held, result, quantization)
    return Outcome(has_seeds, membership, result, scores, held, drawn, looked_up)
