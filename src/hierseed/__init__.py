"""hierseed: place a large corpus in an expert's taxonomy from a handful of seeds per topic."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hierseed.assignments import Assignments
    from hierseed.estimators.anchored import AnchoredHierSeed
    from hierseed.estimators.hierseed import HierSeed, UnfitHierSeed
    from hierseed.io.models import load_model
    from hierseed.taxonomy import Taxonomy

__all__ = ["AnchoredHierSeed", "Assignments", "HierSeed", "Taxonomy", "UnfitHierSeed", "load_model"]
__version__ = "0.1.0"

# Loaded when first asked for: scikit-learn and pandas take over a second, and
# `hierseed --help` needs neither.
_HOMES = {
    "AnchoredHierSeed": "hierseed.estimators.anchored",
    "Assignments": "hierseed.assignments",
    "HierSeed": "hierseed.estimators.hierseed",
    "Taxonomy": "hierseed.taxonomy",
    "UnfitHierSeed": "hierseed.estimators.hierseed",
    "load_model": "hierseed.io.models",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'hierseed' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
