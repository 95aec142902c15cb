"""Groups among the documents of the selected topic, which can become topics of their own."""

from __future__ import annotations

from typing import Any

import numpy as np

from hierseed.app import vectors
from hierseed.app.dense_groups import dense_groups
from hierseed.app.pages.screen import Screen
from hierseed.app.store import edits, topics
from hierseed.errors import ProjectError


class GroupScreen(Screen):
    """A screen that offers such groups."""

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.groups: list[dict[str, Any]] | None = None  # None: not looked for yet

    def selected(self) -> None:
        """Another topic: groups of the last one are of no use."""
        self.groups = None

    def do_groups(self) -> None:
        """Look for groups among the documents of the selected topic."""
        fit, space = self.session.fit, vectors.space(self.project)
        if fit is None or space is None:
            raise ProjectError("groups are found in a fit. Fit once, then come back")
        placed = fit.placements(topics.current(self.project))
        rows = np.unique(placed.row[placed.members(placed.inside(self.session.key))])
        self.groups = dense_groups(self.project, space, rows)

    def do_take_group(self, number: int, name: str) -> None:
        """Make a group a topic below the selected one, with its first documents as seeds."""
        group = (self.groups or [])[int(number)]
        parent = self.session.key.rpartition("-")[2]  # of an Other: the topic that it is below
        above = int(parent) if parent.isdigit() and parent != "0" else None
        what = f"Added {str(name)!r} with its first documents"
        with edits.edit(self.project, what, self.person) as work:
            id = work.insert(above, str(name).strip())
            work.seed(id, [document["row"] for document in group["documents"][:3]], "part")
        self.groups = [other for other in self.groups or [] if other is not group]
        self.session.notify(f"{name} is a topic now, with three seeds. It counts at the next fit.")
