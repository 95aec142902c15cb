"""Methods by name, and their parameters: constraints as in scikit-learn, and parsing from text."""

from __future__ import annotations

import ast
import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hierseed.errors import ParameterError

if TYPE_CHECKING:
    from hierseed.estimators.base import SeededEstimator


LITERALS = {"true": True, "yes": True, "false": False, "no": False, "none": None}


class Constraint(Protocol):
    """A set of allowed values; its text completes the sentence "it must be …"."""

    def allows(self, value: Any) -> bool:
        """Whether a value belongs to the set."""

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Interval:
    """Numbers from `low` to `high`.

    Parameters
    ----------
    closed : {"both", "left", "right", "neither"}
        Which of the bounds belong to the interval.
    whole : bool
        Allow whole numbers only.

    Examples
    --------
    >>> print(Interval(0, 1, closed="right"))
    a number above 0 and at most 1
    >>> Interval(1, whole=True).allows(2.5)
    False
    """

    low: float = -math.inf
    high: float = math.inf
    closed: str = "both"
    whole: bool = False

    def allows(self, value: Any) -> bool:
        """Whether a value is such a number; True and False are none."""
        if isinstance(value, bool) or not isinstance(value, Integral if self.whole else Real):
            return False
        number = float(value)
        above = number >= self.low if self.closed in ("both", "left") else number > self.low
        below = number <= self.high if self.closed in ("both", "right") else number < self.high
        return above and below

    def __str__(self) -> str:
        low = "at least" if self.closed in ("both", "left") else "above"
        high = "at most" if self.closed in ("both", "right") else "below"
        bounds = [f"{low} {self.low}"] if self.low > -math.inf else []
        bounds += [f"{high} {self.high}"] if self.high < math.inf else []
        return f"a {'whole ' * self.whole}number {' and '.join(bounds)}".strip()


@dataclass(frozen=True)
class OneOf:
    """Some values by name."""

    values: tuple[Any, ...]

    def allows(self, value: Any) -> bool:
        """Whether a value is one of them."""
        return np.ndim(value) == 0 and value in self.values

    def __str__(self) -> str:
        return " or ".join(map(repr, self.values))


@dataclass(frozen=True)
class Each:
    """A sequence with one allowed value for each of `n` things."""

    of: Constraint
    n: int
    what: str

    def allows(self, value: Any) -> bool:
        """Whether a value is such a sequence."""
        if isinstance(value, str) or np.ndim(value) != 1 or len(value) != self.n:
            return False
        return all(self.of.allows(one) for one in np.asarray(value).tolist())

    def __str__(self) -> str:
        return f"one such number for each of the {self.n} {self.what}"


Constraints = Mapping[str, Sequence[Constraint]]
NONE, BOOLEAN = OneOf((None,)), OneOf((True, False))


def check_parameters(owner: str, values: Mapping[str, Any], constraints: Constraints) -> None:
    """Raise one `ParameterError` that names all values that no constraint allows."""
    faults = [
        f"{name} of {owner} must be {' or '.join(map(str, allowed))}, got {values[name]!r}"
        for name, allowed in constraints.items()
        if not any(one.allows(values[name]) for one in allowed)
    ]
    if faults:
        raise ParameterError("; ".join(faults))


def parse_settings(settings: Iterable[str], known: Sequence[str] | None = None) -> dict[str, Any]:
    """Turn `NAME=VALUE` texts into keyword arguments.

    Parameters
    ----------
    settings : each one `NAME=VALUE`; `-` in a name is read as `_`
    known : the names that are allowed; None allows every name

    Examples
    --------
    >>> parse_settings(["seed_weight=5", "other=no", "start-from=names"])
    {'seed_weight': 5, 'other': False, 'start_from': 'names'}
    """
    parsed = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise ParameterError(f"{setting!r} is not NAME=VALUE")
        if known is not None:
            check_names([name], known)
        parsed[name] = parse_value(value)
    return parsed


def check_names(names: Iterable[str], known: Sequence[str]) -> None:
    """Raise for the first name that is not known, with the nearest that is."""
    for name in names:
        if name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            guess = f" Did you mean {close[0]!r}?" if close else ""
            raise ParameterError(
                f"no setting {name!r}. The settings are {', '.join(known)}.{guess}"
            )


def parse_value(text: str) -> Any:
    """Read a number, a Python literal, or yes/no/true/false/none; anything else is a string."""
    text = text.strip()
    if text.lower() in LITERALS:
        return LITERALS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


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
