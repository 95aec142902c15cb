"""Open Excel workbooks; every error of openpyxl becomes one message."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

from hierseed.errors import HierSeedError

OLD_EXCEL = b"\xd0\xcf\x11\xe0"


@contextmanager
def refusing_damaged(refuse: Callable[[str], NoReturn]) -> Iterator[None]:
    """Refuse a damaged workbook with a reason, whatever openpyxl raises."""
    try:
        yield
    except (HierSeedError, MemoryError):
        raise
    except Exception as fault:
        if isinstance(fault, OSError) and fault.errno:
            raise
        reason = str(fault) or type(fault).__name__
        refuse(f"not a readable Excel workbook ({reason}); save it again in Excel, or as CSV")


def open_workbook(file: Path | BytesIO, refuse: Callable[[str], NoReturn], **options: Any) -> Any:
    """Open a workbook that has a sheet with cells; the caller closes it."""
    from openpyxl.reader.excel import ExcelReader

    with refusing_damaged(refuse), warnings.catch_warnings():
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
