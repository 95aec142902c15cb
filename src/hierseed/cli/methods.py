"""The methods that `fit --method` knows, and their settings from the command line."""

from __future__ import annotations

import ast
import difflib
import inspect
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import typer

from hierseed.errors import SeedError, name_some

if TYPE_CHECKING:
    from hierseed.io.seeds import Seeds
    from hierseed.taxonomy import Taxonomy

METHODS = {  # name: module, class; the first that is installed is the default
    "anchored": ("hierseed.estimators.anchored", "AnchoredHierSeed"),
    "hierseed": ("hierseed.estimators.hierseed", "HierSeed"),
    "unfit": ("hierseed.estimators.hierseed", "UnfitHierSeed"),
}
NEED_ALL_SEEDS = ("hierseed", "unfit")  # these refuse a leaf without seeds; others leave it empty


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


def refuse_bare_topics(method: str, taxonomy: Taxonomy, seeds: Seeds) -> None:
    """Say before the long step what the method would say after it."""
    bare = [taxonomy.paths[topic] for topic in seeds.without(taxonomy)]
    if bare and method in NEED_ALL_SEEDS:
        raise SeedError(
            f"no seed for {len(bare):,} of {int(taxonomy.tree.is_leaf.sum()):,} topics at the end "
            f"of a branch, and {method} needs one for each: {name_some(bare)}. Give each at least "
            "one, use --seeds-from-names, or --method anchored"
        )


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
