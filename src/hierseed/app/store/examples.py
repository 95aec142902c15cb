"""Example texts: texts of one's own that show what a topic is about."""

from __future__ import annotations

from collections.abc import Iterable

from hierseed.app.project import Project
from hierseed.app.store import topics
from hierseed.app.store.actions import ANYONE, Action, Person, record


def add(project: Project, given: Iterable[tuple[int, str]], by: Person = ANYONE) -> int:
    """Add texts that show what a topic is about; the same text counts once."""
    with record(project, "Added example texts", by) as action:
        return write(action, given)


def write(action: Action, given: Iterable[tuple[int, str]]) -> int:
    """Add example texts as a part of an action; return how many are new."""
    known = {
        (topic, text): (id, live)
        for id, topic, text, live in action.db.execute("SELECT id, topic, text, live FROM example")
    }
    fresh = []
    for topic, text in dict.fromkeys(given):
        id, live = known.get((topic, text), (None, 0))
        if id is None:
            cursor = action.db.execute(
                "INSERT INTO example (topic, text, live) VALUES (?, ?, 0)", (topic, text)
            )
            id = int(cursor.lastrowid or 0)
        if not live:
            fresh.append(id)
    action.switch("example", fresh, live=True)
    return len(fresh)


def pairs(project: Project) -> list[tuple[int, str]]:
    """Topic and text of each example, without those of deleted topics."""
    here = topics.current(project)
    rows = project.db.execute("SELECT topic, text FROM example WHERE live ORDER BY id")
    return [(here.home[topic], text) for topic, text in rows if topic in here.home]


def remove(action: Action, given: set[tuple[int, str]]) -> None:
    """Remove example texts as a part of an action."""
    home = topics.current(action.project).home
    rows = action.db.execute("SELECT id, topic, text FROM example WHERE live").fetchall()
    gone = [id for id, topic, text in rows if (home.get(topic), text) in given]
    action.switch("example", gone, live=False)
