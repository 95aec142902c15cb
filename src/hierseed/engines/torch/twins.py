"""Which steps this engine has in its own words, by the full name of the original.

By name, because a few steps belong to units that may not be imported from here. The opening of
`AnchoredHierSeed` has none: it looks at a sample, which is in the processor's memory anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hierseed.engines.torch import (
    inputs,
    moments,
    objective,
    place,
    reach,
    refine,
    sample,
    score,
    spheres,
)

TWINS: dict[str, Callable[..., Any]] = {
    "hierseed.estimators.inputs._survey": inputs.survey,
    "hierseed.core.hierseed.spheres.candidates_above_pivot": spheres.candidates_above_pivot,
    "hierseed.core.hierseed.spheres.candidates_of_level": spheres.candidates_of_level,
    "hierseed.core.hierseed.empty_topics.reach": reach.reach,
    "hierseed.core.hierseed.refine.move": refine.move,
    "hierseed.core.hierseed.objective.weigh": objective.weigh,
    "hierseed.core.score._label_and_sum_margins": score.label_and_sum_margins,
    "hierseed.estimators.hierseed._labels": score.place,
    "hierseed.core.mixture.moments._spread": moments.spread,
    "hierseed.core.mixture.moments._totals": moments.totals,
    "hierseed.core.mixture.moments._closing": moments.closing,
    "hierseed.core.mixture.sample._chosen": sample.chosen,
    "hierseed.core.mixture.placement.labels": place.labels,
    "hierseed.core.mixture.precision._label_and_count": place.label_and_count,
}


def twin_of(step: Callable[..., Any]) -> Callable[..., Any] | None:
    """The same step for this engine, or None."""
    return TWINS.get(f"{step.__module__}.{step.__qualname__}")
