"""Loads: each corpus file that was taken over, how much of it, and whether it was finished."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from hierseed.app import schema
from hierseed.app.project import Project, now
from hierseed.app.store import documents
from hierseed.errors import ProjectError


class Load(NamedTuple):
    """One corpus file."""

    id: int
    at: str
    name: str
    arguments: dict[str, Any]
    first_row: int
    total: int
    state: str
    message: str


def begin(project: Project, name: str, arguments: dict[str, Any]) -> int:
    """Write down that a load begins; until `finish` it counts as unfinished."""
    with project.write() as db:
        cursor = db.execute(
            "INSERT INTO load (at, name, arguments, first_row, total, state)"
            " VALUES (?, ?, ?, ?, 0, 'unfinished')",
            (now(), name, json.dumps(arguments), documents.count(project)),
        )
        return int(cursor.lastrowid or 0)


def set_total(project: Project, id: int, total: int) -> None:
    """Write down how many documents the file has."""
    with project.write() as db:
        db.execute("UPDATE load SET total = ? WHERE id = ?", (total, id))


def finish(project: Project, id: int, message: str) -> None:
    """Write down that all of the file is in the project, and which rows were left out."""
    with project.write() as db:
        db.execute("UPDATE load SET state = 'complete', message = ? WHERE id = ?", (message, id))


def every(project: Project) -> list[Load]:
    """All loads that were not discarded, the oldest first."""
    rows = project.db.execute(
        "SELECT id, at, name, arguments, first_row, total, state, message FROM load"
        " WHERE state != 'discarded' ORDER BY id"
    )
    return [Load(r[0], r[1], r[2], json.loads(r[3]), *r[4:]) for r in rows]


def unfinished(project: Project) -> Load | None:
    """The load that was cut off or is running, None where all are complete."""
    return next((load for load in reversed(every(project)) if load.state == "unfinished"), None)


def discard(project: Project, load: Load) -> int:
    """Remove the documents of the last load; return how many.

    The project file is copied first, since decisions about those documents go with them.
    """
    if any(other.id > load.id for other in every(project)):
        raise ProjectError(f"{load.name} is not the last file that was loaded. Discard that first")
    removed = _remove_from(project, load.first_row)
    with project.write() as db:
        db.execute("UPDATE load SET state = 'discarded' WHERE id = ?", (load.id,))
    return removed


def remove_all(project: Project) -> int:
    """Remove every document, with the decisions about them; the project file is copied first."""
    removed = _remove_from(project, 0)
    with project.write() as db:
        db.execute("UPDATE load SET state = 'discarded'")
    project.put("columns", [])
    return removed


def _remove_from(project: Project, first: int) -> int:
    import shutil

    if documents.count(project) <= first:
        return 0
    schema.back_up(project.db, project.path, "before-removal")
    removed = documents.remove_from(project, first)
    # Vectors are made again; a fit of documents that are gone can't be shown any more.
    shutil.rmtree(project.vectors, ignore_errors=True)
    for id, facts in project.db.execute("SELECT id, facts FROM fit").fetchall():
        if json.loads(facts)["documents"] > first:
            with project.write() as db:
                db.execute("DELETE FROM fit WHERE id = ?", (id,))
    return removed
