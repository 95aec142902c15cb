"""From seeds and corpus to a mixture with its scores, by way of the core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hierseed.anchored.others import NOWHERE, components_of, parents_of_others, with_rest
from hierseed.anchored.seeding import Given
from hierseed.core.anchor.calibrate import Scores, calibrate
from hierseed.core.anchor.components import Components, make_components
from hierseed.core.anchor.covariance import one_thread
from hierseed.core.anchor.em import Fitted, Progress, Settings, fit
from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.opening import open_up
from hierseed.core.anchor.sample import draw
from hierseed.core.anchor.seeds import Pairs, sum_seeds
from hierseed.core.blocks import Blocks
from hierseed.taxonomy import Taxonomy

MOST = 0.5  # of the seeds held back may be taken for what nobody listed


@dataclass(frozen=True)
class Outcome:
    """A fitted mixture, the tree with the Other topics that it uses, and its scores."""

    taxonomy: Taxonomy
    components: Components
    result: Fitted
    scores: Scores


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
    """Fit; a second time without Other and None where they have swallowed listed topics.

    With few topics and few seeds, one group may take in the whole corpus. It shows: the seeds that
    calibration holds back then land in it, and not in their own topics.
    """
    has_seeds = given.covers(taxonomy)
    parents = parents_of_others(taxonomy, has_seeds) if other else NOWHERE
    components = make_components(taxonomy.tree, has_seeds, parents)
    pairs = Pairs(given.vectors, given.seed, components.of_topic[given.topics])
    sample = draw(blocks, lattice, given.rows)

    def attempt(components: Components, **keeping: Any) -> Outcome:
        seeds = sum_seeds(pairs, components, lattice, given.rows)
        with one_thread():  # so that the bits of float32 do not depend on their number
            opening = open_up(sample, components, seeds, settings)
        rest = opening.components.parent[opening.components.is_rest]
        whole = with_rest(taxonomy, np.concatenate([components.parent[components.is_rest], rest]))
        components = components_of(whole, has_seeds, rest)
        result = fit(
            blocks, components, seeds.among(len(components)), settings, lattice,
            opening.mixture, opening.problem.scale, progress=progress, **keeping,
            posed=opening.problem if sample.whole else None,
        )  # fmt: skip
        with one_thread():
            scores = calibrate(sample, pairs, result)
        return Outcome(whole, components, result, scores)

    found = attempt(components, **keeping)
    return found if found.scores.lost <= MOST else attempt(components.with_rest(NOWHERE))
