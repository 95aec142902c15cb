"""Excel workbooks, and one sheet as rows, its first row naming the columns."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from functools import cached_property, partial
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

from hierseed.errors import CorpusError, name_some, refusing_damaged
from hierseed.io.records.rows import Fault, Row, as_json, as_text

OLD_EXCEL = b"\xd0\xcf\x11\xe0"


def readable(refuse: Callable[[str], NoReturn]) -> AbstractContextManager[None]:
    """Refuse a damaged workbook with a reason, whatever openpyxl raises."""
    why = "not a readable Excel workbook ({}); save it again in Excel, or as CSV"
    return refusing_damaged(lambda reason: refuse(why.format(reason)))


def open_workbook(file: Path | BytesIO, refuse: Callable[[str], NoReturn], **options: Any) -> Any:
    """Open a workbook that has a sheet with cells; the caller closes it."""
    from openpyxl.reader.excel import ExcelReader

    with readable(refuse), warnings.catch_warnings():
        start = file.getvalue()[:4] if isinstance(file, BytesIO) else _start(file)
        if start == OLD_EXCEL:
            refuse("an old .xls or an encrypted workbook; save it as a plain .xlsx")
        warnings.simplefilter("ignore")  # styles and extensions that openpyxl drops
        reader = ExcelReader(file, **options)
        try:
            reader.read()
            if not reader.wb.worksheets:
                refuse("no sheet with cells in it")
        except BaseException:
            reader.archive.close()  # openpyxl leaves a damaged workbook open
            raise
        return reader.wb


def _start(file: Path) -> bytes:
    with file.open("rb") as handle:
        return handle.read(len(OLD_EXCEL))


class ExcelFile:
    """A sheet of an .xlsx workbook; formulas count by the value last shown.

    Parameters
    ----------
    path : the workbook
    sheet : by name, or by number from 1; the first one unless it is given
    """

    unit = "row"

    def __init__(self, path: Path, sheet: str | None = None) -> None:
        self.path = path
        self.sheet = sheet
        self.sheets: list[str] = []  # known once the columns are

    @cached_property
    def columns(self) -> list[str]:
        """The texts of the first row."""
        first = next(self._rows(), None)
        if first is None:
            raise CorpusError(f"{self.path} is empty. Its first row should name the columns")
        return [(as_text(value) or "").strip() for value in first]

    def rows(self, names: Sequence[str]) -> Iterator[Row | Fault]:
        """Yield the values of the named columns; blank rows are passed over."""
        wanted = [self.columns.index(name) for name in names]
        for number, values in enumerate(self._rows(), start=1):
            if number == 1 or values == (None,) * len(values):  # fast: there may be a million
                continue
            if not any(value is not None and str(value).strip() for value in values):
                continue
            picked = [values[i] if i < len(values) else None for i in wanted]
            yield Row(number, picked, partial(as_json, self.columns, values))

    def _rows(self) -> Iterator[tuple[Any, ...]]:
        book = open_workbook(self.path, self._refuse, read_only=True, data_only=True)
        try:
            self.sheets = [sheet.title for sheet in book.worksheets]
            with readable(self._refuse):
                yield from self._choose(book).iter_rows(values_only=True)
        finally:
            book.close()

    def _choose(self, book: Any) -> Any:
        if self.sheet is None:
            return book.worksheets[0]
        for number, page in enumerate(book.worksheets, start=1):
            if self.sheet in (page.title, str(number)):
                return page
        self._refuse(f"no sheet {self.sheet!r}; the workbook has {name_some(self.sheets, 12)}")

    def _refuse(self, reason: str) -> NoReturn:
        raise CorpusError(f"{self.path}: {reason}")
