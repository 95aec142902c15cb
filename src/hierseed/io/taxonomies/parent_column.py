"""Rows that name their parent by code, by path or by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hierseed.errors import name_some
from hierseed.io.taxonomies.build import Entry
from hierseed.io.taxonomies.source import Source
from hierseed.names import SEPARATOR

Pick = Callable[[Sequence[str], str], str]


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
