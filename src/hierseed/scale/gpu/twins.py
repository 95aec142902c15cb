"""Which steps this engine has in its own words, by the full name of the original.

By name, because a few steps belong to units that may not be imported from here. The opening of
`AnchoredHierSeed` has none: it looks at a sample, which is in the processor's memory anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hierseed.scale.gpu import (
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
    "hierseed.inputs._survey": inputs.survey,
    "hierseed.core.spheres.candidates_above_pivot": spheres.candidates_above_pivot,
    "hierseed.core.spheres.candidates_of_level": spheres.candidates_of_level,
    "hierseed.core.reach.reach": reach.reach,
    "hierseed.core.refine.move": refine.move,
    "hierseed.core.objective.weigh": objective.weigh,
    "hierseed.core.score._label_and_sum_margins": score.label_and_sum_margins,
    "hierseed.estimator._labels": score.place,
    "hierseed.core.anchor.moments._spread": moments.spread,
    "hierseed.core.anchor.moments._totals": moments.totals,
    "hierseed.core.anchor.moments._closing": moments.closing,
    "hierseed.core.anchor.sample._chosen": sample.chosen,
    "hierseed.core.anchor.place.labels": place.labels,
    "hierseed.core.anchor.precision._label_and_count": place.label_and_count,
}


def twin_of(step: Callable[..., Any]) -> Callable[..., Any] | None:
    """The same step for this engine, or None."""
    return TWINS.get(f"{step.__module__}.{step.__qualname__}")
