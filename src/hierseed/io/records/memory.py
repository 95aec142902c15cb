"""Rows that are in memory already: a DataFrame, or lists of values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hierseed.io.records.row import Row, as_json

if TYPE_CHECKING:
    import pandas as pd


class MemoryRecords:
    """Columns of values, read like a file; `name` is the file name in messages."""

    unit = "row"

    def __init__(self, name: str, columns: Mapping[str, Sequence[Any]]) -> None:
        self.path = Path(name)
        self._columns = columns

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def rows(self, names: Sequence[str]) -> Iterator[Row]:
        """Yield the values of the named columns."""
        for number, values in enumerate(zip(*(self._columns[name] for name in names)), start=1):
            yield Row(number, list(values), partial(as_json, names, values))

    @classmethod
    def of_frame(cls, name: str, frame: pd.DataFrame) -> Self:
        """Take the columns of a DataFrame; missing values become None."""
        whole = frame.astype(object).where(frame.notna(), None)
        return cls(name, {str(column): whole[column].tolist() for column in frame})
