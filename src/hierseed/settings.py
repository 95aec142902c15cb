"""Settings written as text: `alpha=1.2` becomes a keyword argument."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterable, Sequence
from typing import Any

from hierseed.errors import ParameterError

WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}


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
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
