"""Review: what a topic holds, what does not fit, and corrections that become seeds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from hierseed.app import compare, document_map, fits, metadata, review, vectors
from hierseed.app.cards import cards
from hierseed.app.dense_groups import LEAST
from hierseed.app.pages.decisions import DecisionScreen
from hierseed.app.pages.groups import GroupScreen
from hierseed.app.pages.screen import PAGE, number_in, pages
from hierseed.app.store import documents, edits, topics
from hierseed.app.tree import path_of
from hierseed.errors import ProjectError

SETTLED = "settled_proposals"
ENOUGH = 20  # documents of a topic that is offered for review
SHOWN = 8  # topics in a list of where to look first
SEEDS = 3  # documents of a proposed topic that become its seeds
TABS = ("topic", "map", "time", "changes", "scores")


class Review(DecisionScreen, GroupScreen):
    """Step 5."""

    name, title = "review", "Review"
    source = "review"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.tab = "topic"
        self.kind = "central"
        self.page = 0
        self.why: dict[str, Any] | None = None
        self.before: int | None = None
        self.way: tuple[str, str] | None = None
        self.column = ""
        self.query = ""
        self.inside = ""  # the proposed topic that is looked into

    def selected(self) -> None:
        """Another topic."""
        super().selected()
        self.page, self.why, self.way = 0, None, None
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
            "stale": self._pending(fit),
        }
        show = {"topic": self._topic, "map": self._map, "changes": self._changes,
                "time": self._time}  # fmt: skip
        body = show[self.tab](fit) if self.tab in show else {"scores": fit.facts.get("scores")}
        return {**head, **body}

    def _pending(self, fit: fits.Fit) -> int:
        """Documents decided about, and changes of the taxonomy, that the fit has not seen."""
        db = self.project.db
        at, facts = db.execute("SELECT at, facts FROM fit WHERE id = ?", (fit.id,)).fetchone()
        event = json.loads(facts).get("event")
        since = ("event > ?", event) if event is not None else ("at > ?", at)
        decided = db.execute(
            "SELECT count(DISTINCT g.row) FROM (SELECT row, min(event) AS first,"
            f" max(event) AS last FROM label_event WHERE {since[0]} GROUP BY row, topic) g"
            " JOIN label_event a ON a.event = g.first JOIN label_event b ON b.event = g.last"
            " WHERE a.before != b.verdict",
            (since[1],),
        ).fetchone()[0]
        changed = db.execute(
            "SELECT count(*) FROM change c JOIN action a ON a.id = c.action"
            " WHERE a.state = 'done' AND a.at > ?",
            (fit.facts.get("started", at),),
        ).fetchone()[0]
        return int(decided) + int(changed)

    def _topic(self, fit: fits.Fit) -> dict[str, Any]:
        key, here = self.session.key, topics.current(self.project)
        if not key:
            return self._overview(fit, here)
        placed = fit.placements(here)
        within = self._within()
        found = review.listing(placed, key, self.kind, self.page * PAGE, PAGE, within)
        rows = [int(placed.row[record]) for record in found.records]
        members = placed.members(placed.inside(key))
        return {
            "key": key,
            "path": self.session.path(),
            "listed": key.isdigit(),
            "query": self.query,
            "members": len(members),
            "kind": self.kind,
            "kinds": review.KINDS,
            "words": review.words(fit, here, key),
            "rivals": review.rivals(placed, here, key),
            "expected": fit.expected(here).get(key),
            "cards": cards(self.project, rows, placed=placed, key=key, whole=self.whole),
            "why": self.why,
            "groups": self.groups,
            **self.filter_view(),
            **pages(found.total, self.page),
        }

    def _within(self) -> Any:
        """Rows that pass the filter and have the words searched for; None where all do."""
        rows = metadata.rows_of(self.project, self.filter)
        if not self.query.strip():
            return rows
        hits = documents.rows_with(self.project, self.query)
        return hits if rows is None else np.intersect1d(rows, hits)

    def do_search(self, query: str) -> None:
        """Show only the documents of the topic that have these words."""
        self.query, self.page, self.why = str(query)[:500], 0, None

    def _overview(self, fit: fits.Fit, here: topics.Topics) -> dict[str, Any]:
        """Without a topic: where to look first, and topics that the taxonomy may lack."""
        settled = self.project.get(SETTLED, {})  # 0: dismissed, else the topic it became
        offered = [
            one
            for one in fit.proposals
            if one["id"] not in settled
            or (settled[one["id"]] and settled[one["id"]] not in here.home)  # undone since
        ]
        inside = next((one for one in offered if one["id"] == self.inside), None)
        start = self.page * PAGE
        rows = inside["rows"][start : start + PAGE] if inside else []
        return {
            "key": "",
            "levels": fit.facts.get("expected") or [],
            "least": self._least(fit, here),
            "places": self._places(fit, here),
            "proposals": [self._proposal(one) for one in offered],
            "inside": self.inside if inside else "",
            "cards": cards(self.project, rows, placed=fit.placements(here), whole=self.whole),
            **pages(len(inside["rows"]) if inside else 0, self.page),
        }

    def _proposal(self, one: dict[str, Any]) -> dict[str, Any]:
        central = documents.get(self.project, one["rows"][:3])
        return {
            "id": one["id"], "size": one["size"], "sure": one["sure"], "words": one["words"],
            "parent": one["parent"], "documents": [document.text[:160] for document in central],
        }  # fmt: skip

    def _offered(self, id: str) -> dict[str, Any]:
        fit = self.session.fit
        found = [one for one in (fit.proposals if fit else []) if one["id"] == id]
        if not found:
            raise ProjectError("this proposal is of another fit. Reload the page")
        return found[0]

    def do_inside(self, id: str = "") -> None:
        """Look at the documents of a proposed topic, or leave it."""
        self.inside, self.page = str(id), 0

    def do_take_proposal(self, id: str, name: str) -> None:
        """Make a proposed topic a topic, with its central documents as seeds."""
        one = self._offered(str(id))
        here = topics.current(self.project)
        known = dict(zip(here.taxonomy.paths, here.ids))
        with edits.edit(
            self.project, f"Added the proposed topic {str(name)!r}", self.person
        ) as work:
            new = work.insert(known.get(one["parent"]), str(name).strip())
            work.seed(new, one["rows"][:SEEDS], "proposal")
        self._settle(one["id"], new)
        self.session.notify(
            f"{name} is a topic now, with {SEEDS} seeds. It counts at the next fit."
        )

    def do_dismiss(self, id: str) -> None:
        """Dismiss a proposed topic for good: later fits do not show it again."""
        self._settle(self._offered(str(id))["id"], 0)

    def _settle(self, id: str, topic: int) -> None:
        self.project.put(SETTLED, {**self.project.get(SETTLED, {}), id: topic})
        self.inside = ""

    def _least(self, fit: fits.Fit, here: topics.Topics) -> list[dict[str, Any]]:
        """Topics without topics below them, the lowest expected accuracy first."""
        counts, tree = fit.placements(here).counts_below, here.taxonomy.tree
        leaves = {str(id) for id, is_leaf in zip(here.ids, tree.is_leaf) if is_leaf}
        shares = fit.expected(here)
        enough = [key for key in shares if key in leaves and counts[key] >= ENOUGH]
        return [
            {"key": key, "path": path_of(here, key), "count": counts[key], "right": shares[key]}
            for key in sorted(enough, key=lambda key: shares[key][0])[:SHOWN]
        ]

    def _places(self, fit: fits.Fit, here: topics.Topics) -> list[dict[str, Any]]:
        """The largest groups that no listed topic explains."""
        heaps = [
            (count, key)
            for key, count in fit.placements(here).own_counts.items()
            if not key.isdigit() and count >= LEAST
        ]
        return [
            {"key": key, "path": path_of(here, key), "count": count}
            for count, key in sorted(heaps, reverse=True)[:SHOWN]
        ]

    def _map(self, fit: fits.Fit) -> dict[str, Any]:
        """The islands; the points follow by a request of their own, as packed numbers."""
        here = topics.current(self.project)
        placed = fit.placements(here)
        version = self.project.pulse().topics
        return {
            "map": document_map.islands(fit, here),
            "names": list(placed.taxonomy.names),
            "parents": placed.taxonomy.tree.parent.tolist(),
            "keys": placed.keys,
            "points": f"/workbench/map/{fit.id}?topics={version:.0f}",
            "columns": [entry["name"] for entry in metadata.columns(self.project)],
        }

    def _time(self, fit: fits.Fit) -> dict[str, Any]:
        """Topics over the values of another column of the corpus."""
        names = [entry["name"] for entry in metadata.columns(self.project)]
        column = self.column if self.column in names else _first_time(names)
        placed = fit.placements(topics.current(self.project))
        chart = metadata.over(self.project, placed, column, self.session.key) if column else None
        return {"columns": metadata.columns(self.project), "column": column, "chart": chart}

    def do_column(self, column: str) -> None:
        """Choose the column to go by."""
        self.column = str(column)

    def filtered(self) -> None:
        """Another filter: the list is reset."""
        self.page, self.why = 0, None

    def _changes(self, fit: fits.Fit) -> dict[str, Any]:
        here = topics.current(self.project)
        others = [line.id for line in fits.every(self.project) if line.id != fit.id]
        if not others:
            return {"changes": None, "before": None, "cards": [], **pages(0, 0)}
        earlier = [id for id in others if id < fit.id]
        before = self.before if self.before in others else (earlier or others)[0]
        old = fits.get(self.project, before)
        then, now = old.placements(here), fit.placements(here)
        found = compare.compare(then, now, here)
        rows: list[int] = []
        total = 0
        if self.way:
            start = self.page * PAGE
            rows, total = compare.movers(then, now, *self.way, start, PAGE)
        return {
            "changes": found,
            "before": before,
            "way": list(self.way) if self.way else None,
            "cards": cards(self.project, rows, placed=now, key=self.session.key),
            "scores_before": old.facts.get("scores"),
            "scores_after": fit.facts.get("scores"),
            **pages(total, self.page),
        }

    def where(self) -> dict[str, Any]:
        """Tab, kind, search, filter and page."""
        tab = "" if self.tab == "topic" else self.tab
        kind = "" if self.kind == "central" else self.kind
        column = self.column if self.tab == "time" else ""
        place = {"tab": tab, "kind": kind, "q": self.query, "over": column, "page": self.page}
        return place | self.filter_where()

    def restore(self, query: Mapping[str, str]) -> None:
        """Show what the address says."""
        tab, kind = query.get("tab", "topic"), query.get("kind", "central")
        self.tab = tab if tab in TABS else "topic"
        self.kind = kind if kind in review.KINDS else "central"
        self.query, self.column = query.get("q", "")[:500], query.get("over", self.column)
        self.restore_filter(query)
        self.page, self.why = number_in(query, "page"), None

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

    def do_before(self, fit: int) -> None:
        """Compare with another fit."""
        fits.get(self.project, int(fit))
        self.before, self.way, self.page = int(fit), None, 0

    def do_show(self, fit: int) -> None:
        """Look at another fit."""
        last = fits.last(self.project)
        self.session.fit_id = None if last and last.id == int(fit) else int(fit)
        self.why, self.groups, self.way, self.page = None, None, None, 0

    def do_way(self, origin: str, target: str) -> None:
        """List the documents that went one way."""
        self.way, self.page = (str(origin), str(target)), 0


def _first_time(names: list[str]) -> str:
    """The column that most likely holds a time, else the first one."""
    likely = [name for name in names if name.lower() in ("year", "date", "time", "month")]
    return (likely or names or [""])[0]
