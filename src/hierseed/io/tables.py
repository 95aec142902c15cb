"""Tables written part by part: .csv .tsv .jsonl .parquet .xlsx, in place once complete.

A table that a person changed is not replaced. Checksums of the tables that we wrote are kept in the
user's cache folder, one small file for each. Where that folder can't be written to, every table
counts as changed.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import json
import os
import re
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from hierseed.assignments import Assignments
from hierseed.errors import CorpusError
from hierseed.files import atomic_file, file_sha256, model_home
from hierseed.io.records import as_text

if TYPE_CHECKING:
    import pandas as pd

GROUP = 65_536  # rows of a Parquet row group: small ones make large, slow files
EXCEL_ROWS = 1_048_576
EXCEL_LETTERS = 32_767
TEXT_TYPES: Any = ["object", "string"]
FORMULA = re.compile(r"[=+\-@\t\r\n]")  # begins a formula in a spreadsheet
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?([eE][+-]?\d+)?")  # -0.5 is a number, not a formula
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # not allowed in XML
PREFIX = "corpus_"  # of an extra column whose name the table uses


class Table(Protocol):
    """A table being written."""

    def write(self, frame: pd.DataFrame) -> None:
        """Append rows; all parts have the same columns."""
        ...

    def close(self) -> None:
        """Finish the file."""
        ...


@contextmanager
def open_table(path: str | PathLike[str], *, guard: bool = False) -> Iterator[Table]:
    """Open a table for writing; it appears under its name when the block ends without error.

    `guard` puts a quote before texts in .csv and .tsv that a spreadsheet would run as a
    formula. Excel files never need it; programs that read the .csv back see the quote.
    """
    ending = Path(path).suffix.lower()
    if ending not in WRITERS:
        raise CorpusError(
            f"{path}: a table can't be written with the ending {ending!r}. "
            f"Use one of {' '.join(WRITERS)}"
        )
    guard = guard and WRITERS[ending] is DelimitedTable
    with atomic_file(path) as partial:
        with closing(WRITERS[ending](partial)) as table:
            yield GuardedTable(table) if guard else table
        remember_written(Path(path), partial)


def write_table(frame: pd.DataFrame, path: str | PathLike[str], *, guard: bool = False) -> None:
    """Write a whole table at once."""
    with open_table(path, guard=guard) as table:
        table.write(frame)


class GuardedTable:
    """A table in which no text begins like a formula."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def write(self, frame: pd.DataFrame) -> None:
        """Append rows; names of columns and texts are escaped."""
        texts = frame.select_dtypes(TEXT_TYPES)
        escaped: dict[str, Any] = {
            str(column): texts[column].map(_escape) for column in texts.columns
        }
        self._table.write(frame.assign(**escaped).rename(columns=_escape))

    def close(self) -> None:
        """Finish the file."""
        self._table.close()


class DelimitedTable:
    """Comma or tab between fields, UTF-8; numbers have six digits."""

    def __init__(self, path: Path) -> None:
        self._separator = "\t" if path.suffix == ".tsv" else ","
        self._file = path.open("w", encoding="utf-8", newline="")
        self._begun = False

    def write(self, frame: pd.DataFrame) -> None:
        """Append rows, after a row of names the first time."""
        # csv quotes a "\n" by itself, but not a lone "\r", at which readers end the row
        returns = any("\r" in text for text in _texts(frame))
        frame.to_csv(
            self._file,
            sep=self._separator,
            index=False,
            header=not self._begun,
            float_format="%.6g",
            quoting=csv.QUOTE_NONNUMERIC if returns else csv.QUOTE_MINIMAL,
        )
        self._begun = True

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


class JsonLinesTable:
    """One JSON object a line; missing numbers are null."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("w", encoding="utf-8", newline="")

    def write(self, frame: pd.DataFrame) -> None:
        """Append rows."""
        plain = frame.astype(object).where(frame.notna(), None)
        for row in plain.to_dict("records"):
            self._file.write(json.dumps(row, ensure_ascii=False, default=_plain) + "\n")

    def close(self) -> None:
        """Finish the file."""
        self._file.close()


class ParquetTable:
    """Columns by type, compressed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: Any = None
        self._waiting: list[pd.DataFrame] = []

    def write(self, frame: pd.DataFrame) -> None:
        """Append rows; they reach the file in groups."""
        self._waiting.append(frame)
        if sum(map(len, self._waiting)) >= GROUP:
            self._flush()

    def _flush(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        if not self._waiting:
            return
        schema = self._writer.schema if self._writer else None
        import pandas as pd  # slow to import, and not needed by a fit

        together = pd.concat(self._waiting, ignore_index=True)
        for field in schema or ():  # a number after a first group without values, stored as text
            if pa.types.is_string(field.type):
                together[field.name] = together[field.name].map(str, na_action="ignore")
        table = pa.Table.from_pandas(together, schema=schema, preserve_index=False)
        if self._writer is None:
            table = table.cast(_without_null_columns(table.schema))
            self._writer = pq.ParquetWriter(self._path, table.schema)
        self._writer.write_table(table)
        self._waiting = []

    def close(self) -> None:
        """Write the last group and finish the file."""
        try:
            self._flush()
        finally:
            if self._writer is not None:
                self._writer.close()


class ExcelTable:
    """One sheet, streamed; text is never taken for a formula."""

    def __init__(self, path: Path) -> None:
        from openpyxl import Workbook

        self._path = path
        self._book = Workbook(write_only=True)
        self._sheet = self._book.create_sheet("documents")
        self._rows = self._cut = 0
        self._failed = False

    def write(self, frame: pd.DataFrame) -> None:
        """Append rows, after a frozen row of names the first time."""
        if not self._rows:
            self._sheet.freeze_panes = "A2"
            self._append(list(frame.columns))
        if self._rows + len(frame) > EXCEL_ROWS:
            self._failed = True
            raise CorpusError(
                f"an Excel sheet holds {EXCEL_ROWS:,} rows, and this table has more. "
                "Write .csv or .parquet instead"
            )
        for row in frame.itertuples(index=False, name=None):
            self._append(list(row))

    def _append(self, values: list[Any]) -> None:
        self._sheet.append([self._cell(value) for value in values])
        self._rows += 1

    def _cell(self, value: Any) -> Any:
        from openpyxl.cell import WriteOnlyCell

        if not isinstance(value, str):
            return None if value is None or value != value else _plain(value)
        text = CONTROL.sub("\ufffd", value)
        if len(text) > EXCEL_LETTERS // 2:  # Excel counts in UTF-16, where some letters are two
            units = text.encode("utf-16-le")
            self._cut += len(units) > 2 * EXCEL_LETTERS
            text = units[: 2 * EXCEL_LETTERS].decode("utf-16-le", "ignore")
        if not text.startswith("="):
            return text
        cell = WriteOnlyCell(self._sheet, text)
        cell.data_type = "s"
        return cell

    def close(self) -> None:
        """Write the workbook; a failed one is only tidied up."""
        from openpyxl.writer.excel import ExcelWriter

        self._sheet.close()
        if self._failed:
            return
        # closed here: on a full disk, Workbook.save would retry and print
        with zipfile.ZipFile(self._path, "w", zipfile.ZIP_DEFLATED) as archive:
            ExcelWriter(self._book, archive).save()
        if self._cut:
            cells = "1 cell was" if self._cut == 1 else f"{self._cut:,} cells were"
            warnings.warn(
                f"{cells} cut after {EXCEL_LETTERS:,} letters, the most that Excel holds. "
                "Write .csv or .parquet to keep them whole",
                stacklevel=2,
            )


WRITERS: dict[str, Any] = {
    ".csv": DelimitedTable,
    ".tsv": DelimitedTable,
    ".jsonl": JsonLinesTable,
    ".parquet": ParquetTable,
    ".xlsx": ExcelTable,
}


def _without_null_columns(schema: Any) -> Any:
    """Make columns without values columns of text, which later rows may have."""
    import pyarrow as pa

    for i, field in enumerate(schema):
        if pa.types.is_null(field.type):
            schema = schema.set(i, field.with_type(pa.string()))
    return schema


def _texts(frame: pd.DataFrame) -> Iterator[str]:
    """Every text of a table, the names of its columns first."""
    yield from map(str, frame.columns)
    for _, column in frame.select_dtypes(TEXT_TYPES).items():
        yield from (value for value in column if isinstance(value, str))


def _escape(value: Any) -> Any:
    if not isinstance(value, str) or not FORMULA.match(value) or NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def _plain(value: Any) -> Any:
    """A Python number for a numpy one."""
    return value.item() if hasattr(value, "item") else value


def remember_written(target: Path, partial: Path) -> None:
    """Save the checksum of a table before it is renamed into place.

    The checksum of the table that it replaces is kept too: after a kill, whichever of the two has
    the name is recognised.
    """
    with contextlib.suppress(OSError):
        note = _note(target)
        note.parent.mkdir(parents=True, exist_ok=True)
        draft = note.with_name(f"{note.name}.{os.getpid()}")
        kept = _known(target)[-1:]
        draft.write_text("\n".join([*kept, file_sha256(partial)]), encoding="utf-8", newline="\n")
        draft.replace(note)


def is_as_written(file: Path) -> bool:
    """True if hierseed wrote the file and it is unchanged."""
    with contextlib.suppress(OSError):
        return file_sha256(file) in _known(file)
    return False


def _known(file: Path) -> list[str]:
    try:
        return _note(file).read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        return []


def _note(file: Path) -> Path:
    name = hashlib.sha256(os.fsencode(os.path.realpath(file))).hexdigest()[:32]
    return model_home() / "written" / name


def add_columns(
    frame: pd.DataFrame,
    rows: Sequence[int] | np.ndarray[Any, Any],
    names: Sequence[str],
    kept: Sequence[Sequence[Any]],
    *,
    text: bool = False,
) -> pd.DataFrame:
    """Append the columns `names`, whose values of document i are `kept[i]`, to a table.

    `rows` is the document of each row of the table. Values keep their type, or become
    `text` for file formats with one type per column.
    """
    columns = {}
    for j, name in enumerate(names):
        while name in frame.columns or name in columns:
            name = PREFIX + name
        values = [plain_value(row[j]) for row in kept]
        if text:
            values = [None if value is None else as_text(value) or str(value) for value in values]
        # dtype object: numbers with a gap would turn 7 into 7.0
        columns[name] = np.array([*values, None], dtype=object)[np.asarray(rows, dtype=np.intp)]
    return frame.assign(**columns)


def add_codes(frame: pd.DataFrame, found: Assignments) -> pd.DataFrame:
    """Append the code of each row's topic; empty for None and for Other topics."""
    codes = np.array([*found.taxonomy.codes, ""], dtype=object)
    return frame.assign(code=codes[found.topic])


def plain_value(value: Any) -> Any:
    """A text, a number, yes or no, or None; all else as text."""
    if isinstance(value, str):  # a lone surrogate, possible in JSON, can't be encoded
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool | int | float):
        return value if value == value else None  # NaN differs from itself
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value).removesuffix(" 00:00:00")  # Excel stores a date as midnight
