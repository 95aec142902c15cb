"""A table or an SQL query of an SQLite or DuckDB file, a few thousand rows at a time.

The file is opened for reading only, and the query becomes a part of a SELECT: nothing that
changes data can run.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from hierseed.errors import CorpusError, MissingDependency, name_some
from hierseed.io.records.parquet import ROWS
from hierseed.io.records.rows import Fault, Row, as_json, is_unicode

ENDINGS = (".db", ".sqlite", ".sqlite3", ".duckdb", ".ddb")
NO_UTF8 = "bytes that are no UTF-8"
TABLES = {
    "sqlite": "SELECT '', name FROM sqlite_master WHERE type IN ('table', 'view') "
    "AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name",
    "duckdb": "SELECT CASE table_schema WHEN 'main' THEN '' ELSE table_schema END, table_name "
    "FROM information_schema.tables WHERE table_catalog = current_database() ORDER BY ALL",
}

# The cache of DuckDB may grow to most of the memory, and threads change the order of the rows of
# a join, which is read several times.
DUCKDB: dict[str, Any] = {"memory_limit": "512MB", "threads": 1}


class DatabaseFile:
    """Rows of a table, or of a query.

    Parameters
    ----------
    path : the file; SQLite or DuckDB, by its content
    table : name of a table or view; may be left out if there is only one
    query : a SELECT in place of a table
    """

    unit = "row"

    def __init__(self, path: Path, table: str | None = None, query: str | None = None) -> None:
        self.path = path
        self._kind = _kind(path)
        if table is not None and query is not None:
            raise CorpusError(f"{path}: a table and a query were named.", "Give {table} or {query}")
        with self._open() as connection:
            self._source = self._table(connection, table) if query is None else f"({_one(query)}\n)"
            found = connection.execute(self._select("*") + " LIMIT 0")
            self.columns: list[str] = [column[0] for column in found.description]

    def rows(self, names: Sequence[str]) -> Iterator[Row | Fault]:
        """Yield the values of the named columns."""
        with self._open() as connection:
            found = connection.execute(self._select(", ".join(map(_quoted, names))))
            batches = iter(partial(found.fetchmany, ROWS), [])
            rows = (values for batch in batches for values in batch)
            for number, values in enumerate(rows, start=1):
                if broken := [v for v in values if isinstance(v, str) and not is_unicode(v)]:
                    at = next(i for i, letter in enumerate(broken[0]) if not is_unicode(letter))
                    whole = as_json(names, [ascii(value) for value in values])
                    yield Fault(self.path.name, number, NO_UTF8, f"letter {at + 1}", whole)
                else:
                    yield Row(number, list(values), partial(as_json, names, values))

    def _select(self, columns: str) -> str:
        return f"SELECT {columns} FROM {self._source} AS documents"

    def _table(self, connection: Any, wanted: str | None) -> str:
        """The table as SQL names it."""
        found = connection.execute(TABLES[self._kind]).fetchall()
        if not all(isinstance(part, str) for parts in found for part in parts):
            raise CorpusError(f"{self.path} has a table whose name is no text: it is damaged")
        tables = {
            ".".join(filter(None, parts)): ".".join(map(_quoted, filter(None, parts)))
            for parts in found
        }
        if wanted in tables:
            return tables[wanted]
        if wanted is None and len(tables) == 1:
            return next(iter(tables.values()))
        if not tables:
            raise CorpusError(f"{self.path} has no table. Check what wrote it")
        there = f"its {len(tables):,} tables are {name_some(tables, 12)}."
        if wanted is None:
            raise CorpusError(
                f"{self.path} has several tables: {there}", "Choose one with {table} or {query}"
            )
        near = [name for name in tables if name.lower() == wanted.lower()]
        if len(near) == 1:
            return tables[near[0]]
        raise CorpusError(
            f"{self.path} has no table {wanted!r}; {there}", "Choose one with {table} or {query}"
        )

    @contextmanager
    def _open(self) -> Iterator[Any]:
        """Connect, and turn what the database reports into an error of ours."""
        connect, failed = _sqlite(self.path) if self._kind == "sqlite" else _duckdb(self.path)
        try:
            with closing(connect()) as connection:
                yield connection
        except failed as fault:
            reason = str(fault).strip().splitlines()[0]
            if isinstance(fault, UnicodeDecodeError):
                reason = "malformed database schema"
            raise CorpusError(
                f"{self.path} can't be read by {self._kind} ({reason}). Check the query, and that "
                "no other program has the file open for writing"
            ) from None


def _sqlite(path: Path) -> tuple[Any, Any]:
    def connect() -> Any:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        return connection

    # The last one comes from a message of SQLite that quotes a damaged schema.
    return connect, (sqlite3.Error, sqlite3.Warning, UnicodeDecodeError)


def _duckdb(path: Path) -> tuple[Any, Any]:
    try:
        import duckdb
    except ImportError:
        raise MissingDependency("duckdb", "duckdb", f"reading {path.name}") from None

    # for a sort that exceeds memory; by default it would be next to the file
    spill = {"temp_directory": str(Path(tempfile.gettempdir()) / f"hierseed-{os.getpid()}.duckdb")}

    class OneStatement:
        """A connection that runs one statement at a time, as SQLite's does."""

        def __init__(self) -> None:
            self._connection = duckdb.connect(str(path), read_only=True, config=DUCKDB | spill)
            self._connection.execute("SET enable_progress_bar = false")  # it goes to stdout
            self.close = self._connection.close

        def execute(self, sql: str) -> Any:
            if len(self._connection.extract_statements(sql)) != 1:
                raise duckdb.Error("more than one statement")
            return self._connection.execute(sql)

    return OneStatement, duckdb.Error


def _kind(path: Path) -> str:
    """Tell by the first bytes."""
    with path.open("rb") as file:
        head = file.read(16)
    if head.startswith(b"SQLite format 3"):
        return "sqlite"
    if head[8:12] == b"DUCK":
        return "duckdb"
    raise CorpusError(f"{path} is neither an SQLite nor a DuckDB database, or it is empty")


def _one(query: str) -> str:
    """The query without its semicolon, as a part of another one."""
    return query.strip().rstrip(";").strip()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
