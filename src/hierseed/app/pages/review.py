"""Review: what a topic holds, what does not fit, and corrections that become seeds."""

from __future__ import annotations

from typing import Any

import numpy as np

from hierseed.app import compare, fits, review, vectors
from hierseed.app.cards import cards
from hierseed.app.pages.screen import PAGE, Screen, pages
from hierseed.app.parts import LEAST, dense_parts
from hierseed.app.store import edits, labels, topics
from hierseed.app.tree import inside, own_counts, path_of
from hierseed.errors import ProjectError

TABS = ("topic", "map", "changes", "scores")


class Review(Screen):
    """Step 5."""

    name, title = "review", "Review"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.tab = "topic"
        self.kind = "central"
        self.page = 0
        self.why: dict[str, Any] | None = None
        self.parts: list[dict[str, Any]] | None = None
        self.before: int | None = None
        self.way: tuple[str, str] | None = None

    def selected(self) -> None:
        """Another topic."""
        self.page, self.why, self.parts, self.way = 0, None, None, None
        self.tab = "topic"

    def view(self) -> dict[str, Any]:
        """Show the tab that is open."""
        fit = self.session.fit
        if fit is None:
            return {"fit": None}
        earlier = [line.id for line in fits.every(self.project)]
        head = {
            "fit": fit.id,
            "fits": earlier,
            "tab": self.tab,
            "documents": fit.n,
            "coverage": fit.facts["coverage"],
            "has_scores": bool(fit.facts.get("scores")),
            "stale": self._stale(fit),
        }
        show = {"topic": self._topic, "map": self._map, "changes": self._changes}
        body = show[self.tab](fit) if self.tab in show else {"scores": fit.facts.get("scores")}
        return {**head, **body}

    def _stale(self, fit: fits.Fit) -> int:
        """Seeds given since the fit: they count at the next one."""
        at = self.project.db.execute("SELECT at FROM fit WHERE id = ?", (fit.id,)).fetchone()[0]
        row = self.project.db.execute(
            "SELECT count(*) FROM label_event WHERE at > ? AND source != 'file'", (at,)
        ).fetchone()
        return int(row[0])

    def _topic(self, fit: fits.Fit) -> dict[str, Any]:
        key, here = self.session.key, topics.current(self.project)
        if not key:
            return {"key": "", "cards": [], "places": self._places(fit, here), **pages(0, 0)}
        found = review.listing(fit, here, key, self.kind, self.page * PAGE, PAGE)
        rows = [int(fit.row[record]) for record in found.records]
        return {
            "key": key,
            "path": self.session.path(),
            "listed": key.isdigit(),
            "kind": self.kind,
            "kinds": review.KINDS,
            "words": review.words(fit, here, key),
            "rivals": review.rivals(fit, here, key),
            "cards": cards(self.project, rows, fit=fit, key=key),
            "why": self.why,
            "parts": self.parts,
            **pages(found.total, self.page),
        }

    def _places(self, fit: fits.Fit, here: topics.Topics) -> list[dict[str, Any]]:
        """Where to look first: the largest heaps that no listed topic explains."""
        heaps = [
            (count, key)
            for key, count in own_counts(fit, here).items()
            if not key.isdigit() and count >= LEAST
        ]
        return [
            {"key": key, "path": path_of(here, key), "count": count}
            for count, key in sorted(heaps, reverse=True)[:8]
        ]

    def _map(self, fit: fits.Fit) -> dict[str, Any]:
        data = fit.report
        return {"map": data["map"], "docs": data["docs"], "names": data["topics"]["name"],
                "parents": data["topics"]["parent"], "keys": fit.keys}  # fmt: skip

    def _changes(self, fit: fits.Fit) -> dict[str, Any]:
        here = topics.current(self.project)
        others = [line.id for line in fits.every(self.project) if line.id != fit.id]
        if not others:
            return {"changes": None, "before": None, "cards": [], **pages(0, 0)}
        earlier = [id for id in others if id < fit.id]
        before = self.before if self.before in others else (earlier or others)[0]
        old = fits.get(self.project, before)
        found = compare.compare(old, fit, here)
        rows: list[int] = []
        total = 0
        if self.way:
            start = self.page * PAGE
            rows, total = compare.movers(old, fit, here, *self.way, start, PAGE)
        return {
            "changes": found,
            "before": before,
            "way": list(self.way) if self.way else None,
            "cards": cards(self.project, rows, fit=fit, key=self.session.key),
            "scores_before": old.facts.get("scores"),
            "scores_after": fit.facts.get("scores"),
            **pages(total, self.page),
        }

    # ---------------------------------------------------------------- actions

    def do_tab(self, tab: str) -> None:
        """Open another tab."""
        if tab in TABS:
            self.tab, self.page = tab, 0

    def do_kind(self, kind: str) -> None:
        """Central, borderline, odd or all."""
        if kind in review.KINDS:
            self.kind, self.page, self.why = kind, 0, None

    def do_page(self, page: int) -> None:
        """Turn the page."""
        self.page, self.why = max(0, int(page)), None

    def do_why(self, row: int) -> None:
        """Explain why a document is here."""
        fit, space = self.session.fit, vectors.space(self.project)
        if fit is None or space is None or not 0 <= int(row) < fit.n:
            raise ProjectError("the document is newer than the fit. Fit again first")
        self.why = {"row": int(row), **review.why(self.project, fit, space, int(row))}

    def do_put(self, row: int, key: str) -> None:
        """Correct a document: it becomes a seed of this topic, and of no other."""
        id = self.topic_id(key)
        labels.correct(self.project, int(row), id)
        path = topics.current(self.project).path(id)
        self.session.say(f"A seed of {path} now. It counts at the next fit.")

    def do_say(self, row: int, verdict: int, key: str, seen: int | None = None) -> None:
        """Confirm a document for a topic, reject it, or withdraw."""
        if verdict not in (labels.YES, labels.NO, labels.NOTHING):
            raise ProjectError("a verdict is yes, no or nothing. Reload the page")
        labels.say(self.project, int(row), self.topic_id(key), verdict, seen=seen, source="review")

    def do_take_back(self) -> None:
        """Undo the last verdict."""
        if labels.take_back(self.project) is None:
            raise ProjectError("nothing was said yet")
        self.session.say("Taken back.")

    def do_parts(self) -> None:
        """Look for new topics among the documents shown."""
        fit, space = self.session.fit, vectors.space(self.project)
        if fit is None or space is None:
            raise ProjectError("fit once first")
        within = inside(fit, topics.current(self.project), self.session.key)
        rows = np.unique(fit.row[fit.members(within)])
        self.parts = dense_parts(self.project, space, rows)

    def do_take_part(self, number: int, name: str) -> None:
        """Make a proposed part a topic where it was found, with its first documents as seeds."""
        part = (self.parts or [])[int(number)]
        head, _, parent = self.session.key.rpartition("-")
        above = int(parent) if (head or parent.isdigit()) and parent not in ("0", "none") else None
        id = edits.add(self.project, above, str(name))
        labels.load(self.project, [(d["row"], id) for d in part["documents"][:3]], "part")
        self.parts = [other for i, other in enumerate(self.parts or []) if i != int(number)]
        self.session.say(f"{name} is a topic now, with three seeds. It counts at the next fit.")

    def do_before(self, fit: int) -> None:
        """Compare with another fit."""
        fits.get(self.project, int(fit))
        self.before, self.way, self.page = int(fit), None, 0

    def do_show(self, fit: int) -> None:
        """Look at another fit."""
        last = fits.last(self.project)
        self.session.fit_id = None if last and last.id == int(fit) else int(fit)
        self.why, self.parts, self.way, self.page = None, None, None, 0

    def do_way(self, origin: str, target: str) -> None:
        """List the documents that went one way."""
        self.way, self.page = (str(origin), str(target)), 0
