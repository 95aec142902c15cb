"""Seeds: find documents for a topic by words, by likeness or by suggestion; one key decides."""

from __future__ import annotations

from typing import Any

from hierseed.app import jobs, vectors
from hierseed.app.cards import cards
from hierseed.app.pages.screen import PAGE, Screen, pages
from hierseed.app.store import documents, labels, topics
from hierseed.app.suggesting import Suggestion, suggest
from hierseed.errors import ProjectError

MODES = ("suggest", "search", "similar", "mine")
SIMILAR = 120


class SeedsScreen(Screen):
    """Step 3."""

    name, title = "seeds", "Seeds"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.mode = "suggest"
        self.query = ""
        self.like: int | None = None
        self.page = 0
        self.found: list[Suggestion] | None = None

    def selected(self) -> None:
        """Another topic: look for its documents, but keep a search that is under way."""
        self.page, self.found = 0, None
        if self.mode == "similar":
            self.mode = "suggest"

    def view(self) -> dict[str, Any]:
        """Show one page of documents for a topic."""
        key, fit = self.session.key, self.session.fit
        nothing_to_suggest_by = self.mode == "suggest" and not key and fit is None
        mode = "search" if nothing_to_suggest_by else self.mode
        rows, total, reasons, note = self._rows(key, mode)
        here = topics.current(self.project)
        topic = None
        if key.isdigit() and int(key) in here.place:
            place = here.place[int(key)]
            topic = {
                "key": key,
                "path": here.taxonomy.paths[place],
                "description": here.taxonomy.descriptions[place],
                "seeds": labels.counts(self.project).get(int(key), 0),
                "leaf": bool(here.taxonomy.tree.is_leaf[place]),
            }
        return {
            "topic": topic,
            "mode": mode,
            "query": self.query,
            "like": self._like_title(),
            "cards": cards(self.project, rows, fit=fit, key=key, reasons=reasons),
            "note": note,
            "fitted": fit is not None,
            "vectors": vectors.space(self.project) is not None,
            "documents": documents.count(self.project),
            **pages(total, self.page),
        }

    def _rows(self, key: str, mode: str) -> tuple[list[int], int, dict[int, str], str]:
        start = self.page * PAGE
        if mode == "search":
            found = documents.search(self.project, self.query, offset=start, limit=PAGE)
            plain = (
                "" if found.ranked or not self.query else "Many hits: in the order of the corpus."
            )
            return found.rows, found.total, {}, plain
        if mode == "mine":
            rows = labels.of_topic(self.project, int(key)) if key.isdigit() else []
            return rows[start : start + PAGE], len(rows), {}, ""
        if self.found is None:
            self.found = self._find(key)
        part = self.found[start : start + PAGE]
        return [row for row, _ in part], len(self.found), dict(part), ""

    def _find(self, key: str) -> list[Suggestion]:
        space = vectors.space(self.project)
        if self.mode == "similar" and self.like is not None:
            if space is None:
                raise ProjectError("the documents have no vectors yet. Prepare them first")
            rows, nearness = space.similar(space.X[self.like], SIMILAR)
            return [
                (int(row), f"{near:.0%} alike")
                for row, near in zip(rows, nearness)
                if row != self.like
            ]
        if key.isdigit() and int(key) in topics.current(self.project).place:
            return suggest(self.project, space, self.session.fit, int(key))
        fit = self.session.fit
        if fit is None or key:
            return []
        said = labels.seeds(self.project)
        return [(row, reason) for row, reason in fit.suggestions if row not in said]

    def _like_title(self) -> str:
        if self.mode != "similar" or self.like is None:
            return ""
        found = documents.get(self.project, [self.like])
        return found[0].id if found else ""

    def do_mode(self, mode: str) -> None:
        """Suggestions, search, or the seeds that are there."""
        if mode in MODES:
            self.mode, self.page, self.found = mode, 0, None

    def do_search(self, query: str) -> None:
        """Find documents by words."""
        self.mode, self.query, self.page = "search", str(query)[:500], 0

    def do_similar(self, row: int) -> None:
        """Find documents like one."""
        self.mode, self.like, self.page, self.found = "similar", int(row), 0, None

    def do_page(self, page: int) -> None:
        """Turn the page."""
        self.page = max(0, int(page))

    def do_say(self, row: int, verdict: int, key: str, seen: int | None = None) -> None:
        """Accept, reject or withdraw a document for a topic."""
        if verdict not in (labels.YES, labels.NO, labels.NOTHING):
            raise ProjectError("a verdict is yes, no or nothing. Reload the page")
        labels.say(self.project, int(row), self.topic_id(key), verdict, seen=seen)

    def do_put(self, row: int, key: str) -> None:
        """Make a document a seed of another topic."""
        id = self.topic_id(key)
        labels.say(self.project, int(row), id, labels.YES)
        self.session.say(f"A seed of {topics.current(self.project).path(id)} now.")

    def do_take_back(self) -> None:
        """Undo the last verdict."""
        if labels.take_back(self.project) is None:
            raise ProjectError("nothing was said yet")
        self.session.say("Taken back.")

    def do_prepare(self) -> None:
        """Make the vectors that likeness needs."""
        jobs.start(self.project, "embed")

    def do_refresh(self) -> None:
        """Ask for new suggestions."""
        self.found, self.page = None, 0
