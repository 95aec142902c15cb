"""Labels: what a person said of a document and a topic. Every word is kept, none overwrites."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hierseed.app.project import Project, now
from hierseed.app.store import topics
from hierseed.errors import ProjectError

YES, NO, NOTHING = 1, -1, 0


class Label(NamedTuple):
    """One standing verdict."""

    row: int
    topic: int
    verdict: int


def say(
    project: Project,
    row: int,
    topic: int,
    verdict: int,
    *,
    seen: int | None = None,
    source: str = "page",
) -> int:
    """Write a verdict; it is on disk when this returns. Returns the number of the event.

    Verdicts on other documents, or on other topics of this one, never clash. `seen` is the verdict
    that the person had before their eyes: if someone else changed it meanwhile, theirs stands and
    this one is refused.
    """
    topics.get(project, topic)
    with project.write() as db:
        before = _standing(db, row, topic)
        if seen is not None and before != seen:
            raise ProjectError(
                f"someone else said {WORDS[before]!r} of this document meanwhile. "
                "Look at it again, then decide"
            )
        return _write(db, row, topic, verdict, before, source)


def correct(project: Project, row: int, topic: int, *, source: str = "review") -> list[int]:
    """Make a document a seed of one topic, and withdraw it as a seed of all others."""
    topics.get(project, topic)
    with project.write() as db:
        others = db.execute(
            "SELECT topic FROM label WHERE row = ? AND verdict = 1 AND topic != ?", (row, topic)
        ).fetchall()
        events = [_write(db, row, other, NOTHING, YES, source) for (other,) in others]
        before = _standing(db, row, topic)
        return [*events, _write(db, row, topic, YES, before, source)]


def take_back(project: Project) -> Label | None:
    """Undo the last thing said, by saying what was there before."""
    with project.write() as db:
        last = db.execute(
            "SELECT row, topic, before FROM label_event ORDER BY event DESC LIMIT 1"
        ).fetchone()
        if last is None:
            return None
        row, topic, before = last
        _write(db, row, topic, before, _standing(db, row, topic), "undo")
        return Label(row, topic, before)


def load(project: Project, pairs: Iterable[tuple[int, int]], source: str) -> int:
    """Add many seeds at once, as from a file; those that stand already are passed over."""
    added = 0
    with project.write() as db:
        for row, topic in pairs:
            before = _standing(db, row, topic)
            if before != YES:
                _write(db, row, topic, YES, before, source)
                added += 1
    return added


def add_examples(project: Project, pairs: Iterable[tuple[int, str]]) -> int:
    """Add texts of one's own that show what a topic is about; the same text counts once."""
    with project.write() as db:
        known = set(db.execute("SELECT topic, text FROM example"))
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        db.executemany("INSERT INTO example (topic, text) VALUES (?, ?)", fresh)
    return len(fresh)


def examples(project: Project) -> list[tuple[int, str]]:
    """Topic and text of each example, those of deleted topics left out."""
    here = topics.current(project)
    rows = project.db.execute("SELECT topic, text FROM example ORDER BY id")
    return [(here.home[topic], text) for topic, text in rows if topic in here.home]


def seeds(project: Project) -> dict[int, list[int]]:
    """Topics of each seed document by row; merged topics are resolved, deleted ones left out."""
    home = topics.current(project).home
    found: dict[int, list[int]] = {}
    rows = project.db.execute("SELECT row, topic FROM label WHERE verdict = 1 ORDER BY row, event")
    for row, topic in rows:
        if topic in home and home[topic] not in found.setdefault(row, []):
            found[row].append(home[topic])
    return {row: ids for row, ids in found.items() if ids}


def counts(project: Project) -> dict[int, int]:
    """Seeds of each live topic itself, examples included."""
    home = topics.current(project).home
    total: dict[int, int] = {}
    for topic, number in project.db.execute(
        "SELECT topic, count(*) FROM label WHERE verdict = 1 GROUP BY topic "
        "UNION ALL SELECT topic, count(*) FROM example GROUP BY topic"
    ):
        if topic in home:
            total[home[topic]] = total.get(home[topic], 0) + number
    return total


def of_rows(project: Project, rows: Sequence[int]) -> dict[int, list[Label]]:
    """Standing verdicts on documents, by row."""
    home = topics.current(project).home
    marks = ",".join("?" * len(rows))
    found: dict[int, list[Label]] = {}
    for row, topic, verdict in project.db.execute(
        f"SELECT row, topic, verdict FROM label WHERE row IN ({marks}) ORDER BY event",
        [int(row) for row in rows],
    ):
        if topic in home:
            found.setdefault(row, []).append(Label(row, home[topic], verdict))
    return found


def of_topic(project: Project, topic: int, verdict: int = YES) -> list[int]:
    """Rows with this verdict for a topic, the latest first."""
    home = topics.current(project).home
    ids = [id for id, end in home.items() if end == topic]
    marks = ",".join("?" * len(ids))
    rows = project.db.execute(
        f"SELECT row FROM label WHERE topic IN ({marks}) AND verdict = ? ORDER BY event DESC",
        (*ids, verdict),
    )
    return list(dict.fromkeys(row for (row,) in rows))


WORDS = {YES: "yes", NO: "no", NOTHING: "nothing"}


def _standing(db: sqlite3.Connection, row: int, topic: int) -> int:
    found = db.execute(
        "SELECT verdict FROM label WHERE row = ? AND topic = ?", (row, topic)
    ).fetchone()
    return int(found[0]) if found else NOTHING


def _write(
    db: sqlite3.Connection, row: int, topic: int, verdict: int, before: int, source: str
) -> int:
    if db.execute("SELECT 1 FROM document WHERE row = ?", (row,)).fetchone() is None:
        raise ProjectError(f"no document with the number {row}. Reload the page")
    cursor = db.execute(
        "INSERT INTO label_event (row, topic, verdict, before, source, at)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (row, topic, verdict, before, source, now()),
    )
    event = int(cursor.lastrowid or 0)
    if verdict == NOTHING:
        db.execute("DELETE FROM label WHERE row = ? AND topic = ?", (row, topic))
    else:
        db.execute(
            "INSERT INTO label VALUES (?, ?, ?, ?) ON CONFLICT (row, topic) "
            "DO UPDATE SET verdict = excluded.verdict, event = excluded.event",
            (row, topic, verdict, event),
        )
    return event
