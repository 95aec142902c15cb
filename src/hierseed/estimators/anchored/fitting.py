"""From seeds and corpus to a mixture with its scores, by way of the core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Blocks
from hierseed.core.mixture.calibration import Scores, calibrate
from hierseed.core.mixture.components import Components, make_components
from hierseed.core.mixture.covariance import one_thread
from hierseed.core.mixture.em import Fitted, Progress, Settings, fit
from hierseed.core.mixture.hold_out import hold_out, supported_groups
from hierseed.core.mixture.initialise import initialise, reinitialise
from hierseed.core.mixture.quantization import Quantization
from hierseed.core.mixture.sample import draw
from hierseed.core.mixture.seeds import Pairs, sum_seeds
from hierseed.estimators.anchored.others import (
    NOWHERE,
    components_of,
    parents_of_others,
    with_unlisted,
)
from hierseed.estimators.anchored.seeding import SeedPairs
from hierseed.taxonomy import Taxonomy


@dataclass(frozen=True)
class Outcome:
    """A fitted mixture, the tree with the Other topics that it uses, and its scores.

    `documents` are those of the sample, in whole multiples of the quantization.
    """

    taxonomy: Taxonomy
    components: Components
    result: Fitted
    scores: Scores
    documents: NDArray[np.float32]


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
    """Open on a sample, keep the groups that seeds held back do not speak against, and fit."""
    has_seeds = given.covers(taxonomy)
    parents = parents_of_others(taxonomy, has_seeds) if other else NOWHERE
    components = make_components(taxonomy.tree, has_seeds, parents)
    pairs = Pairs(given.vectors, given.seed, components.of_topic[given.topics])
    sample = draw(blocks, quantization, given.rows)

    seeds = sum_seeds(pairs, components, quantization, given.rows)
    with one_thread():  # so that the bits of float32 do not depend on their number
        initial = initialise(sample, components, seeds, settings)
        held = hold_out(sample, pairs, initial)
        while not (kept := supported_groups(held, initial)).all():
            initial = reinitialise(initial, kept, sample)
            held = hold_out(sample, pairs, initial)
        known: dict[str, Any] = {}
        if sample.whole:
            seen = sample.at_precision(initial.problem.ridge).totals(initial.mixture)
            known = {"posed": initial.problem, "seen": seen}
    rest = initial.components.parent[initial.components.is_unlisted]
    whole = with_unlisted(
        taxonomy, np.concatenate([components.parent[components.is_unlisted], rest])
    )
    components = components_of(whole, has_seeds, rest)
    result = fit(
        blocks, components, seeds.among(len(components)), settings, quantization,
        initial.mixture, initial.problem.scale, progress=progress, **keeping,
        **known,
    )  # fmt: skip
    return Outcome(whole, components, result, calibrate(held, result, quantization), sample.X)
