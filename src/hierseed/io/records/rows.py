"""What every reader of records yields: rows, and faults of rows that can't be used.

Faults are collected with file and line, reported together, and saved if they are skipped.
"""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, ExitStack
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from hierseed.errors import HierSeedError
from hierseed.files import atomic_file
from hierseed.progress import Note

KEPT = 100  # faults kept in full; further ones are counted, so that memory stays bounded
SHOWN = 5  # of each kind
NOT_UTF8 = "not UTF-8"
ADVICE = {  # what to do, as in `HierSeedError`
    NOT_UTF8: "It may be Windows-1252, as Excel writes .csv. Use {encoding:auto} or "
    "{encoding:cp1252}; lines in UTF-8 are still read as UTF-8"
}


class Row(NamedTuple):
    """The selected values of one row, in the order of the selection."""

    line: int
    values: list[Any]
    whole: Callable[[], str] = str  # returns the whole row as it is in the file
    file: str = ""  # where each row is a file of its own


def as_text(value: Any) -> str | None:
    """Text of a cell, "" for an empty one, None for what is no text (a list, half a letter).

    Whole numbers lose the `.0` that Excel and pandas give them, so that ids still match.
    """
    if isinstance(value, str):
        return value if value.isascii() or is_unicode(value) else None
    if value is None or value != value:  # NaN differs from itself
        return ""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    return None


def as_json(columns: Sequence[str], values: Sequence[Any]) -> str:
    """Write a row of a format that has no lines."""
    return json.dumps(dict(zip(columns, values)), ensure_ascii=False, default=str)


def describe(value: Any) -> str:
    """Describe a value that is not a text."""
    return "half of a surrogate pair" if isinstance(value, str) else f"a {type(value).__name__}"


def is_unicode(text: str) -> bool:
    """False for half of a surrogate pair: JSON and file names can contain it, UTF-8 can not."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


class Fault(NamedTuple):
    """One row that can't be used."""

    file: str
    line: int  # 1-based; the row number where a format has no lines; 0 for the file as a whole
    kind: str  # a few words, the same for all faults of a kind
    detail: str = ""
    row: str = ""  # the row as it is in the file, for the list of skipped rows

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        return f"{self.place}: {self.kind}" + (f" ({self.detail})" if self.detail else "")


class Faults:
    """The first faults in full and a count of each kind."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self.kept: list[Fault] = []
        self.counts: Counter[str] = Counter()
        for fault in faults:
            self.add(fault)

    def add(self, fault: Fault) -> None:
        """Count a fault; keep it if there are not too many."""
        self.counts[fault.kind] += 1
        if len(self.kept) < KEPT or self.counts[fault.kind] <= SHOWN:
            self.kept.append(fault._replace(row=""))

    def __len__(self) -> int:
        return self.counts.total()

    def errors(self, kind: type[HierSeedError]) -> list[HierSeedError]:
        """Errors: one for each fault of a kind if they are few, else the first and a count."""
        found: list[HierSeedError] = []
        for name, count in self.counts.items():
            same = [fault for fault in self.kept if fault.kind == name]
            alike = count > 1 and len({(fault.file, fault.detail) for fault in same}) == 1
            if count <= SHOWN and name not in ADVICE and not alike:
                found += [kind(str(fault)) for fault in same]
                continue
            places = ", ".join(fault.place for fault in same[1:SHOWN])
            joint = " The" if str(same[0]).endswith("?") else "; the"
            more = f"{joint} same in {places}" if places else ""
            end = f" and {count - SHOWN:,} more" if count > SHOWN else ""
            found.append(kind(f"{same[0]}{more}{end}", ADVICE.get(name, "")))
        return found

    def describe(self) -> str:
        """All faults as a list, without advice."""
        return "".join(f"\n  - {fault.message}" for fault in self.errors(HierSeedError))

    def refuse(self, kind: type[HierSeedError], rows: str, advice: str = "") -> NoReturn:
        """Raise an error that lists all faults of these rows."""
        kinds = [ADVICE[name] for name in self.counts if name in ADVICE]
        advice = ". ".join(filter(None, [*kinds, advice]))
        raise kind(f"{rows} can't be used:{self.describe()}" + "\n" * bool(advice), advice)

    def note(self, rows: str) -> Note:
        """The note that these rows were left out."""
        kinds = [ADVICE[name] for name in self.counts if name in ADVICE]
        text = f"{rows} left out:{self.describe()}"
        return Note(text + "\n" * bool(kinds), ". ".join(kinds))


class SkippedRows(AbstractContextManager["SkippedRows"]):
    """A CSV file of the rows that were skipped; no file if there are none."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self.count = 0

    @classmethod
    def beside(cls, output: str | PathLike[str]) -> SkippedRows:
        """`table.csv` has its skipped rows in `table.skipped.csv`."""
        return cls(Path(output).with_name(f"{Path(output).stem}.skipped.csv"))

    def __enter__(self) -> SkippedRows:
        self._stack = ExitStack()
        return self

    def write(self, fault: Fault) -> None:
        """Write a row as it is in the file, with the reason; the first one creates the file."""
        if self.count == 0:
            partial = self._stack.enter_context(atomic_file(self.path))
            # a name of a file need not be UTF-8
            stream = partial.open("w", encoding="utf-8", newline="", errors="backslashreplace")
            self._writer = csv.writer(self._stack.enter_context(stream))
            self._writer.writerow(["file", "line", "fault", "detail", "row"])
        self.count += 1
        self._writer.writerow(fault)

    def __exit__(self, kind: Any, fault: Any, trace: Any) -> None:
        if kind is None and self.count == 0:
            self.path.unlink(missing_ok=True)  # of an earlier run
        self._stack.__exit__(kind, fault, trace)
