"""Validate: a sample that several people code, their agreement, and how right the fit is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hierseed.app import validation
from hierseed.app.pages.screen import Screen, number_in
from hierseed.app.store import codings, documents, topics
from hierseed.app.store.codings import Code, Sample
from hierseed.app.tree import path_of
from hierseed.errors import ProjectError

TABS = ("code", "agreement", "adjudicate", "accuracy")
RECENT = 8  # topics offered again, the last used first
LARGEST = 5_000  # documents of a sample


class CodeScreen(Screen):
    """Step 6."""

    name, title = "code", "Validate"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.sample: int | None = None
        self.tab = "code"
        self.at: int | None = None  # the position of the document that is coded; None: the next
        self.wanted = 0.8

    def where(self) -> dict[str, Any]:
        """Sample, tab and position."""
        tab = "" if self.tab == "code" else self.tab
        return {"sample": self.sample or "", "tab": tab, "at": "" if self.at is None else self.at}

    def restore(self, query: Mapping[str, str]) -> None:
        """Show what the address says."""
        wanted = number_in(query, "sample")
        known = {sample.id for sample in codings.samples(self.project)}
        self.sample = wanted if wanted in known else None
        tab, at = query.get("tab", "code"), query.get("at", "")
        self.tab = tab if tab in TABS else "code"
        self.at = int(at) if at.isdigit() else None

    def view(self) -> dict[str, Any]:
        """Show the samples, or the one that is open."""
        coder = self.person.name
        found = codings.samples(self.project)
        if self.sample is None:
            return {
                "sample": None,
                "coder": coder,
                "samples": [self._line(sample) for sample in found],
                "documents": documents.count(self.project),
                "columns": self.project.get("columns", []),
                "fitted": self.session.fit is not None,
            }
        sample = codings.get(self.project, self.sample)
        show = {"code": self._code, "agreement": self._agreement, "adjudicate": self._adjudicate}
        body = show[self.tab](sample) if self.tab in show else self._accuracy(sample)
        return {"sample": self._line(sample), "coder": coder, "tab": self.tab, **body}

    def _line(self, sample: Sample) -> dict[str, Any]:
        rows = codings.rows(self.project, sample.id)
        codes = codings.codes(self.project, sample.id)
        by_coder: dict[str, int] = {}
        for code in codes:
            if not code.final:
                by_coder[code.coder] = by_coder.get(code.coder, 0) + 1
        return {
            "id": sample.id, "name": sample.name, "at": sample.at, "size": len(rows),
            "kind": sample.facts["kind"], "coders": by_coder,
        }  # fmt: skip

    # ---------------------------------------------------------------- coding

    def _mine(self, sample: Sample) -> dict[int, Code]:
        return {
            code.row: code
            for code in codings.codes(self.project, sample.id)
            if code.coder == self.person.name and not code.final
        }

    def _code(self, sample: Sample) -> dict[str, Any]:
        """One document, without what the fit, other coders or columns not chosen say of it."""
        rows = [row for row, _ in codings.rows(self.project, sample.id)]
        mine = self._mine(sample)
        at = self.at
        if at is None or at >= len(rows):
            at = next((i for i, row in enumerate(rows) if row not in mine), None)
        if at is None:
            return {"document": None, "done": len(mine), "total": len(rows)}
        row = rows[at]
        document = documents.get(self.project, [row])[0]
        columns = documents.columns_of(self.project, [row]).get(row, {})
        return {
            "document": {
                "row": row,
                "id": document.id,
                "text": document.text,
                "columns": {
                    name: columns[name]
                    for name in sample.facts.get("columns", [])
                    if name in columns
                },
            },
            "at": at,
            "done": len(mine),
            "total": len(rows),
            "code": self._code_view(mine.get(row)),
            "recent": self._recent(mine),
            "book": self._book(),
        }

    def _recent(self, mine: dict[int, Code]) -> list[dict[str, str]]:
        here = topics.current(self.project)
        used = dict.fromkeys(id for code in reversed(list(mine.values())) for id in code.topics)
        return [{"key": str(id), "path": here.path(id)} for id in list(used)[:RECENT]]

    def _book(self) -> dict[str, Any] | None:
        """The codebook's entry of the topic that is selected in the tree."""
        here, key = topics.current(self.project), self.session.key
        if not key.isdigit() or int(key) not in here.place:
            return None
        topic = topics.get(self.project, here.home[int(key)])
        return {
            "key": str(topic.id),
            "path": here.path(topic.id),
            "description": topic.description,
            "include": topic.include,
            "exclude": topic.exclude,
            "notes": topic.notes,
        }

    def _code_view(self, code: Code | None) -> dict[str, Any] | None:
        if code is None:
            return None
        here = topics.current(self.project)
        paths = [{"key": str(id), "path": here.path(id)} for id in code.topics]
        return {"decision": code.decision, "topics": paths, "coder": code.coder}

    # ---------------------------------------------------------------- results

    def _agreement(self, sample: Sample) -> dict[str, Any]:
        return {"agreement": validation.agreement(self.project, sample)}

    def _adjudicate(self, sample: Sample) -> dict[str, Any]:
        rows = validation.disagreements(self.project, sample)
        codes = codings.codes(self.project, sample.id)
        shown = documents.get(self.project, rows[:12])
        return {
            "open": len(rows),
            "cards": [
                {
                    "row": document.row,
                    "id": document.id,
                    "text": document.text,
                    "codes": [
                        self._code_view(code)
                        for code in codes
                        if code.row == document.row and not code.final
                    ],
                }
                for document in shown
            ],
        }

    def _accuracy(self, sample: Sample) -> dict[str, Any]:
        fit = self.session.fit
        if fit is None:
            return {"accuracy": None}
        placed = fit.placements(topics.current(self.project))
        found = validation.accuracy(self.project, sample, placed, self.wanted)
        agreed = validation.agreement(self.project, sample)
        method = f"method {fit.facts['method']}, vectors of {fit.facts['embedder']}"
        text = validation.paragraph(sample, agreed, found, fit.id, method)
        return {"accuracy": found, "fit": fit.id, "paragraph": text if found["coded"] else ""}

    # ---------------------------------------------------------------- actions

    def do_draw(
        self, size: int, kind: str, name: str = "", seed: int = 0, columns: Sequence[str] = ()
    ) -> None:
        """Draw a sample, at random or by the topics of the fit.

        Coders see the texts and these columns; any other may hold labels, and is hidden.
        """
        size, seed = min(max(int(size), 1), LARGEST), int(seed)
        population = documents.count(self.project)
        shown = [one for one in self.project.get("columns", []) if one in columns]
        facts: dict[str, Any] = {
            "kind": kind, "random_state": seed, "population": population, "columns": shown,
        }  # fmt: skip
        if kind == "strata":
            fit = self.session.fit
            if fit is None:
                raise ProjectError("strata are the topics of a fit. Fit first, or draw at random")
            here = topics.current(self.project)
            placed = fit.placements(here)
            top = placed.path[placed.primary][:, 0]
            names = [path_of(here, placed.keys[int(topic)]) for topic in top]
            drawn, facts["strata"] = codings.draw_strata(names, size, seed)
            facts |= {"fit": fit.id, "population": fit.n}
        elif kind == "random":
            drawn = codings.draw_random(self.project, size, seed)
        else:
            raise ProjectError("a sample is drawn at random or by strata. Reload the page")
        facts["size"] = len(drawn)
        title = str(name).strip() or f"Sample of {len(drawn)}"
        self.sample = codings.create(self.project, title, drawn, facts, self.person.name)
        self.tab, self.at = "code", None

    def do_open(self, sample: int | None = None) -> None:
        """Open a sample, or go back to the list."""
        self.sample = codings.get(self.project, int(sample)).id if sample else None
        self.tab, self.at = "code", None

    def do_tab(self, tab: str) -> None:
        """Open another tab."""
        if tab in TABS:
            self.tab = tab

    def do_at(self, at: int) -> None:
        """Show the document at a position."""
        self.at = max(0, int(at))

    def do_code(self, row: int, decision: str, keys: Sequence[str] = ()) -> None:
        """Code a document, then show the next one that is not coded yet."""
        ids = [self.topic_id(key) for key in keys]
        codings.code(self.project, self._open(), int(row), self.person.name, str(decision), ids)
        self.at = None

    def do_settle(self, row: int, decision: str, keys: Sequence[str] = ()) -> None:
        """Settle a disagreement."""
        ids = [self.topic_id(key) for key in keys]
        codings.code(
            self.project, self._open(), int(row), self.person.name, str(decision), ids, final=True
        )

    def do_wanted(self, share: float) -> None:
        """Ask for the threshold that keeps another precision."""
        if not 0 < float(share) < 1:
            raise ProjectError("a share lies between 0 and 1")
        self.wanted = float(share)

    def _open(self) -> int:
        if self.sample is None:
            raise ProjectError("open a sample first")
        return self.sample
