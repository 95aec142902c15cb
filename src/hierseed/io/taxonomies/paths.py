"""One path a line, `A > B > C`, with optional ids before it and comments.

The form of the Google product taxonomy::

    # Google_Product_Taxonomy_Version: 2021-09-21
    1 - Animals & Pet Supplies
    3237 - Animals & Pet Supplies > Live Animals

Two signs keep every name writable: a line `# ids: yes` (or `no`) says whether numbers before ` - `
are ids, and a backslash before a leading `#` or backslash says that the line is no comment.

A file without `>` may also be a plain list, unless its first line is `# ids: no`:

- another mark between the names of a path: `Animals|Cats`, `Animals -> Cats`
- numbers: `1 Animals`, `1.1 Cats`
- bullets below plain lines: `Animals`, `- Cats` (read by `outline`)
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence

from hierseed.errors import HierSeedWarning, TaxonomyError, name_some
from hierseed.io.taxonomies.build import Entry, PathRows, Source, build, link, tidy
from hierseed.io.taxonomies.codes import parents_of_codes
from hierseed.taxonomy import Taxonomy
from hierseed.topics import SEPARATOR

DASH = " - "
NO_CODE = "-"  # "no id" on a line of a file with ids
BULLET = re.compile(r"[-*+•–][ \t]+")
MARKS = ("->", "→", "::", "|", "\\", ">")  # never part of a name, if lines share what is before it
PERHAPS = "/"  # often part of a name

_NUMBERED = re.compile(r"\d+ - ")
_SETTLED = re.compile(r"#\s*ids:\s*(yes|no)\s*$")
_CODED = re.compile(r"((?:[A-Z]{1,2}|[A-Z]{0,2}\d+)(?:\.\d+)*)[.)]?[ \t]+(\S.*)")


def read(source: Source, *, ids: bool | None = None, separator: str = SEPARATOR) -> Taxonomy:
    """Read paths; unless `ids` says so, numbers before every path are taken as ids."""
    if not separator.strip():
        raise TaxonomyError(f"the separator is {separator!r}; give a visible one, such as '/'")
    settled = [match for line in source.lines if (match := _SETTLED.match(line))]
    if ids is None and settled:
        ids = settled[0].group(1) == "yes"
    listed = [(number, line) for number, line in enumerate(source.lines, 1) if is_content(line)]
    if ids is None:
        ids = bool(listed) and all(_NUMBERED.match(line.strip()) for _, line in listed)
    plain = not any(SEPARATOR in line for _, line in listed)
    if separator == SEPARATOR and not settled and not ids and plain:
        if (numbered := read_numbered(source, listed)) is not None:
            return numbered
        separator = _other_mark(source, [line for _, line in listed]) or separator
    rows = PathRows(source)
    seen: dict[str, int] = {}
    for number, line in listed:
        code, path = "", unescape(line.strip())
        if ids:
            code, dash, path = path.partition(DASH)
            code = "" if code == NO_CODE else tidy(code)
            if not dash:
                source.fault(f"line {number}", f"no id before ' - ' in {line!r}")
                continue
            if code and seen.setdefault(code, number) != number:
                source.fault(
                    f"line {number}", f"the id {code!r} occurs twice, first at line {seen[code]}"
                )
        rows.add(path.split(separator), f"line {number}", code=code)
    return build(source, rows.rows)


def _other_mark(source: Source, lines: list[str]) -> str:
    """The separator used in place of ` > `; a doubtful one causes only a warning."""
    if mark := find_mark(lines):
        warn(source, f"{mark!r} is read as the mark between the names of a path")
        return mark
    perhaps = PERHAPS if find_mark(lines, [PERHAPS]) else ">"
    doubtful = [line.strip() for line in lines if perhaps in line]
    if doubtful:
        warning = HierSeedWarning(
            f"{source.name}: {doubtful[0]!r} is read as one name.",
            f"If {perhaps!r} separates names, use {{separator:{perhaps}}}",
        )
        warnings.warn(warning, stacklevel=3)
    return ""


def write(taxonomy: Taxonomy) -> str:
    """Write one path a line; ids come first where any topic has a code."""
    ids = any(taxonomy.codes)
    if unfit := [c for c in taxonomy.codes if DASH in f"{c} " or c == NO_CODE]:
        raise TaxonomyError(
            f"paths can't hold the code {NO_CODE!r} or one with {DASH!r} in it: "
            f"{name_some(unfit)}; write .json or .csv"
        )
    lines = [
        f"{code or NO_CODE}{DASH}{path}" if ids else path
        for code, path in zip(taxonomy.codes, taxonomy.paths)
    ]
    settled = ["# ids: yes"] if ids else []
    if not ids and (all(map(_NUMBERED.match, lines)) or _may_be_misread(lines)):
        settled = ["# ids: no"]
    return "".join(f"{line}\n" for line in [*settled, *map(escape, lines)])


def _may_be_misread(lines: list[str]) -> bool:
    return bool(lines) and not any(SEPARATOR in x for x in lines) and not is_plain(lines)


def is_settled(line: str) -> bool:
    """Whether a line says if paths have ids: then the file is of this format."""
    return bool(_SETTLED.match(line))


def is_content(line: str) -> bool:
    """Tell a topic from a comment or an empty line."""
    return bool(line.strip()) and not line.lstrip().startswith("#")


def escape(line: str) -> str:
    """Put a backslash before a line that would read as a comment."""
    return "\\" + line if line.startswith(("#", "\\#", "\\\\")) else line


def unescape(line: str) -> str:
    """Take that backslash away again."""
    return line[1:] if line.startswith(("\\#", "\\\\")) else line


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
