"""Labels: decisions about documents. Every decision is kept as an event; `label` is the state.

A document can be accepted for a topic (it becomes a seed) or rejected (the next fit keeps it out
of that topic and everything below). It can also be "none of these", or "unsure".
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from hierseed.app.project import Project, now
from hierseed.app.store import topics
from hierseed.app.store.actions import ANYONE, Action, Person, Step, record
from hierseed.app.store.topics import Topics
from hierseed.errors import ProjectError

YES, NO, NOTHING = 1, -1, 0
NONE_OF_THESE, UNSURE = 0, -1  # topics that stand for a decision about the document as a whole
WHOLE = {NONE_OF_THESE: "None of these", UNSURE: "Unsure"}
DONE = {YES: "accepted", NO: "rejected", NOTHING: "withdrawn a decision about"}
WRITTEN = {YES: "Accepted", NO: "Rejected", NOTHING: "Withdrew"}


class Label(NamedTuple):
    """One current verdict."""

    row: int
    topic: int
    verdict: int


def decide(
    project: Project,
    row: int,
    topic: int,
    verdict: int,
    *,
    seen: int | None = None,
    several: bool = False,
    exact: bool = False,
    source: str = "page",
    by: Person = ANYONE,
) -> int:
    """Write a decision with all that follows from it; return how many verdicts changed.

    Accepting withdraws what contradicts it: a rejection of the topic or of a topic above,
    "none of these", "unsure", and, unless `several`, the document as a seed of other topics.
    A seed of a topic further down stays where it is, unless the topic is meant `exact`-ly.
    Rejecting withdraws the document as a seed of the topic and of all topics below it.

    `seen` is the verdict that the person saw. Where somebody else changed it since, theirs
    stands and this decision is refused.
    """
    here = topics.current(project)
    if topic not in WHOLE:
        topics.get(project, topic)
    with record(project, f"{WRITTEN[verdict]} {_name(project, here, row, topic)}", by) as action:
        before = _standing(action.db, here, row, topic)
        if seen is not None and before not in (seen, verdict):
            raise ProjectError(
                f"someone else has {DONE[before]} this document in the meantime. "
                "Look at it again, then decide"
            )
        changed = 0
        current = of_rows(project, [row]).get(row, [])
        if verdict == YES and not exact and topic not in WHOLE:
            deeper = _below(here, topic)
            if any(label.verdict == YES and label.topic in deeper for label in current):
                raise ProjectError(
                    "this document is a seed of a topic below this one already, which counts "
                    "here too. To move it up, choose the topic with M"
                )
        for other in _contradicted(here, topic, verdict, current, several):
            changed += write(action, here, row, other, NOTHING, source)
        changed += write(action, here, row, topic, verdict, source)
        if not changed:
            action.drop()  # the same key pressed twice: nothing to say, nothing to undo
        return changed


def _contradicted(
    here: Topics, topic: int, verdict: int, current: Sequence[Label], several: bool
) -> list[int]:
    """Topics of the current verdicts that can't stand beside a new one."""
    if verdict == NOTHING:
        return []
    if topic == UNSURE:
        return [label.topic for label in current if label.topic == NONE_OF_THESE]
    if topic == NONE_OF_THESE:
        return [label.topic for label in current if label.verdict == YES and label.topic != topic]
    below = _below(here, topic)
    if verdict == NO:
        return [label.topic for label in current if label.verdict == YES and label.topic in below]
    above = _above(here, topic)
    return [
        label.topic
        for label in current
        if label.topic in WHOLE
        or (label.verdict == NO and label.topic in above)
        or (label.verdict == YES and (not several or label.topic in above | below))
        if label.topic != topic
    ]


def decide_many(
    project: Project,
    pairs: Iterable[tuple[int, int]],
    verdict: int,
    what: str,
    *,
    source: str,
    by: Person = ANYONE,
) -> int:
    """Write the same verdict for many (document, topic) pairs as one action that undo takes back.

    Pairs that have the verdict already are left alone. Returns how many changed.
    """
    here = topics.current(project)
    with record(project, what, by) as action:
        return sum(write(action, here, row, topic, verdict, source) for row, topic in pairs)


def load(project: Project, pairs: Iterable[tuple[int, int]], source: str) -> int:
    """Add many seeds at once, as from a file; those that are there already are left alone."""
    return decide_many(project, pairs, YES, "Added seeds", source=source)


def restore(project: Project, db: sqlite3.Connection, step: Step, by: Person, back: bool) -> None:
    """Undo or redo the verdicts of an action; refused where somebody decided since."""
    events = db.execute(
        "SELECT row, topic, verdict, before FROM label_event"
        " WHERE action = ? AND source NOT IN ('undo', 'redo') ORDER BY event",
        (step.id,),
    ).fetchall()
    action = Action(project, db, step.id, by)
    for row, topic, verdict, before in reversed(events) if back else events:
        found, wanted = (verdict, before) if back else (before, verdict)
        if _state(db, row, topic) != found:
            raise ProjectError(
                f"someone else has decided about the same document since. {step.what!r} stays as "
                "it is; decide again instead"
            )
        append(action, row, topic, wanted, found, "undo" if back else "redo")


# ------------------------------------------------------------------ the current state


def seeds(project: Project) -> dict[int, list[int]]:
    """Topics of each seed document by row; merged topics are resolved, deleted ones left out."""
    return _by_row(project, YES)


def rejections(project: Project) -> dict[int, list[int]]:
    """Topics that each document was rejected for, by row."""
    return _by_row(project, NO)


def whole(project: Project, decision: int) -> list[int]:
    """Rows of the documents that were decided to be none of these, or unsure."""
    rows = project.db.execute(
        "SELECT row FROM label WHERE topic = ? AND verdict = 1 ORDER BY row", (decision,)
    )
    return [row for (row,) in rows]


def _by_row(project: Project, verdict: int) -> dict[int, list[int]]:
    home = topics.current(project).home
    found: dict[int, list[int]] = {}
    rows = project.db.execute(
        "SELECT row, topic FROM label WHERE verdict = ? ORDER BY row, event", (verdict,)
    )
    for row, topic in rows:
        if topic in home and home[topic] not in found.setdefault(row, []):
            found[row].append(home[topic])
    return {row: ids for row, ids in found.items() if ids}


def file_seeds(project: Project) -> list[tuple[int, int]]:
    """(Row, topic) of the seeds that came from a file and that nobody has touched since."""
    home = topics.current(project).home
    rows = project.db.execute(
        "SELECT l.row, l.topic FROM label l JOIN label_event e ON e.event = l.event"
        " WHERE l.verdict = 1 AND e.source = 'file' ORDER BY l.row, l.event"
    )
    return [(row, home[topic]) for row, topic in rows if topic in home]


def counts(project: Project) -> dict[int, int]:
    """Seeds of each live topic itself, examples included."""
    home = topics.current(project).home
    total: dict[int, int] = {}
    for topic, number in project.db.execute(
        "SELECT topic, count(*) FROM label WHERE verdict = 1 AND topic > 0 GROUP BY topic "
        "UNION ALL SELECT topic, count(*) FROM example WHERE live GROUP BY topic"
    ):
        if topic in home:
            total[home[topic]] = total.get(home[topic], 0) + number
    return total


def of_rows(project: Project, rows: Sequence[int]) -> dict[int, list[Label]]:
    """Current verdicts on documents, by row; where topics were merged, the last one counts."""
    home = {**topics.current(project).home, **{topic: topic for topic in WHOLE}}
    found: dict[int, dict[int, Label]] = {}
    query = "SELECT row, topic, verdict FROM label WHERE row IN (%s) ORDER BY event"
    for row, topic, verdict in project.some(query, list(map(int, rows))):
        if topic in home:
            found.setdefault(row, {})[home[topic]] = Label(row, home[topic], verdict)
    return {row: list(labels.values()) for row, labels in found.items()}


def of_topic(project: Project, topic: int, verdict: int = YES) -> list[int]:
    """Rows with this verdict for a topic, the latest first."""
    ids = topics.current(project).family(topic)
    query = "SELECT row FROM label WHERE topic IN (%s) AND verdict = ? ORDER BY event DESC"
    rows = project.some(query, ids, verdict)
    return list(dict.fromkeys(row for (row,) in rows))


def last_event(project: Project) -> int:
    """The number of the last decision; a fit keeps it, so that later ones can be counted."""
    return int(project.db.execute("SELECT coalesce(max(event), 0) FROM label_event").fetchone()[0])


# ------------------------------------------------------------------ writing


def _name(project: Project, here: Topics, row: int, topic: int) -> str:
    found = project.db.execute("SELECT id FROM document WHERE row = ?", (row,)).fetchone()
    if found is None:
        raise ProjectError(f"no document with the number {row}. Reload the page")
    return f"{found[0]} for {WHOLE.get(topic) or here.path(topic)}"


def _below(here: Topics, topic: int) -> set[int]:
    """Ids of the live topics below a topic."""
    place = here.place[topic]
    ancestors = here.taxonomy.tree.ancestors[:-1]
    return {
        here.ids[i] for i in (ancestors == place).any(axis=1).nonzero()[0] if here.ids[i] != topic
    }


def _above(here: Topics, topic: int) -> set[int]:
    """Ids of the topics above a topic."""
    line = here.taxonomy.tree.ancestors[here.place[topic]]
    return {here.ids[int(i)] for i in line if i >= 0} - {topic}


def _state(db: sqlite3.Connection, row: int, topic: int) -> int:
    found = db.execute(
        "SELECT verdict FROM label WHERE row = ? AND topic = ?", (row, topic)
    ).fetchone()
    return int(found[0]) if found else NOTHING


def _standing(db: sqlite3.Connection, here: Topics, row: int, topic: int) -> int:
    """The verdict for a topic and all topics that were merged into it; the last one counts."""
    ids = here.family(topic)
    marks = ",".join("?" * len(ids))
    found = db.execute(
        f"SELECT verdict FROM label WHERE row = ? AND topic IN ({marks})"
        " ORDER BY event DESC LIMIT 1",
        (row, *ids),
    ).fetchone()
    return int(found[0]) if found else NOTHING


def write(action: Action, here: Topics, row: int, topic: int, verdict: int, source: str) -> int:
    """Set one verdict as a part of an action, merged topics included; return what changed."""
    changed = 0
    for id in here.family(topic):
        wanted = verdict if id == topic else NOTHING
        before = _state(action.db, row, id)
        if before != wanted:
            append(action, row, id, wanted, before, source)
            changed += 1
    return changed


def append(action: Action, row: int, topic: int, verdict: int, before: int, source: str) -> None:
    """Add an event and set the state."""
    db = action.db
    if db.execute("SELECT 1 FROM document WHERE row = ?", (row,)).fetchone() is None:
        raise ProjectError(f"no document with the number {row}. Reload the page")
    cursor = db.execute(
        "INSERT INTO label_event (row, topic, verdict, before, source, at, coder, action)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (row, topic, verdict, before, source, now(), action.by.name, action.id),
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
