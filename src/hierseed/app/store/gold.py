"""Expert labels: what fits are scored against. A fit never sees them."""

from __future__ import annotations

from collections.abc import Iterable

from hierseed.app.project import Project
from hierseed.app.store import topics
from hierseed.app.store.actions import Action


def write(action: Action, given: Iterable[tuple[int, int]], *, replace: bool) -> None:
    """Write expert labels as a part of an action, beside the present ones or in their place."""
    wanted = {(int(row), int(topic)) for row, topic in given}
    present = set(action.db.execute("SELECT row, topic FROM gold WHERE live"))
    if replace:
        action.switch("gold", sorted(present - wanted), live=False)
    fresh = sorted(wanted - present)
    action.db.executemany("INSERT OR IGNORE INTO gold VALUES (?, ?, 0)", fresh)
    action.switch("gold", fresh, live=True)


def pairs(project: Project) -> list[tuple[int, int]]:
    """Row and topic of each expert label, without those of deleted topics."""
    home = topics.current(project).home
    rows = project.db.execute("SELECT row, topic FROM gold WHERE live ORDER BY row, topic")
    return [(row, home[topic]) for row, topic in rows if topic in home]
