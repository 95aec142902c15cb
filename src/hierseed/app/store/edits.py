"""Changes of the taxonomy: each is logged with what it replaced, and can be undone.

A topic is never removed: a deleted or merged one is marked, so its labels stay and come back
with an undo. Labels of a merged topic count for the topic it was merged into.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from hierseed.app.project import Project
from hierseed.app.store import labels, topics
from hierseed.app.store.actions import ANYONE, Action, Person, Step, record
from hierseed.app.store.topics import FIELDS, Topic
from hierseed.errors import ProjectError
from hierseed.taxonomy import Taxonomy
from hierseed.topics import name_fault

WRITTEN = {
    "description": "Wrote the description",
    "include": "Wrote what belongs to the topic",
    "exclude": "Wrote what does not belong to the topic",
    "notes": "Wrote notes",
    "code": "Wrote the code",
}


class Edit:
    """The topics touched by one change, before and after."""

    def __init__(self, action: Action) -> None:
        self.action, self.project, self.db = action, action.project, action.db
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

    def seed(self, id: int, rows: Sequence[int], source: str) -> None:
        """Give a topic that was just made its first seeds, as a part of the same change."""
        for row in rows:
            labels.append(self.action, row, id, labels.YES, labels.NOTHING, source)

    def finish(self) -> None:
        """Write what was changed to the log."""
        after = {id: _row(self.db, id) for id in self.before}
        self.db.execute(
            "INSERT INTO change VALUES (?, ?, ?)",
            (self.action.id, json.dumps(self.before), json.dumps(after)),
        )

    def last(self, parent: int | None) -> int:
        """The position behind all children of a topic."""
        return int(
            self.db.execute(
                "SELECT coalesce(max(position), 0) + 1 FROM topic WHERE parent IS ?", (parent,)
            ).fetchone()[0]
        )


@contextlib.contextmanager
def edit(project: Project, what: str, by: Person = ANYONE) -> Iterator[Edit]:
    """One change: all of it is written with its entry in the log, or nothing."""
    with record(project, what, by) as action:
        work = Edit(action)
        yield work
        work.finish()


def add(
    project: Project,
    parent: int | None,
    name: str,
    description: str = "",
    by: Person = ANYONE,
) -> int:
    """Add a topic below `parent` (None: at level 1)."""
    name = name.strip()
    with edit(project, f"Added {name!r}", by) as work:
        if parent is not None:
            topics.get(project, parent)
        return work.insert(parent, name, description)


def rename(
    project: Project, id: int, name: str, *, seen: str | None = None, by: Person = ANYONE
) -> None:
    """Give a topic another name; its id and all its labels stay.

    `seen` is the name that the person saw; where it was changed since, this one is refused.
    """
    name, topic = name.strip(), topics.get(project, id)
    with edit(project, f"Renamed {topic.name!r} to {name!r}", by) as work:
        _refuse_stale(work, id, "name", seen)
        _refuse_name(project, topic.parent, name, but=id)
        work.set(id, name=name)


def describe(
    project: Project,
    id: int,
    text: str,
    *,
    field: str = "description",
    seen: str | None = None,
    by: Person = ANYONE,
) -> None:
    """Write one text of the codebook: description, include, exclude, notes or code."""
    if field not in WRITTEN:
        raise ProjectError(f"a topic has no {field!r}. Reload the page")
    topic = topics.get(project, id)
    with edit(project, f"{WRITTEN[field]} of {topic.name!r}", by) as work:
        _refuse_stale(work, id, field, seen)
        work.set(id, **{field: text.strip()})


def move(project: Project, id: int, parent: int | None, by: Person = ANYONE) -> None:
    """Move a topic, and all below it, under another one."""
    topic = topics.get(project, id)
    above = parent
    while above is not None:
        if above == id:
            raise ProjectError(
                f"{topic.name!r} can't be moved below itself. Choose a topic outside its branch"
            )
        above = topics.get(project, above).parent
    with edit(project, f"Moved {topic.name!r}", by) as work:
        _refuse_name(project, parent, topic.name, but=id)
        work.set(id, parent=parent, position=work.last(parent))


def merge(project: Project, id: int, into: int, by: Person = ANYONE) -> None:
    """Let one topic take over another: its labels and its children."""
    topic, target = topics.get(project, id), topics.get(project, into)
    if id == into or id in _branch_above(project, into):
        raise ProjectError(
            f"{topic.name!r} can't be merged into itself or a topic below it. Choose another one"
        )
    with edit(project, f"Merged {topic.name!r} into {target.name!r}", by) as work:
        for child in topics.children(project, id):
            _refuse_name(project, into, child.name, but=child.id)
            work.set(child.id, parent=into)
        work.set(id, state="merged", merged_into=into)


def split(project: Project, id: int, names: Sequence[str], by: Person = ANYONE) -> list[int]:
    """Give a topic several children at once; its own seeds stay with it until they are moved."""
    topic = topics.get(project, id)
    with edit(project, f"Split {topic.name!r} into {len(names)}", by) as work:
        return [work.insert(id, name.strip()) for name in names]


def delete(project: Project, id: int, by: Person = ANYONE) -> int:
    """Take a topic and all below it out of the tree; return how many topics that were."""
    topic = topics.get(project, id)
    gone = [id]
    for above in gone:
        gone += [child.id for child in topics.children(project, above)]
    with edit(project, f"Deleted {topic.name!r}", by) as work:
        for each in gone:
            work.set(each, state="deleted")
    return len(gone)


def replace_all(
    project: Project,
    taxonomy: Taxonomy,
    source: str,
    *,
    keep: bool = False,
    by: Person = ANYONE,
) -> list[int]:
    """Take over a taxonomy from a file; topics with the same path keep their ids and labels.

    Topics that are not in the file are deleted, unless `keep`. Returns the id of each topic of
    the file.
    """
    here = topics.current(project)
    known = dict(zip(here.taxonomy.paths, here.ids))
    ids: list[int] = []
    with edit(project, f"Loaded the taxonomy {source!r}", by) as work:
        for i, path in enumerate(taxonomy.paths):
            above = int(taxonomy.tree.parent[i])
            parent = ids[above] if above >= 0 else None
            if path in known:
                ids.append(known[path])
                _refresh(work, known[path], taxonomy.descriptions[i], taxonomy.codes[i], i)
            else:
                about, code = taxonomy.descriptions[i], taxonomy.codes[i]
                ids.append(work.insert(parent, taxonomy.names[i], about, code, i))
        for id in set() if keep else set(here.ids) - set(ids):
            work.set(id, state="deleted")
    return ids


def restore(project: Project, db: sqlite3.Connection, step: Step, back: bool) -> None:
    """Undo or redo the change of an action; refused where the same topics changed since."""
    found = db.execute("SELECT before, after FROM change WHERE action = ?", (step.id,)).fetchone()
    if found is None:
        return
    before, after = (json.loads(text) for text in found)
    now_there, wanted = (after, before) if back else (before, after)
    for id, row in now_there.items():
        if row is not None and any(_row(db, int(id))[name] != row[name] for name in row):
            raise ProjectError(
                f"the same topic was changed by someone else since. {step.what!r} stays as it is"
            )
    for id, row in wanted.items():
        if row is None:  # made by the change: marked, never removed, for its labels
            row = {"state": "deleted"}
        names = ", ".join(f"{name} = :{name}" for name in row if name != "id")
        db.execute(
            f"UPDATE topic SET {names}, version = version + 1 WHERE id = :id", {**row, "id": id}
        )
    _refuse_broken(db, step)


def _refuse_broken(db: sqlite3.Connection, step: Step) -> None:
    """Refuse an undo after which the live topics would not be a tree."""
    rows = db.execute("SELECT id, parent, name FROM topic WHERE state = 'live'").fetchall()
    live = {id: parent for id, parent, _ in rows}
    names = {(parent, name) for _, parent, name in rows}
    for id in live:
        seen, above = {id}, live[id]
        while above is not None and above in live and above not in seen:
            seen.add(above)
            above = live[above]
        if above is not None:
            raise ProjectError(
                f"someone else has put topics below it since. {step.what!r} stays as it is"
            )
    if len(names) < len(rows):
        raise ProjectError(
            f"a topic of the same name has been added since. {step.what!r} stays as it is"
        )


def _row(db: sqlite3.Connection, id: int) -> dict[str, Any]:
    row = db.execute(f"SELECT {', '.join(FIELDS)} FROM topic WHERE id = ?", (id,)).fetchone()
    return dict(zip(FIELDS, row))


def _refresh(work: Edit, id: int, description: str, code: str, position: int) -> None:
    topic: Topic = topics.get(work.project, id)
    work.set(
        id, description=description or topic.description, code=code or topic.code, position=position
    )


def _refuse_stale(work: Edit, id: int, field: str, seen: str | None) -> None:
    """Refuse to overwrite what somebody else wrote since the person looked."""
    found = _row(work.db, id)[field]
    if seen is not None and found != seen:
        raise ProjectError(
            f"someone else changed this {field} to {found!r} meanwhile. Yours is not lost: "
            "compare the two, then save again"
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
