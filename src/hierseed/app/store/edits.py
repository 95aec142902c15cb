"""Changing the taxonomy: each change is logged with what it replaced, and can be undone.

A topic is never removed: a deleted or merged one is marked, so labels given to it stay, and
come back with an undo. Labels of a merged topic count for the topic it was merged into.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from hierseed.app.project import Project, now
from hierseed.app.store import topics
from hierseed.app.store.topics import FIELDS, Topic
from hierseed.errors import ProjectError
from hierseed.names import name_fault
from hierseed.taxonomy import Taxonomy

FOR_GOOD = 2  # undone, and something else was done since: can't be done again


class Edit:
    """The topics touched by one change, before and after."""

    def __init__(self, project: Project, db: sqlite3.Connection) -> None:
        self.project, self.db = project, db
        self.before: dict[int, dict[str, Any] | None] = {}
        self.made: list[int] = []

    def touch(self, id: int) -> None:
        """Remember a topic as it was."""
        if id not in self.before:
            self.before[id] = _row(self.db, id)

    def set(self, id: int, **values: Any) -> None:
        """Change fields of a topic."""
        self.touch(id)
        names = ", ".join(f"{name} = ?" for name in values)
        self.db.execute(
            f"UPDATE topic SET {names}, version = version + 1 WHERE id = ?", (*values.values(), id)
        )

    def insert(
        self,
        parent: int | None,
        name: str,
        description: str = "",
        code: str = "",
        position: int | None = None,
    ) -> int:
        """Make a topic, last among its siblings unless its position is given."""
        _refuse_name(self.project, parent, name)
        if position is None:
            position = self.last(parent)
        cursor = self.db.execute(
            "INSERT INTO topic (parent, name, description, code, position) VALUES (?, ?, ?, ?, ?)",
            (parent, name, description, code, position),
        )
        id = int(cursor.lastrowid or 0)
        self.before[id] = None
        self.made.append(id)
        return id

    def last(self, parent: int | None) -> int:
        """The position behind all children of a topic."""
        return int(
            self.db.execute(
                "SELECT coalesce(max(position), 0) + 1 FROM topic WHERE parent IS ?", (parent,)
            ).fetchone()[0]
        )


@contextlib.contextmanager
def edit(project: Project, what: str) -> Iterator[Edit]:
    """One change: all of it with its entry in the log, or nothing."""
    with project.write() as db:
        work = Edit(project, db)
        yield work
        after = {id: _row(db, id) for id in work.before}
        db.execute("UPDATE change SET undone = ? WHERE undone", (FOR_GOOD,))
        db.execute(
            "INSERT INTO change (at, what, before, after) VALUES (?, ?, ?, ?)",
            (now(), what, json.dumps(work.before), json.dumps(after)),
        )


def add(project: Project, parent: int | None, name: str, description: str = "") -> int:
    """Add a topic below `parent` (None: at level 1)."""
    name = name.strip()
    with edit(project, f"Added {name!r}") as work:
        if parent is not None:
            topics.get(project, parent)
        return work.insert(parent, name, description)


def rename(project: Project, id: int, name: str) -> None:
    """Give a topic another name; its id, and so all its labels, stay."""
    name, topic = name.strip(), topics.get(project, id)
    with edit(project, f"Renamed {topic.name!r} to {name!r}") as work:
        _refuse_name(project, topic.parent, name, but=id)
        work.set(id, name=name)


def describe(project: Project, id: int, description: str) -> None:
    """Say what a topic is about; the description can stand in for seeds."""
    topic = topics.get(project, id)
    with edit(project, f"Described {topic.name!r}") as work:
        work.set(id, description=description.strip())


def move(project: Project, id: int, parent: int | None) -> None:
    """Hang a topic, and all below it, under another one."""
    topic = topics.get(project, id)
    above = parent
    while above is not None:
        if above == id:
            raise ProjectError(
                f"{topic.name!r} can't be moved below itself. Choose a topic outside its branch"
            )
        above = topics.get(project, above).parent
    with edit(project, f"Moved {topic.name!r}") as work:
        _refuse_name(project, parent, topic.name, but=id)
        work.set(id, parent=parent, position=work.last(parent))


def merge(project: Project, id: int, into: int) -> None:
    """Let one topic take over another: its labels and its children."""
    topic, target = topics.get(project, id), topics.get(project, into)
    if id == into or id in _branch_above(project, into):
        raise ProjectError(
            f"{topic.name!r} can't be merged into itself or a topic below it. Choose another one"
        )
    with edit(project, f"Merged {topic.name!r} into {target.name!r}") as work:
        for child in topics.children(project, id):
            _refuse_name(project, into, child.name, but=child.id)
            work.set(child.id, parent=into)
        work.set(id, state="merged", merged_into=into)


def split(project: Project, id: int, names: Sequence[str]) -> list[int]:
    """Give a topic several children at once; its own seeds stay with it until they are moved."""
    topic = topics.get(project, id)
    with edit(project, f"Split {topic.name!r} into {len(names)}") as work:
        return [work.insert(id, name.strip()) for name in names]


def delete(project: Project, id: int) -> int:
    """Take a topic and all below it out of the tree; return how many topics that were."""
    topic = topics.get(project, id)
    gone = [id]
    for above in gone:
        gone += [child.id for child in topics.children(project, above)]
    with edit(project, f"Deleted {topic.name!r}") as work:
        for each in gone:
            work.set(each, state="deleted")
    return len(gone)


def replace_all(project: Project, taxonomy: Taxonomy, source: str) -> list[int]:
    """Take over a taxonomy from a file; topics with the same path keep their ids and labels.

    Returns the id for life of each topic of the file.
    """
    here = topics.current(project)
    known = dict(zip(here.taxonomy.paths, here.ids))
    ids: list[int] = []
    with edit(project, f"Loaded the taxonomy {source!r}") as work:
        for i, path in enumerate(taxonomy.paths):
            above = int(taxonomy.tree.parent[i])
            parent = ids[above] if above >= 0 else None
            if path in known:
                ids.append(known[path])
                _refresh(work, known[path], taxonomy.descriptions[i], taxonomy.codes[i], i)
            else:
                about, code = taxonomy.descriptions[i], taxonomy.codes[i]
                ids.append(work.insert(parent, taxonomy.names[i], about, code, i))
        for id in set(here.ids) - set(ids):
            work.set(id, state="deleted")
    return ids


def last_change(project: Project) -> tuple[int, str] | None:
    """The change that undo would take back: its number and what it was."""
    row = project.db.execute(
        "SELECT id, what FROM change WHERE NOT undone ORDER BY id DESC LIMIT 1"
    ).fetchone()
    return (int(row[0]), str(row[1])) if row else None


def next_change(project: Project) -> tuple[int, str] | None:
    """The change that redo would bring back: undone, and nothing new was done since."""
    row = project.db.execute(
        "SELECT id, what FROM change WHERE undone = 1 ORDER BY id LIMIT 1"
    ).fetchone()
    return (int(row[0]), str(row[1])) if row else None


def undo(project: Project, expected: int | None = None) -> str:
    """Take back the last change; return what it was.

    `expected` is the change that the person saw: if another one came after it, by someone else,
    nothing is undone.
    """
    with project.write() as db:
        last = last_change(project)
        if last is None:
            raise ProjectError("nothing to undo: the taxonomy was not changed yet")
        if expected is not None and last[0] != expected:
            raise ProjectError(
                f"someone else changed the taxonomy meanwhile ({last[1]}). Look at it, then undo"
            )
        _restore(db, last[0], "before")
    return last[1]


def redo(project: Project, expected: int | None = None) -> str:
    """Bring back the change that was undone last; return what it was."""
    with project.write() as db:
        following = next_change(project)
        if following is None or (expected is not None and following[0] != expected):
            raise ProjectError(
                "nothing to redo: no change was undone, or the taxonomy was changed since"
            )
        _restore(db, following[0], "after")
    return following[1]


def _restore(db: sqlite3.Connection, change: int, side: str) -> None:
    """Put the topics of a change into the state they had before or after it."""
    found = db.execute(f"SELECT {side} FROM change WHERE id = ?", (change,)).fetchone()[0]
    for id, row in json.loads(found).items():
        if row is None:  # made by the change: marked, never removed, for its labels
            db.execute(
                "UPDATE topic SET state = 'deleted', version = version + 1 WHERE id = ?", (id,)
            )
        else:
            names = ", ".join(f"{name} = :{name}" for name in FIELDS if name != "id")
            db.execute(f"UPDATE topic SET {names}, version = version + 1 WHERE id = :id", row)
    db.execute("UPDATE change SET undone = ? WHERE id = ?", (side == "before", change))


def _row(db: sqlite3.Connection, id: int) -> dict[str, Any]:
    row = db.execute(f"SELECT {', '.join(FIELDS)} FROM topic WHERE id = ?", (id,)).fetchone()
    return dict(zip(FIELDS, row))


def _refresh(work: Edit, id: int, description: str, code: str, position: int) -> None:
    topic: Topic = topics.get(work.project, id)
    work.set(
        id, description=description or topic.description, code=code or topic.code, position=position
    )


def _branch_above(project: Project, id: int | None) -> set[int]:
    above: set[int] = set()
    while id is not None:
        id = topics.get(project, id).parent
        if id is not None:
            above.add(id)
    return above


def _refuse_name(project: Project, parent: int | None, name: str, but: int | None = None) -> None:
    if fault := name_fault(name):
        raise ProjectError(f"the name {name!r} can't be used: {fault}. Choose another one")
    for sibling in topics.children(project, parent):
        if sibling.name == name and sibling.id != but:
            raise ProjectError(
                f"there is a topic {name!r} in this place already. Choose another name, or merge"
            )
