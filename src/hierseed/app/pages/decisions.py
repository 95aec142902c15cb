"""Decisions about a card: accept, reject, another topic, none of these, unsure, a memo."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from hierseed.app import metadata
from hierseed.app.metadata import Filter
from hierseed.app.pages.screen import Screen
from hierseed.app.store import labels, memos, topics
from hierseed.errors import ProjectError

BULK = 200  # documents decided about at once
WHOLE = {"none": labels.NONE_OF_THESE, "unsure": labels.UNSURE}


class DecisionScreen(Screen):
    """A screen with cards: the same keys mean the same on each of them."""

    source = "page"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.whole: int | None = None  # the row whose text is shown in full
        self.filter = Filter()

    def filter_view(self) -> dict[str, Any]:
        """The filter by other columns of the corpus, as the page shows it."""
        return {"filter": self.filter._asdict(), "columns": metadata.columns(self.project)}

    def do_filter(
        self, column: str = "", value: str = "", low: float | None = None, high: float | None = None
    ) -> None:
        """Show only documents with these values; no column shows all."""
        known = {entry["name"] for entry in metadata.columns(self.project)}
        self.filter = Filter(str(column), str(value), low, high) if column in known else Filter()
        self.filtered()

    def filter_where(self) -> dict[str, Any]:
        """The filter as the address says it."""
        column, value, low, high = self.filter
        low_text, high_text = ("" if x is None else f"{x:g}" for x in (low, high))
        return {"column": column, "value": value, "from": low_text, "to": high_text}

    def restore_filter(self, query: Mapping[str, str]) -> None:
        """Set the filter that the address says."""
        known = {entry["name"] for entry in metadata.columns(self.project)}
        column = query.get("column", "")
        low, high = (_float(query.get(name, "")) for name in ("from", "to"))
        chosen = Filter(column, query.get("value", ""), low, high)
        self.filter = chosen if column in known else Filter()

    def filtered(self) -> None:
        """Another filter: the list is reset."""

    @property
    def several(self) -> bool:
        """True where a document may have several topics, as set in Fit."""
        return bool(self.project.get("dials", {}).get("overlap", 0.0))

    def do_say(self, row: int, verdict: int, key: str, seen: int | None = None) -> None:
        """Accept, reject or withdraw a document for a topic."""
        if verdict not in (labels.YES, labels.NO, labels.NOTHING):
            raise ProjectError("a verdict is yes, no or nothing. Reload the page")
        self._decide(int(row), self.topic_id(key), verdict, seen=seen, several=self.several)

    def do_move(self, row: int, key: str) -> None:
        """Make a document a seed of this topic, and of no other."""
        self._decide(int(row), self.topic_id(key), labels.YES, exact=True)
        self._confirm(key, "A seed of")

    def do_also(self, row: int, key: str) -> None:
        """Make a document a seed of this topic too."""
        self._decide(int(row), self.topic_id(key), labels.YES, several=True)
        self._confirm(key, "Also a seed of")

    def do_whole(self, row: int, decision: str) -> None:
        """Decide about the document as a whole: none of these, or unsure; again withdraws."""
        if decision not in WHOLE:
            raise ProjectError("a decision is none or unsure. Reload the page")
        topic = WHOLE[decision]
        marks = {label.topic for label in labels.of_rows(self.project, [row]).get(int(row), [])}
        verdict = labels.NOTHING if topic in marks else labels.YES
        self._decide(int(row), topic, verdict)

    def _decide(self, row: int, topic: int, verdict: int, **options: Any) -> None:
        labels.decide(
            self.project, row, topic, verdict, source=self.source, by=self.person, **options
        )

    def _confirm(self, key: str, what: str) -> None:
        path = topics.current(self.project).path(self.topic_id(key))
        later = " It counts at the next fit." if self.session.fit else ""
        self.session.notify(f"{what} {path} now.{later}")

    def do_bulk(self, rows: list[int], verdict: int, key: str) -> None:
        """Accept or reject several documents for a topic as one step that undo takes back."""
        topic, wanted = self.topic_id(key), [int(row) for row in rows][:BULK]
        if verdict not in (labels.YES, labels.NO):
            raise ProjectError("documents are accepted or rejected together. Reload the page")
        current = labels.of_rows(self.project, wanted)
        free = [row for row in wanted if not current.get(row)]
        path = topics.current(self.project).path(topic)
        word = "Accepted" if verdict == labels.YES else "Rejected"
        count = labels.decide_many(
            self.project, [(row, topic) for row in free], verdict,
            f"{word} {len(free)} documents for {path}", source=self.source, by=self.person,
        )  # fmt: skip
        left = (
            f" {len(wanted) - len(free)} were decided before and stay."
            if len(wanted) > len(free)
            else ""
        )
        self.session.notify(f"{word} {count} for {path}.{left} Undo reverts it.")

    def do_read(self, row: int) -> None:
        """Show a long text in full, or short again."""
        self.whole = None if self.whole == int(row) else int(row)

    def do_memo(self, row: int, text: str) -> None:
        """Write a memo on a document."""
        memos.add(self.project, "document", int(row), str(text), self.person)

    def do_forget_memo(self, memo: int) -> None:
        """Remove a memo."""
        memos.remove(self.project, int(memo))


def _float(text: str) -> float | None:
    """A number of an address, None where there is none."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
