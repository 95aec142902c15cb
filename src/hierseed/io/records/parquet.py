"""Parquet, a few thousand rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hierseed.errors import CorpusError
from hierseed.io.records.rows import NOT_UTF8, Fault, Row, as_json

ROWS = 4096  # in a batch, so that memory does not grow with the file


class ParquetFile:
    """A Parquet file; rows are numbered like lines."""

    unit = "row"

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path = path
        try:
            # No pre-buffering: it would hold a whole row group, which may be the whole file.
            self._file = pq.ParquetFile(path, memory_map=True, pre_buffer=False, buffer_size=2**20)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as fault:
            if isinstance(fault, OSError) and fault.errno:
                raise
            raise CorpusError(
                f"{path} is no Parquet file, or was cut off ({fault}). Copy or write it again"
            ) from None
        try:
            self.columns: list[str] = list(self._file.schema_arrow.names)
        except UnicodeDecodeError as fault:
            raise CorpusError(f"{path} has a column whose name is not UTF-8 ({fault})") from None
        self._batches: Iterator[Any] = iter(())
        self._batch: Any = None  # of all columns, after `_passed` rows
        self._passed = 0

    def rows(self, names: Sequence[str]) -> Iterator[Row | Fault]:
        """Yield the values of the named columns."""
        import pyarrow as pa

        number = 0
        try:
            for batch in self._file.iter_batches(batch_size=ROWS, columns=list(names)):
                for values in _values([batch.column(name) for name in names]):
                    number += 1
                    if isinstance(values, str):
                        whole = self._whole(number)
                        yield Fault(self.path.name, number, NOT_UTF8, values, whole)
                    else:
                        yield Row(number, values, partial(self._whole, number))
        except (pa.ArrowException, OSError, UnicodeDecodeError) as fault:
            raise CorpusError(
                f"{self.path} is damaged after row {number:,} ({fault}). Copy or write it again"
            ) from None

    def _whole(self, number: int) -> str:
        """All columns of a row; rows in file order cost one pass over the file."""
        if number <= self._passed:
            self._passed, self._batch = 0, None
        if self._batch is None:
            self._batches = self._file.iter_batches(batch_size=ROWS)
            self._batch = next(self._batches)
        while number > self._passed + len(self._batch):
            self._passed += len(self._batch)
            self._batch = next(self._batches)
        row = self._batch.slice(number - self._passed - 1, 1)
        return as_json(self.columns, [_value(column[0]) for column in row.columns])


def _value(cell: Any) -> Any:
    """Python's value; bytes that are no UTF-8 are written as such."""
    import pyarrow as pa

    try:
        return cell.as_py()
    except UnicodeDecodeError:
        return cell.cast(pa.binary()).as_py().decode("utf-8", "backslashreplace")


def _values(columns: list[Any]) -> Iterator[list[Any] | str]:
    """Rows of Python values; a text for a row with bytes that are no UTF-8."""
    try:
        lists = [column.to_pylist() for column in columns]
    except UnicodeDecodeError:
        for i in range(len(columns[0])):
            try:
                yield [column[i].as_py() for column in columns]
            except UnicodeDecodeError as fault:
                yield f"byte 0x{fault.object[fault.start]:02X} at position {fault.start + 1}"
        return
    yield from map(list, zip(*lists))
