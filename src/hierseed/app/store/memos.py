"""Memos: notes of coders on documents and on topics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hierseed.app.project import Project, now
from hierseed.app.store.actions import ANYONE, Person
from hierseed.errors import ProjectError

LONGEST = 10_000  # letters of a memo


def add(project: Project, kind: str, target: int, text: str, by: Person = ANYONE) -> int:
    """Write a memo on a document or a topic."""
    text = text.strip()[:LONGEST]
    if not text:
        raise ProjectError("the memo is empty. Write something, then save it")
    with project.write() as db:
        cursor = db.execute(
            "INSERT INTO memo (kind, target, coder, text, at) VALUES (?, ?, ?, ?, ?)",
            (kind, target, by.name, text, now()),
        )
        return int(cursor.lastrowid or 0)


def remove(project: Project, id: int) -> None:
    """Hide a memo; it stays in the file."""
    with project.write() as db:
        db.execute("UPDATE memo SET live = 0 WHERE id = ?", (id,))


def of_documents(project: Project, rows: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    """Memos on documents, by row."""
    return _read(project, "document", rows)


def of_topic(project: Project, topic: int) -> list[dict[str, Any]]:
    """Memos on one topic, the oldest first."""
    return _read(project, "topic", [topic]).get(topic, [])


def _read(project: Project, kind: str, targets: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    query = (
        "SELECT id, target, coder, text, at FROM memo WHERE target IN (%s) AND kind = ? AND live"
        " ORDER BY id"
    )
    found: dict[int, list[dict[str, Any]]] = {}
    for id, target, coder, text, at in project.some(query, list(map(int, targets)), kind):
        found.setdefault(target, []).append({"id": id, "coder": coder, "text": text, "at": at})
    return found
