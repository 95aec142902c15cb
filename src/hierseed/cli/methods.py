"""The methods that `fit --method` knows, and their settings from the command line."""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import typer

METHODS = {  # name: module, class
    "anchored": ("hierseed.anchored", "AnchoredHierSeed"),
    "hierseed": ("hierseed.estimator", "HierSeed"),
    "unfit": ("hierseed.estimator", "UnfitHierSeed"),
}


def known_methods() -> list[str]:
    """Names of the methods that are installed, the default first."""
    return [name for name, (module, _) in METHODS.items() if find_spec(module)]


def make_estimator(method: str, taxonomy: Any, settings: Sequence[str]) -> Any:
    """Make the estimator `method` with settings such as `alpha=1.2`."""
    if method not in known_methods():
        raise typer.BadParameter(
            f"{method!r} is none of {', '.join(known_methods())}", param_hint="--method"
        )
    module, name = METHODS[method]
    estimator = getattr(import_module(module), name)
    known = [key for key in inspect.signature(estimator).parameters if key != "taxonomy"]
    return estimator(taxonomy, **parse_settings(settings, known))


def parse_settings(settings: Sequence[str], known: Sequence[str]) -> dict[str, Any]:
    """Turn `["alpha=1.2", "other=below"]` into keyword arguments."""
    parsed = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            guess = f" Did you mean {close[0]}?" if close else ""
            raise typer.BadParameter(
                f"{setting!r} is no NAME=VALUE with one of the names {', '.join(known)}.{guess}",
                param_hint="--set",
            )
        parsed[name] = _value(value.strip())
    return parsed


def _value(text: str) -> Any:
    words = {"true": True, "yes": True, "false": False, "no": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
