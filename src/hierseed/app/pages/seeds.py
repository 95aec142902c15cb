"""Seeds: find documents for a topic by words, by likeness or by suggestion; one key decides."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hierseed.app import jobs, metadata, review_queue, vectors
from hierseed.app.cards import cards
from hierseed.app.pages.decisions import DecisionScreen
from hierseed.app.pages.screen import PAGE, number_in, pages
from hierseed.app.store import codings, documents, labels, topics
from hierseed.app.suggestions import Suggestion, suggest
from hierseed.errors import ProjectError

MODES = ("suggest", "search", "similar", "mine", "queue")
SIMILAR = 120


class SeedsScreen(DecisionScreen):
    """Step 3."""

    name, title = "seeds", "Seeds"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.mode = "suggest"
        self.query = ""
        self.order = "uncertain"
        self.sharing = False
        self.like: int | None = None
        self.page = 0
        self.found: list[Suggestion] | None = None
        self.found_for: tuple[Any, ...] = ()

    def selected(self) -> None:
        """Another topic: look for its documents, but keep a search that is under way."""
        self.page, self.found = 0, None
        if self.mode == "similar":
            self.mode = "suggest"

    def view(self) -> dict[str, Any]:
        """Show one page of documents for a topic."""
        key, fit = self.session.key, self.session.fit
        space = vectors.space(self.project)
        # Suggestions are looked for again once there are vectors or another fit.
        state = (key, fit.id if fit else None, space is not None)
        if state != self.found_for:
            self.found_for, self.found = state, None
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
            "cards": cards(
                self.project,
                rows,
                placed=self.session.placed,
                key=key,
                reasons=reasons,
                whole=self.whole,
            ),
            "note": note,
            "order": self.order,
            "longest": mode == "queue" and total == review_queue.LONGEST,
            "orders": review_queue.KINDS,
            "sharing": self.sharing,
            "progress": review_queue.progress(self.project, documents.count(self.project))
            if mode == "queue"
            else None,
            **self.filter_view(),
            "fitted": fit is not None,
            "vectors": space is not None,
            "documents": documents.count(self.project),
            **pages(total, self.page),
        }

    def _rows(self, key: str, mode: str) -> tuple[list[int], int, dict[int, str], str]:
        start = self.page * PAGE
        if mode == "search":
            within = metadata.rows_of(self.project, self.filter)
            found = documents.search(
                self.project, self.query, offset=start, limit=PAGE, within=within
            )
            many = found.total > 0 and not found.ranked and bool(self.query.strip())
            note = "Many hits: in the order of the corpus." if many else ""
            return found.rows, found.total, {}, note
        if mode == "mine":
            rows = labels.of_topic(self.project, int(key)) if key.isdigit() else []
            return rows[start : start + PAGE], len(rows), {}, ""
        if self.found is None:
            self.found = self._find(key)
        part = self.found[start : start + PAGE]
        return [row for row, _ in part], len(self.found), dict(part), ""

    def _find(self, key: str) -> list[Suggestion]:
        space = vectors.space(self.project)
        if self.mode == "queue":
            return [(row, "") for row in self._queue(key)]
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
            return suggest(self.project, space, self.session.placed, int(key))
        fit = self.session.fit
        if fit is None or key:
            return []
        decided = {*labels.seeds(self.project), *labels.whole(self.project, labels.NONE_OF_THESE)}
        decided.update(labels.whole(self.project, labels.UNSURE))
        found = [(row, reason) for row, reason in fit.suggestions if row not in decided]
        return [(row, f"{reason[:1].upper()}{reason[1:]}") for row, reason in found]

    def _queue(self, key: str) -> list[int]:
        coders = codings.coders(self.project)
        share = (0, 1)
        if self.sharing and self.person.name in coders:
            share = (coders.index(self.person.name), len(coders))
        return review_queue.queue(
            self.project, self.session.placed, documents.count(self.project), self.order, key=key,
            within=metadata.rows_of(self.project, self.filter), share=share,
        )  # fmt: skip

    def filtered(self) -> None:
        """Another filter: the list is reset."""
        self.page, self.found = 0, None
        if self.mode not in ("queue", "search"):
            self.mode = "search"

    def do_queue(self, order: str | None = None, sharing: bool | None = None) -> None:
        """Show a queue of all documents, in the order chosen."""
        if order in review_queue.KINDS:
            self.order = str(order)
        if sharing is not None:
            self.sharing = bool(sharing)
        self.mode, self.page, self.found = "queue", 0, None

    def _like_title(self) -> str:
        if self.mode != "similar" or self.like is None:
            return ""
        found = documents.get(self.project, [self.like])
        return found[0].id if found else ""

    def where(self) -> dict[str, Any]:
        """Mode, search, filter and page."""
        mode = "" if self.mode == "suggest" else self.mode
        like = self.like if self.mode == "similar" else ""
        order = self.order if self.mode == "queue" else ""
        place = {"mode": mode, "q": self.query, "like": like, "order": order, "page": self.page}
        return place | self.filter_where()

    def restore(self, query: Mapping[str, str]) -> None:
        """Show what the address says."""
        mode, like = query.get("mode", "suggest"), query.get("like", "")
        self.mode = mode if mode in MODES else "suggest"
        self.query, self.page = query.get("q", "")[:500], number_in(query, "page")
        self.like = int(like) if like.isdigit() else None
        if self.mode == "similar" and self.like is None:
            self.mode = "suggest"
        order = query.get("order", "uncertain")
        self.order = order if order in review_queue.KINDS else "uncertain"
        self.restore_filter(query)
        self.found = None

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
        """Turn the page; after the last page of the queue comes what is still undecided."""
        self.page = max(0, int(page))
        if self.mode == "queue" and self.found and self.page * PAGE >= len(self.found):
            self.page, self.found = 0, None

    def do_prepare(self) -> None:
        """Make the vectors that likeness needs."""
        jobs.start(self.project, "embed")

    def do_refresh(self) -> None:
        """Ask for new suggestions."""
        self.found, self.page = None, 0
