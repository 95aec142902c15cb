"""Tables of topics: a parent column, one column a level, one column of paths, or codes.

The layout follows from the header unless it is named. Rows come from CSV, TSV, Excel and
flat JSON alike, each with its place for messages.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack

from hierseed.errors import HierSeedWarning, TaxonomyError
from hierseed.io.taxonomies.build import Entry, PathRows, build, link
from hierseed.io.taxonomies.codes import parents_of_codes
from hierseed.io.taxonomies.parent_column import entries_with_parents
from hierseed.io.taxonomies.source import Source, tidy
from hierseed.io.taxonomies.table_columns import (
    Table,
    find_columns,
    level_columns,
    unused_columns,
    without_header,
)
from hierseed.names import SEPARATOR
from hierseed.taxonomy import Taxonomy

ROLES = {  # of the columns that each layout reads
    "parent": ("name", "code", "description", "parent", "parent_code", "parent_path"),
    "levels": ("code", "description"),
    "path": ("path", "name", "code", "description"),
    "codes": ("name", "code", "description"),
}
LAYOUTS = tuple(ROLES)
LONGEST_NAME = 80  # letters of a cell that may still be the name of a topic


class TableOptions(TypedDict, total=False):
    """Options of all readers of tables."""

    layout: str | None  # one of LAYOUTS
    columns: Mapping[str, str] | None  # role -> header, for headers that are not known
    levels: Sequence[str] | None  # headers of the level columns, level 1 first
    parent: str  # "all", "first" or "only"
    scheme: str | None  # how codes determine the parent
    digits: int | None  # how many digits a child's code adds


TABLE_OPTIONS = tuple(TableOptions.__annotations__)


def read_table_layout(source: Source, table: Table, **options: Unpack[TableOptions]) -> Taxonomy:
    """Find the columns, settle the layout, and read it."""
    layout, levels = options.get("layout"), options.get("levels")
    if layout is not None and layout not in LAYOUTS:
        raise TaxonomyError(f"no table layout {layout!r}; say one of {', '.join(LAYOUTS)}")
    table, found = without_header(table, find_columns(source, table, options.get("columns")))
    levelled = level_columns(source, table, found, levels, layout)
    if found.keys() <= {"code", "description"} and not levelled and layout is None:
        columns = [i for i in range(len(table.header)) if i not in found.values()]
        if _looks_levelled(table, columns):
            levelled = columns
            names = ", ".join(repr(table.header[i]) for i in columns)
            warning = HierSeedWarning(
                f"{source.name}: read as levels, level 1 first: {names}.",
                "If that is wrong, name the columns with {levels}",
            )
            warnings.warn(warning, stacklevel=2)
    layout = layout or _guess_layout(source, table, found, bool(levelled))
    used = [i for role, i in found.items() if role in ROLES[layout]]
    source.unused = unused_columns(table, [*used, *levelled] if layout == "levels" else used)
    pick = _Picker(found)
    if layout == "levels":
        return _read_levels(source, table, levelled, pick)
    if layout == "path":
        return _read_paths(source, table, pick)
    if "name" not in found:
        source.stop(
            table.where,
            f"no column of names among {table.header}; name it with ",
            "{columns:name}",
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
    return build(source, link(source, entries, options.get("parent", "all")))


class _Picker:
    """Cell of a row by role, empty where the column or the cell is missing."""

    def __init__(self, found: Mapping[str, int]) -> None:
        self._found = found

    def __call__(self, cells: Sequence[str], role: str) -> str:
        column = self._found.get(role, len(cells))
        return tidy(cells[column]) if column < len(cells) else ""

    def text(self, cells: Sequence[str]) -> str:
        column = self._found.get("description", len(cells))
        return cells[column] if column < len(cells) else ""


def _looks_levelled(table: Table, columns: Sequence[int]) -> bool:
    """True if each column holds one level: short names, and more distinct ones to the right.

    The first column repeats, or is filled only where its value changes; no row occurs twice, and
    no row has a gap.
    """
    if len(columns) < 2 or not table.rows or not all(table.header[i] for i in columns):
        return False
    paths: list[tuple[str, ...]] = []
    for _, cells in table.rows:
        names = [tidy(cells[i]) if i < len(cells) else "" for i in columns]
        blank = next((k for k, name in enumerate(names) if name), len(names))
        names[:blank] = paths[-1][:blank] if paths else []
        while names and not names[-1]:
            names.pop()
        if not names or "" in names:
            return False
        paths.append(tuple(names))
    if any(len(name) > LONGEST_NAME or name.isdecimal() for path in paths for name in path):
        return False
    distinct = [len({path[:k] for path in paths if len(path) >= k}) for k in (1, len(columns))]
    return distinct[0] < len(paths) == len(set(paths)) and distinct[0] <= distinct[1]


def _guess_layout(source: Source, table: Table, found: Mapping[str, int], levelled: bool) -> str:
    if any(role in found for role in ("parent", "parent_code", "parent_path")):
        return "parent"
    if levelled:
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
        "description, path, or level_1, level_2, …), or name them with ",
        "{columns:name} or {levels}",
    )


def _parent_kind(source: Source, table: Table, found: Mapping[str, int]) -> str:
    kinds = [role for role in ("parent_code", "parent_path", "parent") if role in found]
    if not kinds:
        source.stop(table.where, "no column of parents; name it with ", "{columns:parent}")
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
            source.fault(where, f"{names[first]!r} is at level {first + 1} without a parent")
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
            source.fault(where, f"the code {code!r} occurs twice, first at {first}")
        else:
            entries[code] = Entry(code, name, where, code=code, description=pick.text(cells))
    return list(entries.values())
