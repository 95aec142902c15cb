"""Tables of a project file, their version, and the way from an older version to this one."""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from hierseed.errors import ProjectError

APPLICATION = 0x48534544  # "HSED" in the header of the file: tells a project from any other SQLite
VERSION = 2
PATIENCE = 20.0  # seconds that anyone waits for another one's lock

# A topic's id is for life: topics are never deleted from the table, only marked. What a person
# said about a document is an event that is only ever appended; `label` holds where that stands.
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE document (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL
) STRICT;
CREATE TABLE kept (row INTEGER PRIMARY KEY REFERENCES document (row), value TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE document_text USING fts5 (
    text, content='document', content_rowid='row', tokenize="unicode61 remove_diacritics 2"
);
CREATE TABLE topic (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    parent INTEGER REFERENCES topic (id),
    name TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    code TEXT NOT NULL DEFAULT '',
    position INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'deleted', 'merged')),
    merged_into INTEGER REFERENCES topic (id),
    version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE TABLE change (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    what TEXT NOT NULL,
    before TEXT NOT NULL,
    after TEXT NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE label_event (
    event INTEGER PRIMARY KEY AUTOINCREMENT,
    row INTEGER NOT NULL REFERENCES document (row),
    topic INTEGER NOT NULL REFERENCES topic (id),
    verdict INTEGER NOT NULL CHECK (verdict IN (-1, 0, 1)),
    before INTEGER NOT NULL,
    source TEXT NOT NULL,
    at TEXT NOT NULL
) STRICT;
CREATE TABLE label (
    row INTEGER NOT NULL REFERENCES document (row),
    topic INTEGER NOT NULL REFERENCES topic (id),
    verdict INTEGER NOT NULL CHECK (verdict IN (-1, 1)),
    event INTEGER NOT NULL REFERENCES label_event (event),
    PRIMARY KEY (row, topic)
) STRICT, WITHOUT ROWID;
CREATE INDEX label_topic ON label (topic, verdict);
CREATE TABLE example (
    id INTEGER PRIMARY KEY, topic INTEGER NOT NULL REFERENCES topic (id), text TEXT NOT NULL
) STRICT;
CREATE TABLE gold (
    row INTEGER NOT NULL, topic INTEGER NOT NULL, PRIMARY KEY (row, topic)
) STRICT, WITHOUT ROWID;
CREATE TABLE fit (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    facts TEXT NOT NULL
) STRICT;
CREATE TABLE job (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    arguments TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'failed', 'cancelled', 'died')),
    progress TEXT NOT NULL DEFAULT '{}',
    message TEXT NOT NULL DEFAULT '',
    pid INTEGER,
    started TEXT NOT NULL,
    ended TEXT
) STRICT;
CREATE UNIQUE INDEX one_job ON job (state) WHERE state = 'running';
"""

Step = Callable[[sqlite3.Connection], None]


def _add_kept(db: sqlite3.Connection) -> None:
    """Other columns of the corpus, as a JSON object for each document that has any."""
    db.execute(next(line for line in TABLES.split(";\n") if "CREATE TABLE kept" in line))


STEPS: dict[int, Step] = {1: _add_kept}  # from version n to n + 1


def prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new file, bring an old one up to date, refuse any other file.

    SQLite's own timeout does not hold while the journal's mode changes: two who change it at once
    would wait for each other for ever, so one of them is refused at once. That one comes again.
    """
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return _prepare(db, path)
        except sqlite3.OperationalError as fault:
            busy = fault.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
            if not busy or time.monotonic() > until:
                raise
        time.sleep(0.01)


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    found, version, tables = _signature(db)
    if found == APPLICATION:
        migrate(db, path, version)
    elif found == 0 and version == 0 and not tables:
        _create(db)
    else:
        raise ProjectError(
            f"{path} is a database of another program, not a hierseed project. "
            "Name another file: hierseed serve NAME.hierseed"
        )


def _signature(db: sqlite3.Connection) -> tuple[int, int, int]:
    """Whose file, which version, how many tables: of one moment, while others may be making it."""
    db.execute("BEGIN")
    try:
        tables = db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]
        found = db.execute("PRAGMA application_id").fetchone()[0]
        version = db.execute("PRAGMA user_version").fetchone()[0]
    finally:
        db.execute("ROLLBACK")
    return int(found), int(version), int(tables)


def _create(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA journal_mode = WAL")
    with _transaction(db):
        # Someone else may have made the tables while we waited for the lock.
        if int(db.execute("PRAGMA application_id").fetchone()[0]) == 0:
            for statement in TABLES.split(";\n"):
                db.execute(statement)
            db.execute(f"PRAGMA application_id = {APPLICATION}")
            db.execute(f"PRAGMA user_version = {VERSION}")


def migrate(
    db: sqlite3.Connection,
    path: Path,
    version: int,
    *,
    target: int = VERSION,
    steps: Mapping[int, Step] = STEPS,
) -> Path | None:
    """Bring a file to the target version in one transaction; return the backup made before it."""
    if version == target:
        return None
    if version > target:
        raise ProjectError(
            f"{path} has the version {version} of the project file, this hierseed reads up to "
            f"{target}. Open it with a newer one: pip install --upgrade 'hierseed[app]'"
        )
    backup = back_up(db, path, f"v{version}")
    try:
        with _transaction(db):
            for number in range(version, target):
                steps[number](db)
            db.execute(f"PRAGMA user_version = {target}")
    except Exception as fault:
        raise ProjectError(
            f"{path} could not be brought from version {version} to {target} ({fault}). It is as "
            f"it was before, and {backup.name} is a copy of it"
        ) from fault
    return backup


def back_up(db: sqlite3.Connection, path: Path, why: str) -> Path:
    """Copy the whole database beside itself, as one consistent picture."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    target = path.with_name(f"{path.stem}.backup-{why}-{stamp}{path.suffix}")
    copy = sqlite3.connect(target)
    try:
        db.backup(copy)
    finally:
        copy.close()
    return target


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection):  # type: ignore[no-untyped-def]
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")
