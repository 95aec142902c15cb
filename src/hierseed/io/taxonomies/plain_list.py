"""Plain lists with other separators, numbers or bullets.

- another mark between the names of a path: `Animals|Cats`, `Animals -> Cats`
- numbers: `1 Animals`, `1.1 Cats`
- bullets below plain lines: `Animals`, `- Cats` (read by `outline`)

A first line `# ids: no` means that every line is a name.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence

from hierseed.io.taxonomies.build import Entry, Source, build, link
from hierseed.io.taxonomies.codes import parents_of_codes
from hierseed.taxonomy import Taxonomy
from hierseed.topics import SEPARATOR

BULLET = re.compile(r"[-*+•–][ \t]+")
MARKS = ("->", "→", "::", "|", "\\", ">")  # never part of a name, if lines share what is before it
PERHAPS = "/"  # often part of a name

_CODED = re.compile(r"((?:[A-Z]{1,2}|[A-Z]{0,2}\d+)(?:\.\d+)*)[.)]?[ \t]+(\S.*)")


def is_plain(lines: Sequence[str]) -> bool:
    """Whether every line would be read as one name."""
    coded, mark = _codes(lines), find_mark(lines, (*MARKS, PERHAPS))
    return not (coded or mark or has_bullets(lines) or any(">" in line for line in lines))


def has_bullets(lines: Sequence[str]) -> bool:
    """Whether bullets stand below plain lines."""
    return not BULLET.match(lines[0].lstrip()) and any(BULLET.match(x.lstrip()) for x in lines)


def find_mark(lines: Sequence[str], marks: Sequence[str] = MARKS) -> str:
    """The separator of names: what is before it is also a line, or a prefix of other lines."""
    if any(SEPARATOR in line for line in lines):
        return ""
    for mark in marks:
        marked = [line.split(mark)[0].strip() for line in lines if mark in line]
        heads = Counter(marked) + Counter(line.strip() for line in lines if mark not in line)
        if marked and all(head and heads[head] > 1 for head in marked):
            return mark
    return ""


def read_numbered(source: Source, listed: Sequence[tuple[int, str]]) -> Taxonomy | None:
    """Read `1 Animals`, `1.1 Cats`; None if not every line has such a number."""
    codes = _codes([line for _, line in listed])
    if not codes:
        return None
    entries: dict[str, Entry] = {}
    for (number, _), (code, name) in zip(listed, codes):
        where = f"line {number}"
        if code in entries:
            source.fault(where, f"the number {code!r} occurs twice, first at {entries[code].where}")
        entries.setdefault(code, Entry(code, name, where, code=code))
    parents_of_codes(source, list(entries.values()), scheme="dotted")
    taxonomy = build(source, link(source, list(entries.values())))
    warn(source, "the numbers before the names are read as codes, and determine the parents")
    return taxonomy


def warn(source: Source, what: str) -> None:
    """Say how a list was read."""
    warnings.warn(
        f"{source.name}: {what}. If that is wrong, put the line '# ids: no' on top", stacklevel=4
    )


def _codes(lines: Sequence[str]) -> list[tuple[str, str]]:
    """Numbers and names, if every line has both and one number belongs below another."""
    found = [_CODED.fullmatch(line.strip()) for line in lines]
    codes = [(match[1], match[2]) for match in found if match]
    listed = {code for code, _ in codes}
    if len(codes) < len(lines) or not any(code.rpartition(".")[0] in listed for code in listed):
        return []
    return codes
