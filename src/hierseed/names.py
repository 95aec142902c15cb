"""Names of topics: how a path is written, what a name may hold, what an Other is called."""

from __future__ import annotations

import re
from collections.abc import Sequence

SEPARATOR = " > "
OTHER = "Other"

# Control characters, line separators, the byte order mark, halves of surrogate pairs and
# non-characters: each is forbidden or changed by at least one of the formats we write.
UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
UNWRITABLE_NAMES = {"\n": "a line break", "\r": "a line break", "\t": "a tab"}

Path = str | Sequence[str]


def split_path(path: Path) -> tuple[str, ...]:
    """Return the names along a path, stripped of white space at their ends."""
    parts = path.split(SEPARATOR) if isinstance(path, str) else path
    return tuple(str(part).strip() for part in parts)


def name_fault(name: str) -> str:
    """Say what is wrong with a name, nothing where it is fine."""
    if not name.strip():
        return "an empty name"
    if name != name.strip():
        return "white space around the name"
    if SEPARATOR in f" {name} ":
        return f"the separator {SEPARATOR!r}"
    if unwritable := UNWRITABLE.search(name):
        character = unwritable.group()
        called = UNWRITABLE_NAMES.get(character, f"the character U+{ord(character):04X}")
        return f"{called}, which not every file format can hold,"
    return ""


def free_name(taken: set[str]) -> str:
    """Return a name for an Other topic that none of its siblings has."""
    name, number = OTHER, 1
    while name in taken:
        number += 1
        name = f"{OTHER} (unlisted)" if number == 2 else f"{OTHER} (unlisted {number - 1})"
    return name
