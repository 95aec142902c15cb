"""Torch versions of steps of the mixture that are not yet `portable`, by the step's full name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hierseed.engines.torch import moments, place, sample

TWINS: dict[str, Callable[..., Any]] = {
    "hierseed.core.mixture.moments._spread": moments.spread,
    "hierseed.core.mixture.moments._totals": moments.totals,
    "hierseed.core.mixture.moments._closing": moments.closing,
    "hierseed.core.mixture.sample._chosen": sample.chosen,
    "hierseed.core.mixture.placement.labels": place.labels,
    "hierseed.core.mixture.precision._label_and_count": place.label_and_count,
}


def on_torch(step: Callable[..., Any]) -> Callable[..., Any] | None:
    """The step as this engine runs it; None where only the host can."""
    if getattr(step, "portable", False):
        return step
    return TWINS.get(f"{step.__module__}.{step.__qualname__}")
