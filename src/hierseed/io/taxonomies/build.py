"""From what a reader found to a Taxonomy; the faults all formats share are found here."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hierseed.core.tree import chains_of_cycles
from hierseed.errors import TaxonomyError, name_some
from hierseed.io.taxonomies.source import Source, tidy, tidy_description
from hierseed.names import SEPARATOR, name_fault
from hierseed.taxonomy import Taxonomy

DEEPEST = 100  # levels; a deeper file is damaged or hostile, and its paths would fill memory


@dataclass(slots=True)
class Row:
    """A topic as found: its parent is a position in the same list, -1 for none."""

    name: str
    parent: int
    where: str
    code: str = ""
    description: str = ""
    other: bool = False
    more_parents: list[int] = field(default_factory=list)
    address: str = ""


@dataclass(slots=True)
class Entry:
    """A topic of a format that names parents by key: a code, a label, an address."""

    key: str
    name: str
    where: str
    parents: list[str] = field(default_factory=list)
    code: str = ""
    description: str = ""
    address: str = ""


def build(source: Source, rows: Sequence[Row], vocabulary: str = "") -> Taxonomy:
    """Check names, paths and depth, then make the taxonomy; parents first, else file order."""
    for row in rows:
        row.name, row.code = tidy(row.name), tidy(row.code)
        if fault := name_fault(row.name):
            source.fault(row.where, f"{fault} in the topic {row.name!r}")
        if row.code and (fault := name_fault(row.code)):
            source.fault(row.where, f"{fault} in the code {row.code!r}")
    seen: dict[tuple[int, str], Row] = {}
    for row in rows:
        first = seen.setdefault((row.parent, row.name), row)
        if first is not row and row.name:
            path = path_of(rows, row)
            source.fault(row.where, f"the topic {path!r} occurs twice, first at {first.where}")
    if not rows:
        source.fault("", "no topic in it")
    source.refuse()
    try:
        taxonomy = Taxonomy.from_parents(
            [row.name for row in rows],
            [row.parent for row in rows],
            codes=[row.code for row in rows],
            descriptions=[tidy_description(row.description) for row in rows],
            is_other=[row.other for row in rows],
            more_parents=[row.more_parents for row in rows],
            addresses=[row.address for row in rows],
            vocabulary=vocabulary,
        )
    except TaxonomyError as fault:
        raise TaxonomyError(f"{source.name}: {fault}") from fault
    if taxonomy.tree.height > DEEPEST:
        source.stop("", f"{taxonomy.tree.height:,} levels, and {DEEPEST} are the most allowed")
    if source.unused:
        warnings.warn(source.aside(), stacklevel=5)
    return taxonomy


def path_of(rows: Sequence[Row], row: Row) -> str:
    """`A > B > C` for a message; cut short where it is very deep."""
    names = [row.name]
    while row.parent >= 0 and len(names) < DEEPEST:
        row = rows[row.parent]
        names.append(row.name)
    return SEPARATOR.join(reversed(names))


class PathRows:
    """Rows gathered from whole paths; parents not listed themselves are filled in."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.rows: list[Row] = []
        self._known: dict[tuple[str, ...], int] = {}
        self._given: dict[tuple[str, ...], str] = {}

    def add(
        self, parts: Iterable[str], where: str, *, code: str = "", description: str = ""
    ) -> None:
        """Add one path; its last name gets the code and the description."""
        path = tuple(map(tidy, parts))
        if not path or not all(path):
            self.source.fault(where, f"an empty name in the path {SEPARATOR.join(path)!r}")
            return
        if len(path) > DEEPEST:
            self.source.fault(where, f"{len(path):,} levels, and {DEEPEST} are the most allowed")
            return
        if path in self._given:
            first = self._given[path]
            self.source.fault(
                where, f"the topic {SEPARATOR.join(path)!r} occurs twice, first at {first}"
            )
            return
        self._given[path] = where
        above = -1
        for depth in range(1, len(path) + 1):
            known = self._known.get(path[:depth])
            if known is None:
                known = self._known[path[:depth]] = len(self.rows)
                self.rows.append(Row(path[depth - 1], above, where))
            above = known
        self.rows[above].where = where
        self.rows[above].code, self.rows[above].description = code, description


def link(source: Source, entries: Sequence[Entry], parent: str = "all") -> list[Row]:
    """Turn parents named by key into positions; unknown parents and cycles are faults.

    The faults are left to `build`, which adds its own and raises them all. Of several parents the
    first has the topic in its tree. The others are kept with `parent="all"`, dropped with a warning
    with "first", and a fault with "only".
    """
    if parent not in ("all", "only", "first"):
        raise TaxonomyError(
            f"parent is {parent!r}; say 'all' (keep several), 'first' or 'only' (refuse several)"
        )
    position = {entry.key: i for i, entry in enumerate(entries)}
    above: list[list[int]] = []
    for entry in entries:
        keys = list(dict.fromkeys(entry.parents))
        for key in keys:
            if key not in position:
                source.fault(
                    entry.where, f"no topic {key!r}, the parent of {entry.name!r}; list it as well"
                )
        above.append([position[key] for key in keys if key in position])
    several = [i for i, parents in enumerate(above) if len(parents) > 1]
    if parent == "first" and several:
        names = name_some(entries[i].name for i in several)
        warnings.warn(
            f"{source.name}: of several parents only the first is kept for {names}", stacklevel=4
        )
        above = [parents[:1] for parents in above]
    elif parent == "only":
        for i in several:
            names = name_some(entries[p].name for p in above[i])
            source.fault(
                entries[i].where,
                f"{entries[i].name!r} has {len(above[i])} parents: {names}; ",
                "keep one, or read with {parent:all} or {parent:first}",
            )
    for cycle in chains_of_cycles(above):
        chain = " -> ".join(repr(entries[i].name) for i in [*cycle, cycle[0]])
        source.fault(entries[cycle[0]].where, f"a topic is its own ancestor: {chain}")
    rows = []
    for i, (entry, parents) in enumerate(zip(entries, above)):
        lost = -2 - i if entry.parents else -1  # under an unknown parent, so it has no siblings
        upper = parents[0] if parents else lost
        row = Row(entry.name, upper, entry.where, entry.code, entry.description)
        row.more_parents, row.address = list(parents[1:]), entry.address
        rows.append(row)
    return rows
