"""What every record reader yields, and how its values become text."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Row(NamedTuple):
    """The selected values of one row, in the order of the selection."""

    line: int
    values: list[Any]
    whole: Callable[[], str] = str  # returns the whole row as it is in the file
    file: str = ""  # where each row is a file of its own


def as_text(value: Any) -> str | None:
    """Text of a cell, "" for an empty one, None for what is no text (a list, half a letter).

    Whole numbers lose the `.0` that Excel and pandas give them, so that ids still match.
    """
    if isinstance(value, str):
        return value if value.isascii() or is_unicode(value) else None
    if value is None or value != value:  # NaN differs from itself
        return ""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    return None


def as_json(columns: Sequence[str], values: Sequence[Any]) -> str:
    """Write a row of a format that has no lines."""
    return json.dumps(dict(zip(columns, values)), ensure_ascii=False, default=str)


def describe(value: Any) -> str:
    """Describe a value that is not a text."""
    return "half of a surrogate pair" if isinstance(value, str) else f"a {type(value).__name__}"


def is_unicode(text: str) -> bool:
    """False for half of a surrogate pair: JSON and file names can contain it, UTF-8 can not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
