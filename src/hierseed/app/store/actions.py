"""Actions: what one person did in one step, and undo and redo of that person's own steps.

Each step (a decision, a change of the taxonomy, a file taken over) is one row of `action`.
Undo takes back the last step of the same person, never one of somebody else, and is refused
where somebody else has since changed the same thing.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator
from typing import Any, NamedTuple

from hierseed.app.project import Project, now
from hierseed.errors import ProjectError


class Person(NamedTuple):
    """The person who acts: a key of the person or browser, and the coder's name."""

    key: str = ""
    name: str = ""


ANYONE = Person()  # scripts, workers and older versions


class Step(NamedTuple):
    """One action that can be undone or redone."""

    id: int
    what: str


class Action:
    """An action that is being recorded, inside one transaction."""

    def __init__(self, project: Project, db: sqlite3.Connection, id: int, by: Person) -> None:
        self.project, self.db, self.id, self.by = project, db, id, by
        self.switched: dict[str, list[Any]] = {}

    def drop(self) -> None:
        """Forget the action: nothing was changed."""
        self.db.execute("DELETE FROM action WHERE id = ?", (self.id,))

    def switch(self, table: str, keys: list[Any], live: bool) -> None:
        """Switch rows of `example` or `gold` on or off, and remember it for undo."""
        _switch(self.db, table, keys, live)
        self.switched.setdefault(f"{table}_{'on' if live else 'off'}", []).extend(keys)


@contextlib.contextmanager
def record(project: Project, what: str, by: Person = ANYONE) -> Iterator[Action]:
    """Record one action: all of it is written, or nothing."""
    with project.write() as db:
        db.execute(
            "UPDATE action SET state = 'final' WHERE state = 'undone' AND person = ?",
            (by.key,),
        )
        cursor = db.execute(
            "INSERT INTO action (at, person, coder, what) VALUES (?, ?, ?, ?)",
            (now(), by.key, by.name, what),
        )
        action = Action(project, db, int(cursor.lastrowid or 0), by)
        yield action
        if action.switched:
            db.execute(
                "UPDATE action SET detail = ? WHERE id = ?",
                (json.dumps(action.switched), action.id),
            )


def to_undo(project: Project, by: Person = ANYONE) -> Step | None:
    """The person's last action that is not undone."""
    return _find(project, by, "done", "DESC")


def to_redo(project: Project, by: Person = ANYONE) -> Step | None:
    """The action that the person undid last, unless they did something new since."""
    return _find(project, by, "undone", "ASC")


def _find(project: Project, by: Person, state: str, order: str) -> Step | None:
    row = project.db.execute(
        f"SELECT id, what FROM action WHERE person = ? AND state = ? ORDER BY id {order} LIMIT 1",
        (by.key, state),
    ).fetchone()
    return Step(int(row[0]), str(row[1])) if row else None


def undo(project: Project, by: Person = ANYONE, expected: int | None = None) -> str:
    """Take back the person's last action; return what it was.

    `expected` is the action that the person saw as the last one.
    """
    with project.write() as db:
        step = to_undo(project, by)
        if step is None:
            raise ProjectError("nothing to undo: you have not changed anything yet")
        if expected is not None and step.id != expected:
            raise ProjectError(f"your last step is {step.what!r} by now. Look, then undo it")
        _revert(project, db, step, by, back=True)
    return step.what


def redo(project: Project, by: Person = ANYONE, expected: int | None = None) -> str:
    """Do the action again that the person undid last; return what it was."""
    with project.write() as db:
        step = to_redo(project, by)
        if step is None or (expected is not None and step.id != expected):
            raise ProjectError("nothing to redo: nothing was undone, or you did something since")
        _revert(project, db, step, by, back=False)
    return step.what


def _revert(project: Project, db: sqlite3.Connection, step: Step, by: Person, back: bool) -> None:
    from hierseed.app.store import edits, labels

    edits.restore(project, db, step, back)
    labels.restore(project, db, step, by, back)
    detail = json.loads(
        db.execute("SELECT detail FROM action WHERE id = ?", (step.id,)).fetchone()[0]
    )
    for name, keys in detail.items():
        table, _, side = name.rpartition("_")
        _switch(db, table, keys, live=(side == "on") != back)
    db.execute("UPDATE action SET state = ? WHERE id = ?", ("undone" if back else "done", step.id))


def _switch(db: sqlite3.Connection, table: str, keys: list[Any], live: bool) -> None:
    where = {"example": "id = ?", "gold": "row = ? AND topic = ?"}[table]
    db.executemany(
        f"UPDATE {table} SET live = {int(live)} WHERE {where}",
        [key if isinstance(key, list | tuple) else (key,) for key in keys],
    )


def history(project: Project, most: int = 12) -> list[dict[str, Any]]:
    """The last actions of everybody that stand, the latest first."""
    rows = project.db.execute(
        "SELECT id, at, coder, what FROM action WHERE state = 'done' ORDER BY id DESC LIMIT ?",
        (most,),
    )
    return [{"id": id, "at": at, "coder": coder, "what": what} for id, at, coder, what in rows]
