"""Rows out of files: one class per format, and the columns to read, by name or by content."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn, Protocol

from hierseed.errors import CorpusError, HierSeedWarning, name_some, plain_text
from hierseed.io.records.database import ENDINGS, DatabaseFile
from hierseed.io.records.delimited import DelimitedFile
from hierseed.io.records.excel import ExcelFile
from hierseed.io.records.json_records import JsonFile, JsonLinesFile
from hierseed.io.records.parquet import ParquetFile
from hierseed.io.records.rows import (
    AUTO,
    Fault,
    Row,
    as_text,
    check_encoding,
    describe,
    detect_encoding,
    encoding_warning,
)

__all__ = ["READERS", "Records", "Row", "as_text", "describe", "open_records"]

READERS: dict[str, type[Any]] = {
    ".csv": DelimitedFile,
    ".tsv": DelimitedFile,
    ".tab": DelimitedFile,
    ".jsonl": JsonLinesFile,
    ".ndjson": JsonLinesFile,
    ".json": JsonFile,
    ".parquet": ParquetFile,
    ".pq": ParquetFile,
    ".xlsx": ExcelFile,
    ".xlsm": ExcelFile,
    **dict.fromkeys(ENDINGS, DatabaseFile),
}
PACKED = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json")  # also with .gz
_SAVE_AS = "Open it in Excel or LibreOffice, and save it as .xlsx or .csv"
_AS_TEXT = "Save each document as a .txt file, and give the folder of these files"
ADVICE = {
    **dict.fromkeys((".xls", ".xlsb", ".ods", ".numbers"), _SAVE_AS),
    **dict.fromkeys((".docx", ".doc", ".pdf", ".rtf", ".odt"), _AS_TEXT),
    **dict.fromkeys((".sav", ".dta", ".rds", ".sas7bdat"), "Export it as .csv or .parquet"),
    ".txt": "Give a folder of .txt files, one document each, or a table with the columns id and "
    "text",
}
NAMES = ".csv .tsv .jsonl .json (each also with .gz) .parquet .xlsx .sqlite .duckdb .db"
ROWS = 200  # examined to guess a column
MOST = 0.8  # share of the filled cells that must match
LONG = 25  # least average number of characters of a text
LONGER = 2.0  # times as long as the cells of any other column


class Records(Protocol):
    """A file of rows."""

    path: Path
    unit: str

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        ...

    def rows(self, names: Sequence[str]) -> Iterator[Row | Fault]:
        """Yield the values of the named columns; a row that can't be read is a fault."""
        ...


def refuse_special(path: Path) -> None:
    """Refuse a pipe or a device: a corpus is read several times, and a pipe only once."""
    if not path.is_file() and not path.is_dir():
        raise CorpusError(
            f"{path} is a pipe or a device, which can be read only once. Save it as a file first"
        )


def open_records(
    path: str | PathLike[str],
    *,
    quotes: bool = True,
    encoding: str | None = None,
    sheet: str | None = None,
    table: str | None = None,
    query: str | None = None,
) -> Records:
    """Open a file of rows by its ending.

    Parameters
    ----------
    path : the file
    quotes : False reads quotation marks in CSV and TSV as plain letters
    encoding : of lines that are not UTF-8; "auto" finds out, None makes a fault of such lines
    sheet : of an Excel workbook, by name or number from 1; the first one unless it is named
    table, query : of a database: the name of a table, or a SELECT in its place
    """
    path = Path(path)
    if not path.exists():
        raise CorpusError(f"no file {path}. Check the name, and the folder you are in")
    refuse_special(path)
    name = path.name.lower()
    ending = Path(name.removesuffix(".gz")).suffix
    if ending not in READERS or (name.endswith(".gz") and ending not in PACKED):
        advice = ADVICE.get(ending, "Convert or rename it")
        raise CorpusError(f"{path}: the ending {ending!r} is none of {NAMES}. {advice}")
    reader: Any = READERS[ending]
    if reader is DatabaseFile:
        return DatabaseFile(path, table or sheet, query)
    if table is not None or query is not None:
        raise CorpusError(
            f"{path} is no database. Tables and queries go with files that end with "
            f"{' '.join(ENDINGS)}"
        )
    if reader is ExcelFile:
        return ExcelFile(path, sheet)
    if sheet is not None:
        raise CorpusError(f"{path} is no Excel workbook, and has no sheet {sheet!r} to choose")
    if reader is ParquetFile:
        return ParquetFile(path)
    chosen = _encoding(path, encoding)
    if reader is DelimitedFile:
        return DelimitedFile(path, quotes=quotes, encoding=chosen)
    found: Records = reader(path, encoding=chosen)
    return found


def _encoding(path: Path, name: str | None) -> str:
    """The encoding to use; a detected one is reported."""
    if name != AUTO:
        return check_encoding(name or "utf-8")
    found = detect_encoding(path)
    if found != "utf-8":
        warnings.warn(encoding_warning(path.name, found), stacklevel=3)
    return found


def choose_columns(
    records: Records, wanted: Iterable[tuple[str, str]], *, sheet: str = "sheet"
) -> list[str]:
    """Return the columns of these names, each with advice; an error names all that are missing.

    `sheet` is the parameter that names the sheet of a workbook.
    """
    found, faults = [], []
    for name, advice in wanted:
        try:
            found.append(choose_column(records, name, advice, sheet=sheet))
        except (
            CorpusError
        ) as fault:  # strings: an error that is kept holds open files in its frames
            faults.append((fault.message, fault.advice))
    if len(faults) == 1:
        raise CorpusError(*faults[0])
    if faults:
        raise CorpusError(
            "", "\n".join(f"{plain_text(message)} {advice}" for message, advice in faults)
        )
    return found


def choose_column(records: Records, name: str, advice: str, *, sheet: str = "sheet") -> str:
    """Return the column of that name, ignoring case; an error lists the columns."""
    columns = records.columns
    if columns.count(name) == 1:
        return name
    near = [column for column in columns if column.lower() == name.lower()]
    if len(near) == 1:
        return near[0]
    if near:
        raise CorpusError(
            f"{records.path} has {len(near)} columns named {name!r}. Rename all but one"
        )
    close = difflib.get_close_matches(name, columns, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else "."
    raise CorpusError(
        f"{records.path} has no column {name!r}; its {len(columns):,} columns are "
        f"{name_some(columns, 12)}{guess}",
        f"{advice}{other_sheets(records, sheet)}",
    )


def other_sheets(records: Records, parameter: str) -> str:
    """Advice about the sheets of a workbook that are not read; `parameter` names one."""
    first, *others = getattr(records, "sheets", None) or [""]
    if not others:
        return ""
    names = plain_text(name_some([first, *others]))
    return (
        f". Of this workbook only one sheet is read. Its sheets are {names}: "
        f"name the right one with {{{parameter}}}"
    )


def guess_text(records: Records) -> str | None:
    """The column whose cells are by far the longest."""
    lengths = {
        name: sum(map(len, cells)) / len(cells)
        for name, cells in filled_cells(records).items()
        if cells
    }
    ranked = sorted(lengths, key=lambda name: -lengths[name])
    if not ranked or lengths[ranked[0]] < LONG:
        return None
    if len(ranked) > 1 and lengths[ranked[0]] < LONGER * lengths[ranked[1]]:
        return None
    return ranked[0]


def guess_id(records: Records, holds: Callable[[str], bool] | None = None) -> str | None:
    """The column of ids: those of the documents, or the only one whose cells all differ."""
    cells = filled_cells(records)
    if holds is not None:
        return best_column({name: [holds(cell) for cell in some] for name, some in cells.items()})
    most = max((len(some) for some in cells.values()), default=0)
    unique = [
        name
        for name, some in cells.items()
        if len(some) == most == len(set(some)) and max(map(len, some), default=99) < LONG
    ]
    if len(unique) != 1 or most < 2:
        return None
    name = unique[0]
    alike = [_shape(cell) == _shape(name) for cell in cells[name]]
    if any(map(str.isdigit, name)) and sum(alike) >= MOST * len(alike):
        refuse_data(records, name, "id,text")
    return name


def refuse_data(records: Records, cell: str, names: str) -> NoReturn:
    raise CorpusError(
        f"{records.path}: the first row has data, such as {cell!r}, in place of the names of "
        f"columns. Add a first row, such as {names}"
    )


def _shape(text: str) -> str:
    """`cat12` as `a0`: letters and digits by kind, runs as one."""
    return re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", text))


def best_column(found: dict[str, list[bool]], depth: dict[str, int] | None = None) -> str | None:
    """The only column with the largest share, if that is most of its cells; `depth` breaks ties."""
    ranks = {
        name: (sum(some) / len(some), depth[name] if depth else 0)
        for name, some in found.items()
        if some
    }
    best = max(ranks.values(), default=(0.0, 0))
    names = [name for name, rank in ranks.items() if rank == best]
    return names[0] if best[0] >= MOST and len(names) == 1 else None


def filled_cells(records: Records) -> dict[str, list[str]]:
    """Filled cells of the first rows, by column; a name used twice is left out."""
    names = [name for name in records.columns if name and records.columns.count(name) == 1]
    cells: dict[str, list[str]] = {name: [] for name in names}
    for row in islice(records.rows(names), ROWS):
        if not isinstance(row, Fault):
            for name, value in zip(names, row.values):
                if text := (as_text(value) or "").strip():
                    cells[name].append(text)
    return cells


def warn_of_guess(file: str, what: str, parameter: str) -> None:
    """Warn that a column was found by its content."""
    warning = HierSeedWarning(
        f"{file}: {what}, guessed from the content.",
        f"If that is wrong, name the column with {{{parameter}}}",
    )
    warnings.warn(warning, stacklevel=3)
