"""Tables of a project file, their version, and the migrations from older versions."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from hierseed.errors import ProjectError

APPLICATION = 0x48534544  # "HSED" in the header of the file: tells a project from any other SQLite
VERSION = 4
PATIENCE = 20.0  # seconds to wait for a lock that another connection holds

# A topic keeps its id for life: a topic is never removed from the table, only marked. A decision
# about a document is an event, and events are only ever added; `label` holds the current state.
# The topics 0 and -1 of a label are the decisions "none of these" and "unsure" about a document.
TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE document (
    row INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, text TEXT NOT NULL
) STRICT;
CREATE TABLE kept (row INTEGER PRIMARY KEY REFERENCES document (row), value TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE document_text USING fts5 (
    text, content='document', content_rowid='row', tokenize="unicode61 remove_diacritics 2"
);
CREATE TABLE load (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    name TEXT NOT NULL,
    arguments TEXT NOT NULL,
    first_row INTEGER NOT NULL,
    total INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('unfinished', 'complete', 'discarded')),
    message TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE action (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    person TEXT NOT NULL,
    coder TEXT NOT NULL,
    what TEXT NOT NULL,
    detail TEXT NOT NULL DEFAULT '{}',
    state TEXT NOT NULL DEFAULT 'done' CHECK (state IN ('done', 'undone', 'final'))
) STRICT;
CREATE INDEX action_person ON action (person, state);
CREATE TABLE topic (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    parent INTEGER REFERENCES topic (id),
    name TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    code TEXT NOT NULL DEFAULT '',
    include TEXT NOT NULL DEFAULT '',
    exclude TEXT NOT NULL DEFAULT '',
    notes TEXT NOT NULL DEFAULT '',
    position INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'live' CHECK (state IN ('live', 'deleted', 'merged')),
    merged_into INTEGER REFERENCES topic (id),
    version INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE TABLE change (
    action INTEGER PRIMARY KEY REFERENCES action (id),
    before TEXT NOT NULL,
    after TEXT NOT NULL
) STRICT;
CREATE TABLE label_event (
    event INTEGER PRIMARY KEY AUTOINCREMENT,
    row INTEGER NOT NULL,
    topic INTEGER NOT NULL,
    verdict INTEGER NOT NULL CHECK (verdict IN (-1, 0, 1)),
    before INTEGER NOT NULL,
    source TEXT NOT NULL,
    at TEXT NOT NULL,
    coder TEXT NOT NULL DEFAULT '',
    action INTEGER REFERENCES action (id)
) STRICT;
CREATE INDEX label_event_action ON label_event (action);
CREATE TABLE label (
    row INTEGER NOT NULL REFERENCES document (row),
    topic INTEGER NOT NULL,
    verdict INTEGER NOT NULL CHECK (verdict IN (-1, 1)),
    event INTEGER NOT NULL REFERENCES label_event (event),
    PRIMARY KEY (row, topic)
) STRICT, WITHOUT ROWID;
CREATE INDEX label_topic ON label (topic, verdict);
CREATE TABLE example (
    id INTEGER PRIMARY KEY,
    topic INTEGER NOT NULL REFERENCES topic (id),
    text TEXT NOT NULL,
    live INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE TABLE gold (
    row INTEGER NOT NULL,
    topic INTEGER NOT NULL,
    live INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (row, topic)
) STRICT, WITHOUT ROWID;
CREATE TABLE sample (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    name TEXT NOT NULL,
    coder TEXT NOT NULL,
    facts TEXT NOT NULL
) STRICT;
CREATE TABLE sample_document (
    sample INTEGER NOT NULL REFERENCES sample (id),
    position INTEGER NOT NULL,
    row INTEGER NOT NULL,
    stratum TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (sample, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE coding (
    event INTEGER PRIMARY KEY AUTOINCREMENT,
    sample INTEGER NOT NULL REFERENCES sample (id),
    row INTEGER NOT NULL,
    coder TEXT NOT NULL,
    final INTEGER NOT NULL DEFAULT 0,
    decision TEXT NOT NULL CHECK (decision IN ('topics', 'none', 'unsure', 'nothing')),
    topics TEXT NOT NULL DEFAULT '[]',
    at TEXT NOT NULL
) STRICT;
CREATE INDEX coding_row ON coding (sample, row, coder);
CREATE TABLE memo (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('document', 'topic')),
    target INTEGER NOT NULL,
    coder TEXT NOT NULL,
    text TEXT NOT NULL,
    at TEXT NOT NULL,
    live INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX memo_target ON memo (kind, target);
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


def _statements(*names: str) -> list[str]:
    """The statements that create these tables and indexes."""
    created = re.compile(r"\s*CREATE (?:VIRTUAL TABLE|TABLE|UNIQUE INDEX|INDEX) (\w+)")
    found = {created.match(text)[1]: text for text in TABLES.split(";\n") if created.match(text)}  # type: ignore[index]
    return [found[name] for name in names]


def _add_kept(db: sqlite3.Connection) -> None:
    """Version 2: the other columns of the corpus, a JSON object for each document."""
    db.execute(_statements("kept")[0])


def _add_people(db: sqlite3.Connection) -> None:
    """Version 3: a person behind each action, undo by action, loads, samples, codebook, memos."""
    for statement in _statements(
        "load", "action", "action_person", "sample", "sample_document", "coding", "coding_row",
        "memo", "memo_target",
    ):  # fmt: skip
        db.execute(statement)
    for column in ("include", "exclude", "notes"):
        db.execute(f"ALTER TABLE topic ADD COLUMN {column} TEXT NOT NULL DEFAULT ''")
    db.execute(
        "INSERT INTO action (id, at, person, coder, what, state) SELECT id, at, '', '', what,"
        " CASE undone WHEN 0 THEN 'done' WHEN 1 THEN 'undone' ELSE 'final' END FROM change"
    )
    copied = {
        "change": "SELECT id, before, after FROM old_change",
        "label_event": "SELECT event, row, topic, verdict, before, source, at, '', NULL"
        " FROM old_label_event",
        "label": "SELECT row, topic, verdict, event FROM old_label",
        "example": "SELECT id, topic, text, 1 FROM old_example",
        "gold": "SELECT row, topic, 1 FROM old_gold",
    }
    db.execute("DROP INDEX label_topic")
    for table in copied:
        db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    for table, select in copied.items():
        db.execute(_statements(table)[0])
        db.execute(f"INSERT INTO {table} {select}")
    for table in ("change", "label", "label_event", "example", "gold"):  # children before parents
        db.execute(f"DROP TABLE old_{table}")
    for statement in _statements("label_event_action", "label_topic"):
        db.execute(statement)


def _rename_message(db: sqlite3.Connection) -> None:
    """Version 4: files of early 0.2 have the message of a load under another name."""
    if "told" in {row[1] for row in db.execute("PRAGMA table_info (load)")}:
        db.execute("ALTER TABLE load RENAME COLUMN told TO message")


STEPS: dict[int, Step] = {  # from version n to n + 1
    1: _add_kept,
    2: _add_people,
    3: _rename_message,
}


def prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables of a new file, bring an old one up to date, refuse any other file.

    SQLite's own timeout does not hold while the journal's mode changes: two who change it at once
    would wait for each other for ever, so one of them is refused at once. It tries again.
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
    """Application id, version and number of tables, in one transaction: others may be writing."""
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
            # Another process may have done this while we waited for the lock.
            current = int(db.execute("PRAGMA user_version").fetchone()[0])
            for number in range(current, target):
                steps[number](db)
            db.execute(f"PRAGMA user_version = {target}")
    except Exception as fault:
        raise ProjectError(
            f"{path} could not be brought from version {version} to {target} ({fault}). It is as "
            f"it was before, and {backup.name} is a copy of it"
        ) from fault
    return backup


def back_up(db: sqlite3.Connection, path: Path, why: str) -> Path:
    """Copy the whole database to a file beside it, as a consistent snapshot."""
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
