"""The registry of methods: each name a user may give, and the estimator behind it."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING

from hierseed.errors import ParameterError

if TYPE_CHECKING:
    from hierseed.estimators.base import SeededEstimator


@dataclass(frozen=True)
class Method:
    """One estimator, and what a user needs to know to choose it.

    Attributes
    ----------
    name : as given on the command line and to `hierseed.fit`
    kind : name of the class, as written in model.json
    module : where the class is defined; imported on first use
    title, about : for people
    needs_all_seeds : True where a leaf without seeds is refused
    """

    name: str
    kind: str
    module: str
    title: str
    about: str
    needs_all_seeds: bool = False

    @property
    def estimator(self) -> type[SeededEstimator]:
        """The class; scikit-learn is imported with it."""
        found: type[SeededEstimator] = getattr(import_module(self.module), self.kind)
        return found

    @property
    def parameters(self) -> list[str]:
        """Names of the settings, the taxonomy left out."""
        return [name for name in signature(self.estimator).parameters if name != "taxonomy"]


METHODS = {  # the default comes first
    method.name: method
    for method in (
        Method(
            "anchored",
            "AnchoredHierSeed",
            "hierseed.estimators.anchored",
            "Anchored",
            "A mixture over the taxonomy, learned from seeds and corpus. Best on most corpora.",
        ),
        Method(
            "hierseed",
            "HierSeed",
            "hierseed.estimators.hierseed",
            "HierSeed",
            "As published: k-means from the pivot level down to the leaves.",
            needs_all_seeds=True,
        ),
        Method(
            "unfit",
            "UnfitHierSeed",
            "hierseed.estimators.hierseed",
            "Seeds only",
            "Topics from the seeds alone; the corpus does not shape them. Fastest.",
            needs_all_seeds=True,
        ),
    )
}
DEFAULT = next(iter(METHODS))
KINDS = {method.kind: method for method in METHODS.values()}


def get_method(name: str) -> Method:
    """Return a method by name; an unknown one is refused with the names there are."""
    if name not in METHODS:
        raise ParameterError(f"no method {name!r}. The methods are {', '.join(METHODS)}")
    return METHODS[name]
