"""Taxonomy: change the tree and its codebook; every change can be undone."""

from __future__ import annotations

from typing import Any

from hierseed.app.pages.groups import GroupScreen
from hierseed.app.review import words
from hierseed.app.store import actions, edits, labels, memos, topics
from hierseed.errors import ProjectError
from hierseed.io.taxonomies import FORMATS


class TaxonomyScreen(GroupScreen):
    """Step 2."""

    name, title = "taxonomy", "Taxonomy"

    def view(self) -> dict[str, Any]:
        """Show the topic that is selected, and what was changed last."""
        here = topics.current(self.project)
        key = self.session.key
        topic = None
        if key.isdigit() and int(key) in here.place:
            found = topics.get(self.project, here.home[int(key)])
            topic = {
                "id": found.id,
                "name": found.name,
                "path": here.path(found.id),
                "parent": str(found.parent) if found.parent else "",
                **{field: getattr(found, field) for field in edits.WRITTEN},
                "version": found.version,
                "children": len(topics.children(self.project, found.id)),
                "seeds": labels.counts(self.project).get(found.id, 0),
                "words": words(self.session.fit, here, key) if self.session.fit else [],
                "memos": memos.of_topic(self.project, found.id),
            }
        return {
            "topic": topic,
            "topics": len(here.taxonomy),
            "changes": actions.history(self.project),
            "formats": [{"name": f.name, "title": f.title} for f in FORMATS.values()],
            "groups": self.groups,
            "can_split": self.session.fit is not None,
        }

    def do_add(self, name: str, below: bool = True, topic: str | None = None) -> None:
        """Add a topic below another one (the one selected unless named), or at level 1."""
        parent = self.topic_id(topic) if topic or (below and self.session.key) else None
        id = edits.add(self.project, parent, str(name), by=self.person)
        self.session.select(str(id))

    def do_rename(self, name: str, seen: str | None = None, topic: str | None = None) -> None:
        """Give a topic (the selected one unless named) another name."""
        edits.rename(self.project, self.topic_id(topic), str(name), seen=seen, by=self.person)

    def do_describe(
        self, description: str, field: str = "description", seen: str | None = None
    ) -> None:
        """Write one text of the codebook for the selected topic."""
        edits.describe(
            self.project, self.topic_id(), str(description), field=str(field), seen=seen,
            by=self.person,
        )  # fmt: skip

    def do_memo(self, text: str) -> None:
        """Write a memo on the selected topic."""
        memos.add(self.project, "topic", self.topic_id(), str(text), self.person)

    def do_forget_memo(self, memo: int) -> None:
        """Remove a memo."""
        memos.remove(self.project, int(memo))

    def do_move(self, to: str, topic: str | None = None) -> None:
        """Move a topic (the selected one unless named) below another one; "" is the top."""
        parent = self.topic_id(to) if to else None
        id = self.topic_id(topic)
        edits.move(self.project, id, parent, by=self.person)
        path = topics.current(self.project).path(id)
        self.session.notify(f"It is {path} now. Undo reverts it.")

    def do_merge(self, to: str, topic: str | None = None) -> None:
        """Merge a topic (the selected one unless named) into another one."""
        target = self.topic_id(to)
        edits.merge(self.project, self.topic_id(topic), target, by=self.person)
        self.session.select(str(target))

    def do_delete(self, topic: str | None = None) -> None:
        """Take a topic (the selected one unless named), and all below it, out of the tree."""
        count = edits.delete(self.project, self.topic_id(topic), by=self.person)
        more = f", with {count - 1} below it" if count > 1 else ""
        if topic in (None, self.session.key):
            self.session.key = ""
        self.session.notify(f"Deleted{more}. Undo restores it with its labels.")

    def do_split(self, names: list[str]) -> None:
        """Give the selected topic children."""
        wanted = [str(name).strip() for name in names if str(name).strip()]
        if len(wanted) < 1:
            raise ProjectError("write one name per line for the new subtopics")
        edits.split(self.project, self.topic_id(), wanted, by=self.person)
