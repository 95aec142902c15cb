"""Rows out of files: one class per format, each with `columns` and `rows(names)`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import Protocol

from hierseed.errors import CorpusError
from hierseed.io.faults import Fault
from hierseed.io.records.delimited import DelimitedFile
from hierseed.io.records.excel import ExcelFile
from hierseed.io.records.jsonl import JsonLinesFile
from hierseed.io.records.parquet import ParquetFile
from hierseed.io.records.row import Row, as_text, describe

__all__ = ["ENDINGS", "Records", "Row", "as_text", "describe", "open_records"]

ENDINGS = ".csv .tsv .jsonl (each also with .gz) .parquet .xlsx"


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


def open_records(path: str | PathLike[str], *, quotes: bool = True) -> Records:
    """Open a file of rows by its ending.

    `quotes=False` reads quotation marks in CSV and TSV as plain letters.
    """
    path = Path(path)
    if not path.exists():
        raise CorpusError(f"no file {path}. Check the name, and the folder you are in")
    refuse_special(path)
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending in (".csv", ".tsv", ".tab"):
        return DelimitedFile(path, quotes=quotes)
    if ending in (".jsonl", ".ndjson"):
        return JsonLinesFile(path)
    if path.name.lower().endswith((".parquet", ".pq")):
        return ParquetFile(path)
    if path.name.lower().endswith((".xlsx", ".xlsm")):
        return ExcelFile(path)
    raise CorpusError(f"{path}: the ending {ending!r} is none of {ENDINGS}. Convert or rename it")
