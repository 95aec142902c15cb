"""Which column of a table is what: by usual headers, by number, or by options."""

from __future__ import annotations

import re
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hierseed.errors import TaxonomyError, name_some
from hierseed.io.taxonomies.build import Source

SPELLINGS = {
    "name": "name label topic title term preflabel heading descriptor category concept topic_name "
    "caption subject subject_heading class_name",
    "code": "code id notation number tree_number treenumber topic_code identifier key "
    "class_number class_no class_code class_notation",
    "parent": "parent parent_name broader parent_topic parent_term broader_term bt broader_concept "
    "parent_label parent_heading parent_class parent_category narrower_of",
    "parent_code": "parent_code parent_id parentid parent_notation broader_code parent_key",
    "parent_path": "parent_path",
    "path": "path full_path topic_path category_path",
    "description": "description definition scope_note sn note notes",
}

TITLES = 5  # rows above a table at most

_LEVEL = re.compile(r"(?:level|tier|lvl|l|category|cat|ebene|niveau)_?(\d+)")
_SUB = re.compile(r"^(?:major_|main_)?(?:sub(?!ject)_?)*")  # topic, subtopic, sub-subtopic
_CODE = re.compile(r"[A-Za-z]{0,3}\d[\w.\-/]*|[A-Z]")
_CLASS = re.compile(r"[A-Za-z]{0,3} ?\d[\w.\-/]*|[A-Z]{1,3}")

Cells = tuple[str, list[str]]


@dataclass
class Table:
    """A header and rows of texts, each row with its place."""

    header: list[str]
    rows: list[Cells]
    where: str = "line 1"  # of the header


def without_titles(source: Source, rows: Sequence[Cells]) -> tuple[Cells, Sequence[Cells]]:
    """Header and body; a few single cells above a wider table are its title, and passed over."""
    wide = (number for number, (_, cells) in enumerate(rows) if _filled(cells) > 1)
    first = next(wide, 0)
    known = {spelling for spellings in SPELLINGS.values() for spelling in spellings.split()}
    if first > TITLES or known.intersection(_folded(rows[0][1])):
        first = 0
    if first:
        titles = [cell.strip() for _, cells in rows[:first] for cell in cells if cell.strip()]
        warnings.warn(
            f"{source.name}: {name_some(titles)} above the table is passed over as its title",
            stacklevel=4,
        )
    return rows[first], rows[first + 1 :]


def _filled(cells: Sequence[str]) -> int:
    return sum(1 for cell in cells if cell.strip())


def find_columns(source: Source, table: Table, columns: Mapping[str, str] | None) -> dict[str, int]:
    """Match the header with the spellings known, or with the names given in `columns`."""
    header, folded = table.header, _folded(table.header)
    found: dict[str, int] = {}
    for role, spellings in SPELLINGS.items():
        for spelling in spellings.split():
            if role not in found and spelling in folded:
                found[role] = folded.index(spelling)
    if "class" in folded:  # to some the code, to others the name
        at = folded.index("class")
        classes = [cells[at].strip() for _, cells in table.rows if len(cells) > at]
        found.setdefault("code" if all(map(_CLASS.fullmatch, classes)) else "name", at)
    for role, column in (columns or {}).items():
        if role not in SPELLINGS:
            raise TaxonomyError(f"no role {role!r} for a column; say one of {', '.join(SPELLINGS)}")
        if column not in header:
            source.stop(table.where, f"no column {column!r}; the header has {header}")
        found[role] = header.index(column)
    return found


def unused_columns(table: Table, used: Collection[int]) -> list[str]:
    """Name the columns that have values and no part in the taxonomy."""
    filled = {i for _, cells in table.rows for i, cell in enumerate(cells) if cell.strip()}
    return [
        repr(header) if header.strip() else f"column {i + 1}"
        for i, header in enumerate(table.header)
        if i in filled and i not in used
    ]


def _folded(header: Sequence[str]) -> list[str]:
    return [re.sub(r"[\s_\-]+", "_", cell.strip().casefold()).strip("_") for cell in header]


def without_header(table: Table, found: dict[str, int]) -> tuple[Table, dict[str, int]]:
    """Take two columns of names and codes without a header (the form of MeSH's own file)."""
    if found or len(table.header) != 2:
        return table, found
    rows = [(table.where, table.header), *table.rows]
    for code in (0, 1):
        if all(len(cells) == 2 and _CODE.fullmatch(cells[code].strip()) for _, cells in rows):
            return Table(["name", "code"], rows), {"code": code, "name": 1 - code}
    return table, found


def level_columns(
    source: Source,
    table: Table,
    found: Mapping[str, int],
    levels: Sequence[str] | None,
    layout: str | None,
) -> list[int]:
    """Find the columns of the levels, in order of level."""
    header = table.header
    if levels is not None:
        if missing := [column for column in levels if column not in header]:
            source.stop(table.where, f"no columns {missing}; the header has {header}")
        return [header.index(column) for column in levels]
    folded = _folded(header)
    numbered = [(int(m.group(1)), i) for i, x in enumerate(folded) if (m := _LEVEL.fullmatch(x))]
    numbered = numbered or _sub_columns(folded)
    if numbered or layout != "levels":
        return [column for _, column in sorted(numbered)]
    kept = {found.get("code"), found.get("description")}
    return [column for column in range(len(header)) if column not in kept]


def _sub_columns(folded: Sequence[str]) -> list[tuple[int, int]]:
    """Find `topic, subtopic` or `category, sub-category, …`: depth and position of each."""
    groups: dict[str, dict[int, int]] = {}
    for column, header in enumerate(folded):
        base = _SUB.sub("", header)
        groups.setdefault(base, {}).setdefault(header.removesuffix(base).count("sub"), column)
    for depths in groups.values():
        if len(depths) > 1 and set(depths) == set(range(len(depths))):
            return list(depths.items())
    return []
