"""Tables of topics: a parent column, one column a level, one column of paths, or codes.

The layout follows from the header unless it is named. Rows come from CSV, TSV, Excel and
flat JSON alike, each with its place for messages.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict, Unpack

from hierseed.errors import TaxonomyError
from hierseed.io.taxonomies.build import Entry, PathRows, build, link
from hierseed.io.taxonomies.codes import parents_of_codes
from hierseed.io.taxonomies.parent_column import entries_with_parents
from hierseed.io.taxonomies.source import Source, tidy
from hierseed.taxonomy import SEPARATOR, Taxonomy

LAYOUTS = ("parent", "levels", "path", "codes")
SPELLINGS = {
    "name": "name label topic title term preflabel heading descriptor category concept topic_name",
    "code": "code id notation number tree_number treenumber topic_code identifier key",
    "parent": "parent parent_name broader parent_topic",
    "parent_code": "parent_code parent_id parentid parent_notation broader_code parent_key",
    "parent_path": "parent_path",
    "path": "path full_path topic_path category_path",
    "description": "description definition scope_note note notes",
}

_LEVEL = re.compile(r"(?:level|tier|lvl|l|category|cat|ebene|niveau)_?(\d+)")
_CODE = re.compile(r"[A-Za-z]{0,3}\d[\w.\-/]*|[A-Z]")

Cells = tuple[str, list[str]]


@dataclass
class Table:
    """A header and rows of texts, each row with its place."""

    header: list[str]
    rows: list[Cells]
    where: str = "line 1"  # of the header


class TableOptions(TypedDict, total=False):
    """What every reader of tables can be told."""

    layout: str | None  # one of LAYOUTS
    columns: Mapping[str, str] | None  # role -> header, for headers that are not known
    levels: Sequence[str] | None  # headers of the level columns, level 1 first
    parent: str  # "only" or "first"
    scheme: str | None  # how codes tell the parent
    digits: int | None  # how many digits a child's code adds


TABLE_OPTIONS = tuple(TableOptions.__annotations__)


def read_table_layout(source: Source, table: Table, **options: Unpack[TableOptions]) -> Taxonomy:
    """Find the columns, settle the layout, and read it."""
    layout, levels = options.get("layout"), options.get("levels")
    if layout is not None and layout not in LAYOUTS:
        raise TaxonomyError(f"no table layout {layout!r}; say one of {', '.join(LAYOUTS)}")
    table, found = _without_header(table, find_columns(source, table, options.get("columns")))
    level_columns = _level_columns(source, table, found, levels, layout)
    layout = layout or _guess_layout(source, table, found, level_columns)
    pick = _Picker(table, found)
    if layout == "levels":
        return _read_levels(source, table, level_columns, pick)
    if layout == "path":
        return _read_paths(source, table, pick)
    if "name" not in found:
        source.stop(
            table.where,
            f"no column of names among {table.header}; say columns={{'name': …}} (--column name=…)",
        )
    if layout == "codes":
        if "code" not in found:
            source.stop(table.where, f"no column of codes among {table.header}")
        entries = _coded_entries(source, table, pick)
        parents_of_codes(
            source, entries, scheme=options.get("scheme"), digits=options.get("digits")
        )
    else:
        entries = entries_with_parents(source, table.rows, pick, _parent_kind(source, table, found))
    return build(source, link(source, entries, options.get("parent", "only")))


def find_columns(source: Source, table: Table, columns: Mapping[str, str] | None) -> dict[str, int]:
    """Match the header with the spellings known, or with the names given in `columns`."""
    header, folded = table.header, _folded(table.header)
    found: dict[str, int] = {}
    for role, spellings in SPELLINGS.items():
        for spelling in spellings.split():
            if role not in found and spelling in folded:
                found[role] = folded.index(spelling)
    for role, column in (columns or {}).items():
        if role not in SPELLINGS:
            raise TaxonomyError(f"no role {role!r} for a column; say one of {', '.join(SPELLINGS)}")
        if column not in header:
            source.stop(table.where, f"no column {column!r}; the header has {header}")
        found[role] = header.index(column)
    return found


def _folded(header: Sequence[str]) -> list[str]:
    return [re.sub(r"[\s_\-]+", "_", cell.strip().casefold()).strip("_") for cell in header]


class _Picker:
    """Cell of a row by role, empty where the column or the cell is missing."""

    def __init__(self, table: Table, found: Mapping[str, int]) -> None:
        self._width, self._found = len(table.header), found

    def __call__(self, cells: Sequence[str], role: str) -> str:
        column = self._found.get(role, len(cells))
        return tidy(cells[column]) if column < len(cells) else ""

    def text(self, cells: Sequence[str]) -> str:
        column = self._found.get("description", len(cells))
        return cells[column] if column < len(cells) else ""


def _without_header(table: Table, found: dict[str, int]) -> tuple[Table, dict[str, int]]:
    """Take two columns of names and codes without a header (the form of MeSH's own file)."""
    if found or len(table.header) != 2:
        return table, found
    rows = [(table.where, table.header), *table.rows]
    for code in (0, 1):
        if all(len(cells) == 2 and _CODE.fullmatch(cells[code].strip()) for _, cells in rows):
            return Table(["name", "code"], rows), {"code": code, "name": 1 - code}
    return table, found


def _level_columns(
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
    if numbered or layout != "levels":
        return [column for _, column in sorted(numbered)]
    kept = {found.get("code"), found.get("description")}
    return [column for column in range(len(header)) if column not in kept]


def _guess_layout(
    source: Source, table: Table, found: Mapping[str, int], level_columns: list[int]
) -> str:
    if any(role in found for role in ("parent", "parent_code", "parent_path")):
        return "parent"
    if level_columns:
        return "levels"
    if "path" in found or ("name" in found and "code" not in found):
        return "path"
    if "name" in found:
        column = found["name"]
        whole = any(SEPARATOR in cell for _, cells in table.rows for cell in cells[column:][:1])
        return "path" if whole else "codes"
    source.stop(
        table.where,
        f"the header {table.header} names no known column. Rename them (name, parent, code, "
        "description, path, or level_1, level_2, …), or say columns={'name': …} or "
        "levels=[…] (hierseed convert --column name=…, --level …)",
    )


def _parent_kind(source: Source, table: Table, found: Mapping[str, int]) -> str:
    kinds = [role for role in ("parent_code", "parent_path", "parent") if role in found]
    if not kinds:
        source.stop(
            table.where, "no column of parents; say columns={'parent': …} (--column parent=…)"
        )
    return kinds[0]


def _read_levels(source: Source, table: Table, columns: list[int], pick: _Picker) -> Taxonomy:
    """Read one column a level. An empty cell before the first name repeats the row above."""
    rows = PathRows(source)
    above: list[str] = []
    for where, cells in table.rows:
        names = [tidy(cells[column]) if column < len(cells) else "" for column in columns]
        while names and not names[-1]:
            names.pop()
        if not names:
            source.fault(where, "no name in any of the level columns")
            continue
        first = next(i for i, name in enumerate(names) if name)
        if first > len(above):
            source.fault(where, f"{names[first]!r} stands at level {first + 1} with nothing above")
            continue
        names[:first] = above[:first]
        if "" in names:
            gap = names.index("") + 1
            source.fault(where, f"level {gap} is empty but level {len(names)} is not")
            continue
        above = names
        rows.add(names, where, code=pick(cells, "code"), description=pick.text(cells))
    return build(source, rows.rows)


def _read_paths(source: Source, table: Table, pick: _Picker) -> Taxonomy:
    rows = PathRows(source)
    for where, cells in table.rows:
        path = pick(cells, "path") or pick(cells, "name")
        rows.add(
            path.split(SEPARATOR), where, code=pick(cells, "code"), description=pick.text(cells)
        )
    return build(source, rows.rows)


def _coded_entries(source: Source, table: Table, pick: _Picker) -> list[Entry]:
    entries: dict[str, Entry] = {}
    for where, cells in table.rows:
        code, name = pick(cells, "code"), pick(cells, "name")
        if not code:
            source.fault(where, f"no code for {name!r}")
        elif code in entries:
            first = entries[code].where
            source.fault(where, f"the code {code!r} stands twice, first at {first}")
        else:
            entries[code] = Entry(code, name, where, code=code, description=pick.text(cells))
    return list(entries.values())
