"""Taxonomy: change the tree; ids are for life, and every change can be undone."""

from __future__ import annotations

from typing import Any

import numpy as np

from hierseed.app import vectors
from hierseed.app.pages.screen import Screen
from hierseed.app.parts import dense_parts
from hierseed.app.review import words
from hierseed.app.store import edits, labels, topics
from hierseed.app.tree import inside
from hierseed.errors import ProjectError
from hierseed.io.taxonomies import FORMATS

CHANGES = 12


class TaxonomyScreen(Screen):
    """Step 2."""

    name, title = "taxonomy", "Taxonomy"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.parts: list[dict[str, Any]] = []

    def selected(self) -> None:
        """Another topic: what was proposed for the last one is of no use."""
        self.parts = []

    def view(self) -> dict[str, Any]:
        """Show the topic that is selected, and what was changed last."""
        here = topics.current(self.project)
        changes = self.project.db.execute(
            "SELECT id, at, what FROM change WHERE NOT undone ORDER BY id DESC LIMIT ?", (CHANGES,)
        ).fetchall()
        key = self.session.key
        topic = None
        if key.isdigit() and int(key) in here.place:
            found = topics.get(self.project, here.home[int(key)])
            topic = {
                "id": found.id,
                "name": found.name,
                "path": here.path(found.id),
                "parent": str(found.parent) if found.parent else "",
                "description": found.description,
                "code": found.code,
                "version": found.version,
                "children": len(topics.children(self.project, found.id)),
                "seeds": labels.counts(self.project).get(found.id, 0),
                "words": words(self.session.fit, here, key) if self.session.fit else [],
            }
        return {
            "topic": topic,
            "topics": len(here.taxonomy),
            "changes": [{"id": id, "at": at, "what": what} for id, at, what in changes],
            "redo": edits.next_change(self.project),
            "formats": [{"name": f.name, "title": f.title} for f in FORMATS.values()],
            "parts": self.parts,
            "can_split": self.session.fit is not None,
        }

    def do_add(self, name: str, below: bool = True) -> None:
        """Add a topic below the one selected, or at level 1."""
        parent = self.topic_id() if below and self.session.key else None
        id = edits.add(self.project, parent, str(name))
        self.session.select(str(id))

    def do_rename(self, name: str) -> None:
        """Give the selected topic another name."""
        edits.rename(self.project, self.topic_id(), str(name))

    def do_describe(self, description: str) -> None:
        """Say what the selected topic is about."""
        edits.describe(self.project, self.topic_id(), str(description))

    def do_move(self, to: str) -> None:
        """Hang the selected topic under another one; "" is the top."""
        edits.move(self.project, self.topic_id(), self.topic_id(to) if to else None)

    def do_merge(self, to: str) -> None:
        """Merge the selected topic into another one."""
        target = self.topic_id(to)
        edits.merge(self.project, self.topic_id(), target)
        self.session.select(str(target))

    def do_delete(self) -> None:
        """Take the selected topic, and all below it, out of the tree."""
        count = edits.delete(self.project, self.topic_id())
        more = f", with {count - 1} below it" if count > 1 else ""
        self.session.key = ""
        self.session.say(f"Deleted{more}. Undo brings it back, labels and all.")

    def do_split(self, names: list[str]) -> None:
        """Give the selected topic children."""
        wanted = [str(name).strip() for name in names if str(name).strip()]
        if len(wanted) < 1:
            raise ProjectError("write one name a line for the new topics below this one")
        edits.split(self.project, self.topic_id(), wanted)

    def do_propose(self) -> None:
        """Look for dense parts of the selected topic's documents."""
        fit, space = self.session.fit, vectors.space(self.project)
        if fit is None or space is None:
            raise ProjectError("a split is proposed from a fit. Fit once, then come back")
        within = inside(fit, topics.current(self.project), self.session.key)
        rows = np.unique(fit.row[fit.members(within)])
        self.parts = dense_parts(self.project, space, rows)
        if not self.parts:
            self.session.say("This topic holds too few documents to see parts in it.")

    def do_take_part(self, number: int, name: str) -> None:
        """Make a proposed part a topic below this one, with its first documents as seeds."""
        part = self.parts[int(number)]
        id = edits.add(self.project, self.topic_id(), str(name))
        labels.load(self.project, [(d["row"], id) for d in part["documents"][:3]], "part")
        self.parts = [other for i, other in enumerate(self.parts) if i != int(number)]

    def do_undo(self, expected: int | None = None) -> None:
        """Take back the last change."""
        self.session.say(f"Undone: {edits.undo(self.project, expected)}")

    def do_redo(self, expected: int | None = None) -> None:
        """Bring back what was undone last."""
        self.session.say(f"Done again: {edits.redo(self.project, expected)}")
