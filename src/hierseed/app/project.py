"""A project on disk: `NAME.hierseed` (SQLite) and the folder `NAME.files` beside it.

What a person decides is in the database, and on disk before the call returns. What a machine
can make again (vectors, fits) is in the folder, each part written beside and renamed.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from hierseed.app import schema
from hierseed.errors import ProjectError

ENDING = ".hierseed"


class Pulse(NamedTuple):
    """Counters of changes: browser tabs compare them to notice that the project has changed."""

    action: int
    topics: int
    undone: int
    event: int
    coding: int
    load: int
    fit: int
    job: int
    documents: int


class Project:
    """One corpus, one taxonomy, all decisions about them, and the fits.

    Any number of processes and threads may hold the same project open; each thread has its own
    connection. Writers come one after the other, readers never wait.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        given = Path(path)
        self.path = given if given.suffix == ENDING else given.with_name(given.name + ENDING)
        if self.path.is_dir():
            raise ProjectError(f"{self.path} is a folder. Name a file: hierseed serve NAME{ENDING}")
        if not self.path.parent.is_dir():
            raise ProjectError(f"no folder {self.path.parent} to put the project in. Make it first")
        self._local = threading.local()
        self._open: list[tuple[threading.Thread, sqlite3.Connection]] = []
        self._lock = threading.Lock()
        self.remembered: dict[str, tuple[Any, Any]] = {}  # what was read last, and for which state
        schema.prepare(self.db, self.path)
        self.folder.mkdir(exist_ok=True)

    # ---------------------------------------------------------------- places

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    @property
    def folder(self) -> Path:
        """Vectors, fits and uploads."""
        return self.path.with_suffix(".files")

    @property
    def vectors(self) -> Path:
        """The vector store."""
        return self.folder / "vectors"

    def fit_folder(self, fit: int) -> Path:
        """The folder of one fit."""
        return self.folder / "fits" / f"{fit:04d}"

    # ---------------------------------------------------------------- the database

    @property
    def db(self) -> sqlite3.Connection:
        """This thread's connection."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._connect()
            self._local.connection = connection
        return connection

    def _connect(self) -> sqlite3.Connection:
        try:
            connection = sqlite3.connect(
                self.path, timeout=schema.PATIENCE, isolation_level=None, check_same_thread=False,
                factory=_Connection,
            )  # fmt: skip
            connection.execute("PRAGMA foreign_keys = ON")
            # FULL: a commit is on the disk, not only in the system's memory, when it returns.
            connection.execute("PRAGMA synchronous = FULL")
            # what is saved reaches the file itself at once: people copy that file as a backup
            connection.execute("PRAGMA wal_autocheckpoint = 1")
            # Each thread has a connection, so its cache is small; the system caches the file too.
            connection.execute("PRAGMA cache_size = -8192")
        except sqlite3.DatabaseError as fault:
            if not os.access(self.path.parent, os.W_OK):
                raise ProjectError(
                    f"{self.path}: its folder can't be written to. Name a project elsewhere"
                ) from fault
            raise ProjectError(
                f"{self.path} can't be opened as a project ({fault}). If it was damaged, a copy "
                f"named {self.path.stem}.backup-… may stand beside it"
            ) from fault
        with self._lock:
            self._open.append((threading.current_thread(), connection))
        return connection

    @contextlib.contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it, or nothing. It is on disk when the block is left."""
        db = self.db
        db.execute("BEGIN IMMEDIATE")
        try:
            yield db
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")

    def close(self) -> None:
        """Close the connections of all threads.

        One that another thread may be reading from closes when that thread is done with it:
        closed under a running query it would take the process down.
        """
        with self._lock:
            for thread, connection in self._open:
                if thread is threading.current_thread() or not thread.is_alive():
                    connection.close()
            self._open.clear()
        self._local = threading.local()

    # ---------------------------------------------------------------- small facts

    def get(self, key: str, default: Any = None) -> Any:
        """Read a fact of the project."""
        found = self.db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return json.loads(found[0]) if found else default

    def put(self, key: str, value: Any) -> None:
        """Write a fact of the project."""
        with self.write() as db:
            db.execute(
                "INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                (key, json.dumps(value)),
            )

    def remember(self, name: str, state: Any, read: Callable[[], Any]) -> Any:
        """Return what was read last, or read it again where the state has changed."""
        known = self.remembered.get(name)
        if known is None or known[0] != state:
            known = self.remembered[name] = (state, read())
        return known[1]

    def some(self, query: str, values: Sequence[Any], *others: Any) -> Iterator[Any]:
        """Rows of a query `… IN (%s) …` for any number of values; `others` fill marks behind."""
        for start in range(0, len(values), 500):
            part = values[start : start + 500]
            yield from self.db.execute(query % ",".join("?" * len(part)), (*part, *others))

    def pulse(self) -> Pulse:
        """Read the counters of changes."""
        return Pulse(
            *self.db.execute(
                "SELECT (SELECT coalesce(max(id), 0) FROM action),"
                " (SELECT total(version) FROM topic),"
                " (SELECT count(*) FROM action WHERE state != 'done'),"
                " (SELECT coalesce(max(event), 0) FROM label_event),"
                " (SELECT coalesce(max(event), 0) FROM coding)"
                " + (SELECT coalesce(max(id), 0) FROM sample)"
                " + (SELECT coalesce(max(id), 0) + total(live) FROM memo),"
                " (SELECT count(*) FROM load WHERE state != 'unfinished'),"
                " (SELECT coalesce(max(id), 0) FROM fit),"
                " (SELECT count(*) + coalesce(max(id), 0) FROM job WHERE state != 'running'),"
                " (SELECT coalesce(max(row) + 1, 0) FROM document)"
            ).fetchone()
        )


class _Connection(sqlite3.Connection):
    """Reports a schema with bytes that are no UTF-8 as the damage that it is."""

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        """Run a statement; Python fails to decode the message where it quotes such bytes."""
        try:
            return super().execute(*arguments)
        except UnicodeDecodeError as fault:
            damage = sqlite3.DatabaseError("database disk image is malformed")
            damage.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
            raise damage from fault


def now() -> str:
    """The time as it is written to the file."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
