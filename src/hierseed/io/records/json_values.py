"""Values of JSON objects by name; a dotted name such as `user.name` looks into nested objects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

LOOKED_AT = 100  # objects whose keys are the columns: later ones seldom have more
DEEPEST = 5  # levels of nested objects whose keys are columns


def column_names(objects: Iterable[Mapping[str, Any]]) -> list[str]:
    """Keys of the first objects, those of nested objects with dots."""
    names: dict[str, None] = {}
    for one in islice(objects, LOOKED_AT):
        names.update(dict.fromkeys(_names(one)))
    return list(names)


def _names(one: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterator[str]:
    for key, value in one.items():
        yield f"{before}{key}"
        if isinstance(value, dict) and depth < DEEPEST:
            yield from _names(value, f"{before}{key}.", depth + 1)


def value_of(one: Mapping[str, Any], name: str) -> Any:
    """The value under a name, None if there is none; a key with a dot in it comes first."""
    if name in one:
        return one[name]
    first, dot, rest = name.partition(".")
    while dot:
        inner = one.get(first)
        if isinstance(inner, dict) and (found := value_of(inner, rest)) is not None:
            return found
        key, dot, rest = rest.partition(".")
        first = f"{first}.{key}"
    return None
