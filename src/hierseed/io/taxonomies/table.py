"""Tables of topics, read and written: parents, one column a level, one of paths, or codes.

The layout follows from the header unless it is named. Rows come from CSV, TSV, Excel and
flat JSON alike, each with its place for messages.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypedDict, Unpack

from hierseed.errors import HierSeedWarning, TaxonomyError, name_some
from hierseed.io.taxonomies.build import Entry, PathRows, Source, build, link, tidy
from hierseed.io.taxonomies.codes import check_codes, make_codes, parents_of_codes
from hierseed.io.taxonomies.table_columns import (
    Table,
    find_columns,
    level_columns,
    unused_columns,
    without_header,
)
from hierseed.taxonomy import Taxonomy
from hierseed.topics import SEPARATOR

ROLES = {  # of the columns that each layout reads
    "parent": ("name", "code", "description", "parent", "parent_code", "parent_path"),
    "levels": ("code", "description"),
    "path": ("path", "name", "code", "description"),
    "codes": ("name", "code", "description"),
}
LAYOUTS = tuple(ROLES)
LONGEST_NAME = 80  # letters of a cell that may still be the name of a topic
Pick = Callable[[Sequence[str], str], str]


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
            table.where, f"no column of names among {table.header}; name it with ", "{columns:name}"
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


def entries_with_parents(
    source: Source, rows: Sequence[tuple[str, list[str]]], pick: Pick, kind: str
) -> list[Entry]:
    """Read `parent_code`, `parent_path` or `parent`; for the last, the kind is detected."""
    found = [
        Entry(
            key="",
            name=pick(cells, "name"),
            where=where,
            parents=[above] if (above := pick(cells, kind)) else [],
            code=pick(cells, "code"),
            description=_text(pick, cells),
        )
        for where, cells in rows
    ]
    if kind == "parent":
        kind = _what_fits(found)
    keyed = {"parent_code": _by_code, "parent_path": _by_path, "parent_name": _by_name}[kind]
    return keyed(source, found)


def _text(pick: Pick, cells: Sequence[str]) -> str:
    text = getattr(pick, "text", None)
    return text(cells) if text else pick(cells, "description")


def _what_fits(entries: Sequence[Entry]) -> str:
    """Choose the reading under which most parents are found; codes before paths before names."""
    parents = [entry.parents[0] for entry in entries if entry.parents]
    known = {
        "parent_code": {entry.code for entry in entries if entry.code},
        "parent_path": {_path(entry) for entry in entries},
        "parent_name": {entry.name for entry in entries},
    }
    fits = {kind: sum(parent in keys for parent in parents) for kind, keys in known.items()}
    return max(fits, key=lambda kind: fits[kind]) if any(fits.values()) else "parent_name"


def _path(entry: Entry) -> str:
    return SEPARATOR.join([*entry.parents, entry.name])


def _drop_root(entries: Sequence[Entry]) -> None:
    """Read a parent called root as no parent, unless a row is called so."""
    keys = {entry.key for entry in entries}
    for entry in entries:
        entry.parents = [p for p in entry.parents if p in keys or p.casefold() != "root"]


def _by_code(source: Source, entries: Sequence[Entry]) -> list[Entry]:
    """Key by code; one code with two parents is one topic with several parents."""
    merged: dict[str, Entry] = {}
    for entry in entries:
        entry.key = entry.code
        if not entry.code:
            source.fault(entry.where, f"no code for {entry.name!r}, and parents are named by code")
            continue
        first = merged.setdefault(entry.code, entry)
        if first is entry:
            continue
        if first.name != entry.name or not entry.parents or entry.parents[0] in first.parents:
            source.fault(
                entry.where, f"the code {entry.code!r} occurs twice, first at {first.where}"
            )
        else:
            first.parents += entry.parents
    _drop_root(list(merged.values()))
    return list(merged.values())


def _by_path(source: Source, entries: Sequence[Entry]) -> list[Entry]:
    """Key by whole path."""
    for entry in entries:
        entry.key = _path(entry)
    _drop_root(entries)
    return _unique(source, entries)


def _by_name(source: Source, entries: Sequence[Entry]) -> list[Entry]:
    """Key by name, which must be unique for topics that have children."""
    bearers_of: dict[str, list[Entry]] = {}
    for entry in entries:
        entry.key = entry.name
        bearers_of.setdefault(entry.name, []).append(entry)
    _drop_root(entries)
    asked = {parent for entry in entries for parent in entry.parents}
    for name, bearers in bearers_of.items():
        if len(bearers) > 1 and name in asked:
            places = name_some(entry.where for entry in bearers)
            source.fault(
                bearers[1].where,
                f"{name!r} is a parent, but {len(bearers)} rows bear that name ({places}); name "
                "parents by code or by path",
            )
    taken: set[str] = set()
    for entry in entries:  # the same name under two parents: the later ones are never parents
        if entry.key in taken:
            entry.key = f"{entry.key}\n{entry.where}"
        taken.add(entry.key)
    return list(entries)


def _unique(source: Source, entries: Sequence[Entry]) -> list[Entry]:
    first: dict[str, Entry] = {}
    for entry in entries:
        if first.setdefault(entry.key, entry) is not entry:
            place = first[entry.key].where
            source.fault(entry.where, f"the topic {entry.key!r} occurs twice, first at {place}")
    return list(first.values())


def table_rows(taxonomy: Taxonomy, layout: str, renumber: bool = False) -> Iterator[list[str]]:
    """Give header and rows; codes and descriptions have a column where any topic has one.

    The layout `codes` needs codes that determine the tree; `renumber` makes them: 1, 1.1, 1.2, …
    """
    codes = list(taxonomy.codes)
    if layout == "codes":
        codes = codes if any(codes) and not renumber else make_codes(taxonomy)
        check_codes(taxonomy, codes)
    if layout not in LAYOUTS:
        raise TaxonomyError(f"no table layout {layout!r}; say one of {', '.join(LAYOUTS)}")
    columns: dict[str, list[str]] = {}
    if any(codes):
        columns["code"] = codes
    if layout == "path":
        columns["path"] = list(taxonomy.paths)
    elif layout == "levels":
        for level in range(taxonomy.tree.height):
            ids = taxonomy.tree.ancestors[:-1, level]
            columns[f"level_{level + 1}"] = [taxonomy.names[i] if i >= 0 else "" for i in ids]
    else:
        columns["name"] = list(taxonomy.names)
    if layout == "parent":
        header, texts = _parent_column(taxonomy)
        columns[header] = texts
    if any(taxonomy.descriptions):
        columns["description"] = list(taxonomy.descriptions)
    yield list(columns)
    for cells in zip(*columns.values()):
        yield list(cells)


def _parent_column(taxonomy: Taxonomy) -> tuple[str, list[str]]:
    """Name parents by code where every topic has its own, else by path."""
    codes, parent = taxonomy.codes, taxonomy.tree.parent
    if all(codes) and len(set(codes)) == len(codes):
        return "parent_code", [codes[p] if p >= 0 else "" for p in parent]
    header = "parent_path" if any(codes) else "parent"
    return header, [taxonomy.paths[p] if p >= 0 else "" for p in parent]
