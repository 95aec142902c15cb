"""Placed documents with their vectors, for suggestions and a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hierseed.assignments import Assignments
from hierseed.core.arrays import Bools
from hierseed.core.blocks import chunks
from hierseed.progress import Listener, Step, warn_of_notes
from hierseed.proposals import AT_LEAST, Proposal, Proposals, propose_topics
from hierseed.report.gather import gather, results_of, shorten
from hierseed.suggestions import Suggestions, suggest

if TYPE_CHECKING:
    from hierseed.estimators.base import SeededEstimator

EVERY = 1_000  # documents between progress events
PROPOSED = 6  # proposed topics in a report
SHOWN = 3  # documents of each
EXCERPT = 200  # characters of these
NONE_REJECTED = (
    "no document was rejected: proposals are groups of those that fit the listed topics least, and "
    "may belong to listed topics. Read their documents before you add a topic."
)


@dataclass(frozen=True)
class PlacedDocuments:
    """A placed corpus.

    Attributes
    ----------
    estimator : the one that placed the corpus
    X : prepared vectors
    assignments : placements, with the ids of documents
    documents : pairs of id and text, in order; texts are empty where only vectors were given
    name : name of the corpus
    """

    estimator: SeededEstimator
    X: Any
    assignments: Assignments
    documents: Iterable[tuple[str, str]]
    name: str = "Placed corpus"

    def suggest(self, n: int = 20, *, per_topic: int | None = None) -> Suggestions:
        """Return documents to label next."""
        return suggest(self.assignments, self.X, n, per_topic=per_topic)

    @property
    def rejects(self) -> bool:
        """Whether any document with content belongs to no listed topic, or is Other."""
        found = self.assignments
        out = (found.labels < 0) | found.is_other[found.primary]
        return self._any_with_content(self._likely_foreign() & out)

    def _likely_foreign(self) -> Bools:
        found, first = self.assignments, self.assignments.primary
        foreign: Bools = (found.belongs[first, 0] < 0.5) | found.is_other[first]
        return foreign & ~found.is_seed

    def _any_with_content(self, which: Bools) -> bool:
        rows = np.flatnonzero(which)
        return any(np.any(self.X[rows[at]]) for at in chunks(len(rows), 1, EVERY))

    def propose_topics(
        self, n: int = 10, *, at_least: float = AT_LEAST, earlier: Sequence[Proposal] = ()
    ) -> Proposals:
        """Return topics that the taxonomy may lack."""
        foreign = getattr(self.estimator, "foreign_share_", None)
        if foreign and not self._any_with_content(self._likely_foreign()):
            foreign = None  # the share cannot be distinguished from 0
        found = propose_topics(
            self.assignments,
            self.X,
            self.estimator.vectors_,
            n,
            share=foreign.value if foreign else 0.0,
            at_least=at_least,
            earlier=earlier,
        )
        if not found:
            return found
        texts = (text for _, text in self.documents)
        return found.with_words(texts, self.assignments.n_documents)

    def report(self, title: str | None = None, progress: Listener | None = None) -> dict[str, Any]:
        """Return the content of the report page."""
        listener = progress or warn_of_notes
        n = self.assignments.n_documents

        def documents() -> Iterator[tuple[str, str]]:
            for row, document in enumerate(self.documents):
                if row % EVERY == 0:
                    listener(Step("Gathering", row, n))
                yield document

        found = gather(
            self.estimator,
            self.X,
            documents(),
            title=title or self.name,
            assignments=self.assignments,
        )
        proposals = self.propose_topics(PROPOSED, at_least=0.0)
        texts = self.texts(row for one in proposals for row in one.rows[:SHOWN].tolist())
        shown = [
            {**line, "texts": [shorten(texts[row], EXCERPT) for row in one.rows[:SHOWN].tolist()]}
            for line, one in zip(proposals.to_frame().to_dict("records"), proposals)
        ]
        return found | {"results": results_of(self.estimator), "proposals": shown}

    def texts(self, rows: Iterable[int]) -> dict[int, str]:
        """Texts of a few rows, in one pass."""
        wanted = set(rows)
        if not wanted:
            return {}
        return {row: text for row, (_, text) in enumerate(self.documents) if row in wanted}
