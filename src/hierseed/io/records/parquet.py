"""Parquet, a few thousand rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from hierseed.errors import CorpusError
from hierseed.io.faults import Fault
from hierseed.io.records.row import Row

ROWS = 4096  # at a time: the memory this takes, whatever the size of the file


class ParquetFile:
    """A Parquet file; a row's number stands where text files have a line."""

    unit = "row"

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.path = path
        try:
            # No pre-buffering: it would hold a whole row group, which may be the whole file.
            self._file = pq.ParquetFile(path, memory_map=True, pre_buffer=False, buffer_size=2**20)
        except (pa.ArrowInvalid, OSError) as fault:
            if isinstance(fault, OSError) and fault.errno:
                raise
            raise CorpusError(
                f"{path} is no Parquet file, or was cut off ({fault}). Copy or write it again"
            ) from None
        self.columns: list[str] = list(self._file.schema_arrow.names)

    def rows(self, names: Sequence[str]) -> Iterator[Row | Fault]:
        """Yield the values of the named columns."""
        import pyarrow as pa

        number = 0
        try:
            for batch in self._file.iter_batches(batch_size=ROWS, columns=list(names)):
                for values in _values([batch.column(name) for name in names]):
                    number += 1
                    if isinstance(values, str):
                        yield Fault(self.path.name, number, "not UTF-8", values)
                    else:
                        yield Row(number, values)
        except (pa.ArrowException, OSError) as fault:
            raise CorpusError(
                f"{self.path} is damaged after row {number:,} ({fault}). Copy or write it again"
            ) from None


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
