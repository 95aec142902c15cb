"""The base classes of estimators: those of scikit-learn, or a light one for the command line.

Importing `sklearn.base` takes longer than fitting a small corpus. In a process of the command line
nobody clones an estimator or looks at it in a notebook, and parameters are all that is needed.
"""

from __future__ import annotations

import inspect
from typing import Any

_light = False


class Parametrized:
    """An estimator whose parameters are the arguments of `__init__`."""

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; no parameter of ours is an estimator, so `deep` does nothing."""
        return {name: getattr(self, name) for name in self._get_param_names()}


def leave_out_scikit_learn() -> None:
    """Use the light base class for classes that are defined from now on."""
    global _light
    _light = True


def estimator_base() -> type:
    """Base class of an estimator."""
    if _light:
        return Parametrized
    from sklearn.base import BaseEstimator

    return BaseEstimator


def transformer_base() -> type:
    """Base class of a step of a pipeline."""
    if _light:
        return Parametrized
    from sklearn.base import BaseEstimator, TransformerMixin

    class Transformer(TransformerMixin, BaseEstimator):
        pass

    return Transformer
