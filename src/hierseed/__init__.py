"""hierseed: place a large corpus in an expert's taxonomy from a handful of seeds per topic."""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING

if _TYPE_CHECKING:
    from hierseed.assignments import Assignments
    from hierseed.embed.choose import get_embedder
    from hierseed.errors import (
        CorpusError,
        EmbeddingError,
        HierSeedError,
        HierSeedWarning,
        InputError,
        MissingDependency,
        ModelError,
        ParameterError,
        ProjectError,
        SeedError,
        TaxonomyError,
    )
    from hierseed.estimators.anchored import AnchoredHierSeed
    from hierseed.estimators.hierseed import HierSeed, UnfitHierSeed
    from hierseed.pipeline import fit
    from hierseed.suggestions import suggest
    from hierseed.taxonomy import Taxonomy
    from hierseed.text_model import TextModel, load

__all__ = [
    "AnchoredHierSeed",
    "Assignments",
    "CorpusError",
    "EmbeddingError",
    "HierSeed",
    "HierSeedError",
    "HierSeedWarning",
    "InputError",
    "MissingDependency",
    "ModelError",
    "ParameterError",
    "ProjectError",
    "SeedError",
    "Taxonomy",
    "TaxonomyError",
    "TextModel",
    "UnfitHierSeed",
    "fit",
    "get_embedder",
    "load",
    "suggest",
]
__version__ = "0.2.0"

# Imported on first use: scikit-learn and pandas take over a second, and
# `hierseed --help` needs neither.
_HOMES = {
    "AnchoredHierSeed": "estimators.anchored",
    "Assignments": "assignments",
    "HierSeed": "estimators.hierseed",
    "Taxonomy": "taxonomy",
    "TextModel": "text_model",
    "UnfitHierSeed": "estimators.hierseed",
    "fit": "pipeline",
    "get_embedder": "embed.choose",
    "load": "text_model",
    "suggest": "suggestions",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module 'hierseed' has no attribute {name!r}")
    home = _import_module(f"hierseed.{_HOMES.get(name, 'errors')}")
    value = globals()[name] = getattr(home, name)
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
