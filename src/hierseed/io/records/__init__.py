"""Rows out of files: one class per format, each with `columns` and `rows(names)`."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from hierseed.errors import CorpusError
from hierseed.io.faults import Fault
from hierseed.io.records.database import ENDINGS, DatabaseFile
from hierseed.io.records.delimited import DelimitedFile
from hierseed.io.records.excel import ExcelFile
from hierseed.io.records.json_list import JsonFile
from hierseed.io.records.jsonl import JsonLinesFile
from hierseed.io.records.lines import AUTO, check_encoding, detect_encoding, encoding_warning
from hierseed.io.records.parquet import ParquetFile
from hierseed.io.records.row import Row, as_text, describe

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
