"""Words, examples and plots of a model's topics: methods that `TextModel` inherits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import pandas as pd

from hierseed.assignments import Assignments
from hierseed.errors import CorpusError
from hierseed.estimators.base import SeededEstimator
from hierseed.io.corpus import Corpus
from hierseed.io.documents import Documents
from hierseed.io.topic_finder import TopicFinder
from hierseed.placed import PlacedDocuments
from hierseed.report import selection
from hierseed.report.gather import Limits
from hierseed.report.map import make_map
from hierseed.report.words import distinctive_words
from hierseed.taxonomy import Taxonomy

if TYPE_CHECKING:
    from hierseed.plots.canvas import Picture


class TopicViews:
    """Words, examples and pictures of topics.

    All but `plot_history` and `nearest_topics` are about documents: those of the fit unless others
    are given. A model that was loaded does not hold its documents, so it needs them. Pictures are
    matplotlib figures; they need `pip install 'hierseed[plots]'`.

    Attributes
    ----------
    corpus : documents of the fit; None after `hierseed.load`
    """

    estimator: SeededEstimator
    taxonomy_: Taxonomy
    place: Callable[..., PlacedDocuments]
    _coded: Callable[..., tuple[Assignments, dict[str, list[int]], list[int]]]
    corpus: Documents | None = None
    _of_the_fit: PlacedDocuments | None = None

    @overload
    def topic_words(self, topic: str, n: int = 10, *, documents: Any = None) -> list[str]: ...
    @overload
    def topic_words(
        self, topic: None = None, n: int = 10, *, documents: Any = None
    ) -> dict[str, list[str]]: ...
    def topic_words(
        self, topic: str | None = None, n: int = 10, *, documents: Any = None
    ) -> list[str] | dict[str, list[str]]:
        """Return the words that set a topic apart from its siblings and from all others.

        Parameters
        ----------
        topic : path, last name or code; None for all topics at once, which costs no more
        n : words at most; there are fewer where fewer set the topic apart

        Returns
        -------
        list of words, best first; for all topics a dict of path to list
        """
        wanted = None if topic is None else TopicFinder(self.taxonomy_).find(topic)
        placed = self._placed(documents)
        if not isinstance(placed.documents, Corpus):
            raise CorpusError("words need texts, and the documents are vectors. Give the texts")
        labels = selection.first_placements(placed.assignments).labels
        counted = np.zeros(len(labels), dtype=bool)
        counted[selection.sample_documents(labels, Limits().word_documents)] = True
        texts = (text for row, text in enumerate(placed.documents.texts()) if counted[row])
        words = distinctive_words(self.taxonomy_.tree, labels[counted], texts, n)
        return dict(zip(self.taxonomy_.paths, words)) if wanted is None else words[wanted]

    def examples(self, topic: str, n: int = 5, *, documents: Any = None) -> pd.DataFrame:
        """Return the central documents of a topic: id, text, score, distance, is_seed.

        They are the nearest to the topic's vector of those placed in it or below it.
        """
        wanted = TopicFinder(self.taxonomy_).find(topic)
        placed = self._placed(documents)
        first = selection.first_placements(placed.assignments)
        rows = selection.central_documents(first, n)[wanted]
        level = int(self.taxonomy_.tree.level[wanted]) - 1
        texts = placed.texts(rows)
        return pd.DataFrame(
            {
                "id": [(placed.assignments.ids or ())[row] for row in rows],
                "text": [texts[row] for row in rows],
                "score": first.score[rows, level],
                "distance": first.distance[rows, level],
                "is_seed": first.is_seed[rows],
            }
        )

    def nearest_topics(self, topic: str, n: int = 5) -> pd.DataFrame:
        """Return the listed topics of the same level whose vectors are nearest: topic, distance."""
        taxonomy, wanted = self.taxonomy_, TopicFinder(self.taxonomy_).find(topic)
        rivals = taxonomy.tree.at_level(int(taxonomy.tree.level[wanted]))
        rivals = rivals[(rivals != wanted) & ~taxonomy.is_other[rivals]]
        vectors = np.asarray(self.estimator.vectors_, dtype=float)
        distance = np.linalg.norm(vectors[rivals] - vectors[wanted], axis=1)
        order = np.argsort(distance, kind="stable")[:n]
        names = [taxonomy.paths[rival] for rival in rivals[order]]
        return pd.DataFrame({"topic": names, "distance": distance[order]})

    def plot_tree(self, *, documents: Any = None, depth: int | None = None) -> Picture:
        """Draw the taxonomy with the number of documents in each topic.

        Parameters
        ----------
        depth : the deepest level drawn; None for all
        """
        from hierseed.plots.sizes import draw_tree

        return draw_tree(self._placed(documents).assignments, depth)

    def plot_sizes(self, *, documents: Any = None, level: int = 1, most: int = 30) -> Picture:
        """Draw the number of documents in the largest topics of a level, and in None."""
        from hierseed.plots.sizes import draw_sizes

        return draw_sizes(self._placed(documents).assignments, level, most)

    def plot_map(self, *, documents: Any = None, most: int = 4_000) -> Picture:
        """Draw topics as islands and documents as points; of more than `most`, a sample."""
        from hierseed.plots.map import draw_map

        placed = self._placed(documents)
        first = selection.first_placements(placed.assignments)
        counts, _ = selection.count_documents(first)
        rows = selection.sample_documents(first.labels, most)
        X = np.asarray(placed.X[rows], dtype=float)
        vectors = np.asarray(self.estimator.vectors_, dtype=float)
        drawn = make_map(self.taxonomy_, vectors, counts, rows, first.labels[rows], X)
        return draw_map(placed.assignments, drawn)

    def plot_confusion(
        self, gold: Any, *, documents: Any = None, level: int = 1, most: int = 20
    ) -> Picture:
        """Draw gold topics against placements; seeds are left out.

        Parameters
        ----------
        gold : as of `evaluate`
        most : topics shown, those with the most mistakes; the rest are added up
        """
        from hierseed.plots.confusion import confusion, draw_confusion

        found, truth, rows = self._coded(self._given(documents), gold)
        ids = found.ids or ()
        table = confusion(found, rows, [truth[ids[row]] for row in rows], level, most)
        return draw_confusion(table, level)

    def plot_over_time(
        self,
        dates: Any,
        *,
        documents: Any = None,
        level: int = 1,
        every: str | None = None,
        most: int = 12,
    ) -> Picture:
        """Draw the number of documents in the largest topics, period by period.

        Parameters
        ----------
        dates : mapping or Series of document id to date, or one date for each document in their
            order; a date is a text such as 2024-05-31, a year, or a datetime
        every : "D", "W", "M", "Q" or "Y"; None chooses by the time that the dates span
        """
        from hierseed.plots.time import count_over_time, draw_over_time

        found = self._placed(documents).assignments
        table, undated = count_over_time(found, dates, level, every)
        return draw_over_time(found, table, undated, level, most)

    def plot_history(self) -> Picture:
        """Draw the rounds of the fit: objective, documents that moved, coverage."""
        from hierseed.plots.history import draw_history

        return draw_history(getattr(self.estimator, "history_", []), type(self.estimator).__name__)

    def _given(self, documents: Any) -> Any:
        """The documents given, or those of the fit."""
        if documents is None and self.corpus is None:
            raise CorpusError(
                "a model that was loaded does not hold the documents of its fit. "
                "Give them, as in plot_sizes(documents=texts)"
            )
        return self.corpus if documents is None else documents

    def _placed(self, documents: Any) -> PlacedDocuments:
        """Place documents; those of the fit once and for all."""
        if documents is not None:
            return self.place(documents)
        if self._of_the_fit is None:
            self._of_the_fit = self.place(self._given(None))
        return self._of_the_fit
