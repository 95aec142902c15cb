"""What readers of all formats share: the file, its faults with their places, and the Taxonomy."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike, fspath
from pathlib import Path
from typing import NoReturn

from hierseed.core.tree import chains_of_cycles
from hierseed.errors import TaxonomyError, name_some, plain_text
from hierseed.io.records.rows import (
    AUTO,
    check_encoding,
    display_name,
    encoding_warning,
    guess_encoding,
)
from hierseed.taxonomy import Taxonomy
from hierseed.topics import SEPARATOR, UNWRITABLE, name_fault

LIMIT = 256 * 2**20  # bytes; the largest public taxonomies (MeSH, EuroVoc) are below 200 MB
NOT_UTF8 = "save the file as UTF-8, or read it with {encoding:auto}"
LISTED = 50  # faults spelled out in one message; the rest are counted

_BREAKS = re.compile(r"\s*[\t\n\r\f\v\x85\u2028\u2029]\s*")
DEEPEST = 100  # levels; a deeper file is damaged or hostile, and its paths would fill memory


@dataclass
class Source:
    """One file: its name for messages, its bytes, and the faults found so far."""

    name: str
    data: bytes
    encoding: str | None = None  # of a text that is not UTF-8
    unused: list[str] = field(default_factory=list)  # columns or keys that were passed over
    hint: str = ""  # appended to the faults, before the option that names a sheet
    _faults: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def open(cls, file: str | PathLike[str], encoding: str | None = None) -> Source:
        """Load a file; what is missing, a folder or far too large is refused."""
        path = Path(fspath(file))
        try:
            size = path.stat().st_size
            if path.is_dir():
                raise TaxonomyError(f"{path} is a folder; name the taxonomy file in it")
            if not path.is_file():
                raise TaxonomyError(f"{path} is a pipe or a device; save it as a file first")
            if size > LIMIT:
                raise TaxonomyError(
                    f"{path} holds {size / 2**20:,.0f} MB, a taxonomy at most {LIMIT >> 20} MB; "
                    "is this the corpus?"
                )
            if encoding is not None and encoding != AUTO:
                encoding = check_encoding(encoding)
            return cls(str(path), path.read_bytes(), encoding)
        except (OSError, ValueError) as fault:  # ValueError: a NUL in the name
            if isinstance(fault, TaxonomyError):
                raise
            reason = getattr(fault, "strerror", None) or str(fault)
            raise TaxonomyError(f"can't read the taxonomy {path}: {reason}") from fault

    @cached_property
    def text(self) -> str:
        """The whole file as text: UTF-8, with or without a byte order mark, or as named."""
        wide = self.data[:2] in (b"\xff\xfe", b"\xfe\xff")
        if wide and self.encoding is None:
            self.stop(
                "line 1",
                "this is UTF-16, as Excel's 'Unicode text' is; ",
                "save it as UTF-8, or read it with {encoding:utf-16}",
            )
        try:
            text = self.data.decode("utf-16" if wide else "utf-8-sig")
        except UnicodeDecodeError as fault:
            if self.encoding is not None:
                return self._decoded(self.encoding)
            line = self.data.count(b"\n", 0, fault.start) + 1
            byte = self.data[fault.start]
            self.stop(f"line {line}", f"the byte 0x{byte:02X} is not UTF-8; ", NOT_UTF8)
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            self.stop(f"line {line}", "a NUL character: this is a binary file, not a text")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _decoded(self, encoding: str) -> str:
        """Decode with the encoding given or detected; refuse bytes that do not fit."""
        if encoding == AUTO:
            odd = [line for line in self.data.split(b"\n") if not _is_utf8(line)]
            encoding = guess_encoding(b"\n".join(odd))
            warnings.warn(encoding_warning(self.name, encoding), stacklevel=4)
        try:
            text = self.data.decode(encoding)
        except UnicodeDecodeError as fault:
            line = self.data.count(b"\n", 0, fault.start) + 1
            self.stop(f"line {line}", f"not {display_name(encoding)}: {fault.reason}")
        return text.replace("\r\n", "\n").replace("\r", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, split at line breaks only, not at other Unicode separators."""
        return self.text.split("\n")

    def fault(self, where: str, what: str, advice: str = "") -> None:
        """Collect a fault and continue; `advice` may name parameters, as in `HierSeedError`."""
        self._faults.append((where, plain_text(what) + advice))

    def stop(self, where: str, what: str, advice: str = "") -> NoReturn:
        """Collect a fault after which reading can't continue, and raise."""
        self.fault(where, what, advice)
        raise self._error()

    def refuse(self) -> None:
        """Raise one error that lists every fault, if there is any."""
        if self._faults:
            raise self._error()

    def aside(self) -> str:
        """Name the columns that were ignored: with the faults, or as a warning."""
        return (
            f"not used for the taxonomy in {self.name}: {', '.join(self.unused)}. If one has the "
            "parents or codes, rename it to parent or code"
        )

    def _error(self) -> TaxonomyError:
        ordered = sorted(self._faults, key=lambda fault: _number(fault[0]))
        lines = [f"{where}: {what}" if where else what for where, what in ordered]
        aside = plain_text(f"\n{self.aside()}") if self.unused else ""
        if self.hint:
            aside += plain_text(self.hint) + "{taxonomy_sheet}"
        name = plain_text(self.name)
        if len(lines) == 1:
            return TaxonomyError("", f"{name}, {lines[0]}{aside}")
        listed = "".join(f"\n  - {fault}" for fault in lines[:LISTED])
        if len(lines) > LISTED:
            listed += f"\n  … and {len(lines) - LISTED:,} more"
        return TaxonomyError("", f"{name} has {len(lines):,} faults:{listed}{aside}")


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _number(where: str) -> int:
    """Line or row of a place, so that faults are listed in the order of the file."""
    found = re.match(r"(?:line|row) (\d+)", where)
    return int(found.group(1)) if found else 0


def tidy(text: str) -> str:
    """Strip a name or code; a line break or tab inside it (Excel, SKOS) becomes a space."""
    if text.isprintable():  # nearly always, and much faster than the pattern
        return text.strip()
    return _BREAKS.sub(" ", text).strip()


def tidy_description(text: str) -> str:
    """Keep line breaks, drop the characters that no format holds."""
    if text.isprintable():
        return text.strip()
    lines = text.replace("\r\n", "\n").replace("\r", "\n").replace("\t", " ").split("\n")
    return "\n".join(UNWRITABLE.sub(" ", line).rstrip() for line in lines).strip()


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
