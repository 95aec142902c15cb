"""Settings written as text, `alpha=1.2`: one parser for `fit --set` and `bench run --set`."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Collection, Iterable
from typing import Any

WORDS = {"true": True, "yes": True, "false": False, "no": False, "none": None}


def parse_settings(settings: Iterable[str], known: Collection[str] | None = None) -> dict[str, Any]:
    """Turn `["alpha=1.2", "other=no"]` into keyword arguments.

    Parameters
    ----------
    known : the names allowed; None allows every name

    Raises
    ------
    ValueError
        A setting is not NAME=VALUE, or its name is unknown.

    Examples
    --------
    >>> parse_settings(["alpha=1.2", "other=no", "sphere=ratio"])
    {'alpha': 1.2, 'other': False, 'sphere': 'ratio'}
    """
    parsed = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise ValueError(f"{setting!r} is not of the form NAME=VALUE")
        if known is not None and name not in known:
            close = difflib.get_close_matches(name, known, n=1)
            guess = f" Did you mean {close[0]}?" if close else ""
            raise ValueError(f"unknown setting {name!r}; there are {', '.join(known)}.{guess}")
        parsed[name] = parse_value(value.strip())
    return parsed


def parse_value(text: str) -> Any:
    """Read a Python literal or one of true, yes, false, no, none; other text stays text."""
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
