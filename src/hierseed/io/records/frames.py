"""Data frames and data sets of other libraries as rows, read a few thousand at a time.

pandas, polars, pyarrow, DuckDB relations, and Hugging Face data sets. A library is recognised by
the type of the object, so none is imported that the caller has not imported already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hierseed.errors import CorpusError, name_some
from hierseed.io.records.parquet import ROWS
from hierseed.io.records.rows import Fault, Row, as_json

if TYPE_CHECKING:
    import pandas as pd

Batches = Callable[[list[str]], Iterable[Any]]  # names of columns -> Arrow tables or batches
Opened = tuple[Sequence[str], Batches, dict[str, list[str]]]


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


class ArrowRecords:
    """Rows of anything that gives Arrow batches.

    Parameters
    ----------
    name : used as the file name in messages
    columns : the names of the columns
    batches : called with the names of the wanted columns, once for each pass
    categories : names of the values of a column of whole numbers
    number : add a column `id` with the number of each row, from 0
    """

    unit = "row"

    def __init__(
        self,
        name: str,
        columns: Sequence[str],
        batches: Batches,
        *,
        categories: dict[str, list[str]] | None = None,
        number: bool = False,
    ) -> None:
        self.path = Path(name)
        self.columns = [*columns, "id"] if number else list(columns)
        self._batches = batches
        self._categories = categories or {}
        self._number = number

    def rows(self, names: Sequence[str]) -> Iterator[Row | Fault]:
        """Yield the values of the named columns."""
        stored = [name for name in dict.fromkeys(names) if not (self._number and name == "id")]
        wanted = stored or self.columns[:1]  # a batch of no columns has no length
        done = 0
        for batch in self._batches(wanted):
            lists = {name: self._values(name, batch.column(i)) for i, name in enumerate(wanted)}
            if self._number:
                lists["id"] = range(done, done + len(batch))
            for values in zip(*(lists[name] for name in names)):
                done += 1
                yield Row(done, list(values), partial(as_json, names, values))

    def _values(self, name: str, column: Any) -> Sequence[Any]:
        values: list[Any] = column.to_pylist()
        known = self._categories.get(name)
        if known is None:
            return values
        # -1 marks a document without a label in Hugging Face data sets
        return [known[v] if v is not None and 0 <= v < len(known) else None for v in values]


def open_frame(
    name: str, given: Any, *, number: bool = False
) -> ArrowRecords | MemoryRecords | None:
    """Open a data frame or data set; None for any other object.

    Parameters
    ----------
    name : used as the file name in messages
    number : rows without a column `id` get their number, from 0; those of pandas their index
    """
    if "pandas" in sys.modules and isinstance(given, sys.modules["pandas"].DataFrame):
        if number and not _has_id(given.columns):
            given = given.assign(id=given.index)
        return MemoryRecords.of_frame(name, given)
    library = type(given).__module__.partition(".")[0].lstrip("_")
    found = _hugging_face(given) if library == "datasets" else _columns_and_batches(library, given)
    if found is None:
        return None
    columns, batches, categories = found
    number = number and not _has_id(columns)
    return ArrowRecords(name, columns, batches, categories=categories, number=number)


def _columns_and_batches(library: str, given: Any) -> Opened | None:
    kind = type(given).__name__
    if library == "polars" and kind == "LazyFrame":
        return given.collect_schema().names(), partial(_of_lazy_frame, given), {}
    if library == "duckdb" and kind == "DuckDBPyRelation":
        return given.columns, partial(_of_relation, given), {}
    if not hasattr(given, "__arrow_c_stream__"):
        return None
    import pyarrow as pa

    try:
        reader = pa.RecordBatchReader.from_stream(given)
    except pa.ArrowInvalid:  # one column without a name: a list of texts
        return None
    table = reader.read_all()  # some streams can be read only once
    return table.column_names, partial(_of_table, table), {}


def _of_table(table: Any, names: list[str]) -> Iterable[Any]:
    return iter(table.select(names).to_batches(max_chunksize=ROWS))


def _of_lazy_frame(frame: Any, names: list[str]) -> Iterator[Any]:
    chosen = frame.select(names)
    if not hasattr(chosen, "collect_batches"):  # polars before 1.34
        return iter([chosen.collect().to_arrow()])
    batches = chosen.collect_batches(chunk_size=ROWS, maintain_order=True)
    return (batch.to_arrow() for batch in batches)


def _of_relation(relation: Any, names: list[str]) -> Iterable[Any]:
    chosen = relation.project(", ".join('"' + name.replace('"', '""') + '"' for name in names))
    read = getattr(chosen, "to_arrow_reader", None) or chosen.fetch_arrow_reader
    return iter(read(ROWS))


def _hugging_face(given: Any) -> Opened | None:
    if isinstance(given, dict):  # DatasetDict, IterableDatasetDict
        raise CorpusError(
            f"a {type(given).__name__} holds several data sets: {name_some(given)}. Give one of "
            f"them, such as data[{next(iter(given), 'train')!r}]"
        )
    columns = given.column_names
    if columns is None:  # a streamed data set that does not say
        columns = list(next(iter(given), {}))
    features = given.features or {}
    categories = {
        name: list(features[name].names) for name in columns if hasattr(features.get(name), "names")
    }

    def batches(names: list[str]) -> Iterable[Any]:
        return iter(given.select_columns(names).with_format("arrow").iter(ROWS))

    return columns, batches, categories


def _has_id(columns: Iterable[Any]) -> bool:
    return any(str(column).lower() == "id" for column in columns)
