"""Faults of rows in files: collected with file and line, reported together, saved if skipped."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager, ExitStack
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from hierseed.errors import Wording, plain_text, python_wording, word
from hierseed.io.atomic import atomic_file
from hierseed.progress import Note

KEPT = 100  # faults kept in full; further ones are counted, so that memory stays bounded
SHOWN = 5  # of each kind
NOT_UTF8 = "not UTF-8"
ADVICE = {  # what to do, as in `HierSeedError`
    NOT_UTF8: "It may be Windows-1252, as Excel writes .csv. Use {encoding:auto} or "
    "{encoding:cp1252}; lines in UTF-8 are still read as UTF-8"
}


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

    def lines(self, wording: Wording = python_wording) -> list[str]:
        """Lines for a message: all faults of a kind if they are few, else the first and a count."""
        return [word(line, wording) for line in self.advice()]

    def advice(self) -> list[str]:
        """The lines as advice of an error, which a front end words."""
        lines: list[str] = []
        for kind, count in self.counts.items():
            same = [fault for fault in self.kept if fault.kind == kind]
            alike = count > 1 and len({(fault.file, fault.detail) for fault in same}) == 1
            if count <= SHOWN and kind not in ADVICE and not alike:
                lines += [plain_text(str(fault)) for fault in same]
                continue
            places = ", ".join(fault.place for fault in same[1:SHOWN])
            joint = " The" if str(same[0]).endswith("?") else "; the"
            more = f"{joint} same in {places}" if places else ""
            end = f" and {count - SHOWN:,} more" if count > SHOWN else ""
            advice = f". {ADVICE[kind]}" if kind in ADVICE else ""
            lines.append(plain_text(f"{same[0]}{more}{end}") + advice)
        return lines

    def listed(self) -> str:
        """All lines of the advice, as a list."""
        return "".join(f"\n  - {line}" for line in self.advice())


def skipped_note(rows: str, faults: Faults) -> Note:
    """The note about rows that were left out."""
    return Note(f"{rows} left out:", faults.listed())


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
