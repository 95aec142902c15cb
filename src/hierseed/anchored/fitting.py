"""From seeds and corpus to a mixture with its scores, by way of the core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.anchored.others import NOWHERE, components_of, parents_of_others, with_rest
from hierseed.anchored.seeding import Given
from hierseed.core.anchor.calibrate import Scores, calibrate
from hierseed.core.anchor.components import Components, make_components
from hierseed.core.anchor.covariance import one_thread
from hierseed.core.anchor.em import Fitted, Progress, Settings, fit
from hierseed.core.anchor.hold_back import believed, hold_back
from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.opening import open_up, reopen
from hierseed.core.anchor.sample import draw
from hierseed.core.anchor.seeds import Pairs, sum_seeds
from hierseed.core.blocks import Blocks
from hierseed.taxonomy import Taxonomy


@dataclass(frozen=True)
class Outcome:
    """A fitted mixture, the tree with the Other topics that it uses, and its scores.

    `documents` are those of the sample, in whole multiples of the lattice.
    """

    taxonomy: Taxonomy
    components: Components
    result: Fitted
    scores: Scores
    documents: NDArray[np.float32]


def fit_mixture(
    taxonomy: Taxonomy,
    blocks: Blocks,
    given: Given,
    settings: Settings,
    lattice: Lattice,
    other: bool,
    progress: Progress | None = None,
    **keeping: Any,
) -> Outcome:
    """Open on a sample, keep the groups that seeds held back do not speak against, and fit."""
    has_seeds = given.covers(taxonomy)
    parents = parents_of_others(taxonomy, has_seeds) if other else NOWHERE
    components = make_components(taxonomy.tree, has_seeds, parents)
    pairs = Pairs(given.vectors, given.seed, components.of_topic[given.topics])
    sample = draw(blocks, lattice, given.rows)

    seeds = sum_seeds(pairs, components, lattice, given.rows)
    with one_thread():  # so that the bits of float32 do not depend on their number
        opening = open_up(sample, components, seeds, settings)
        held = hold_back(sample, pairs, opening)
        while not (kept := believed(held, opening)).all():
            opening = reopen(opening, kept, sample)
            held = hold_back(sample, pairs, opening)
        known: dict[str, Any] = {}
        if sample.whole:
            seen = sample.telling(opening.problem.ridge).totals(opening.mixture)
            known = {"posed": opening.problem, "seen": seen}
    rest = opening.components.parent[opening.components.is_rest]
    whole = with_rest(taxonomy, np.concatenate([components.parent[components.is_rest], rest]))
    components = components_of(whole, has_seeds, rest)
    result = fit(
        blocks, components, seeds.among(len(components)), settings, lattice,
        opening.mixture, opening.problem.scale, progress=progress, **keeping,
        **known,
    )  # fmt: skip
    return Outcome(whole, components, result, calibrate(held, result, lattice), sample.X)
