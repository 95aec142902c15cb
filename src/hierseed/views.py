"""What a model shows of its topics, and how right it is: methods that `TextModel` inherits."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import Assignments
from hierseed.core.mixture.accuracy import Share
from hierseed.errors import CorpusError, ParameterError
from hierseed.estimators.base import SeededEstimator
from hierseed.evaluate import Scores, score, thresholds
from hierseed.files import atomic_file
from hierseed.io.corpus import Corpus
from hierseed.io.documents import Documents
from hierseed.io.score_table import gold_topics
from hierseed.io.seeds import TopicFinder
from hierseed.placed import NONE_REJECTED, PlacedDocuments
from hierseed.proposals import Proposal, Proposals
from hierseed.report import selection
from hierseed.report.accuracy import expected_by_path
from hierseed.report.gather import Limits
from hierseed.report.map import make_map
from hierseed.report.page import render
from hierseed.report.words import distinctive_words
from hierseed.suggestions import Suggestions
from hierseed.taxonomy import Taxonomy

if TYPE_CHECKING:
    import pandas as pd

    from hierseed.plots.canvas import Picture


class ModelViews:
    """Suggestions, proposals, the report; words, examples and pictures of topics; scores.

    Words, examples and pictures are about the documents of the fit unless others are given. A
    model that was loaded does not hold its documents, so it needs them. Pictures are matplotlib
    figures; they need `pip install 'hierseed[plots]'`.

    Attributes
    ----------
    corpus : documents of the fit; None after `hierseed.load`

    Examples
    --------
    >>> import hierseed
    >>> texts = {"a": "the cat purrs", "b": "the dog barks", "c": "a cat naps", "d": "a dog digs"}
    >>> model = hierseed.fit(texts, ["Cats", "Dogs"], {"Cats": ["a"], "Dogs": ["b"]},
    ...                      embedder="wordllama", other=False)
    """

    estimator: SeededEstimator
    taxonomy_: Taxonomy
    assign: Callable[..., Assignments]
    place: Callable[..., PlacedDocuments]
    corpus: Documents | None = None
    _of_the_fit: PlacedDocuments | None = None

    def suggest(
        self, documents: Any, n: int = 20, *, per_topic: int | None = None, **options: Any
    ) -> Suggestions:
        """Return up to n documents that are most useful to label next; options as of `place`.

        Examples
        --------
        >>> model.suggest(texts, 2).to_frame()["id"].tolist()
        ['d', 'c']
        """
        return self.place(documents, **options).suggest(n, per_topic=per_topic)

    def propose_topics(
        self, documents: Any, n: int = 10, *, earlier: Sequence[Proposal] = (), **options: Any
    ) -> Proposals:
        """Return up to n topics that the taxonomy may lack; options as of `place`.

        They come from documents that belong to no listed topic, and from the 5% that fit listed
        topics least if fewer belong to none: then look at the documents before adding a topic.

        Parameters
        ----------
        earlier : proposals of an earlier fit; the same group of documents keeps its id

        Examples
        --------
        >>> len(model.propose_topics(texts))  # too few documents to propose any
        0
        """
        placed = self.place(documents, **options)
        found = placed.propose_topics(n, earlier=earlier)
        if found and not placed.rejects:
            warnings.warn(NONE_REJECTED, stacklevel=2)
        return found

    def expected_accuracy(self) -> dict[str, Share]:
        """Return for each topic the share of its documents to expect right, the lowest first.

        Of the documents of the fit that were placed in the topic or below it. Empty where no
        seeds could be held out to estimate it, as with one seed a topic.

        Examples
        --------
        >>> seeds = {"Cats": ["a", "c"], "Dogs": ["b", "d"]}
        >>> two = hierseed.fit(texts, ["Cats", "Dogs"], seeds, embedder="wordllama", other=False)
        >>> sorted(two.expected_accuracy())
        ['Cats', 'Dogs']
        >>> share = two.expected_accuracy()["Cats"]
        >>> 0 <= share.low <= share.value <= share.high <= 1
        True
        """
        return expected_by_path(self.estimator)

    def report(
        self, documents: Any, file: str | PathLike[str], *, title: str | None = None, **options: Any
    ) -> dict[str, Any]:
        """Write one page that shows what is in every topic; return what it shows.

        Examples
        --------
        >>> shown = model.report(texts, "report.html")
        >>> shown["n"], shown["topics"]["name"]
        (4, ['Cats', 'Dogs'])
        """
        with atomic_file(file) as partial:  # fail before the long step
            found = self.place(documents, **options).report(title, options.get("progress"))
            partial.write_text(render(found), encoding="utf-8", newline="\n")
        return found

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

        Examples
        --------
        >>> more = ["cat purrs", "cat naps", "cat hides"] * 9 + ["dog barks", "dog digs"] * 9
        >>> model.topic_words("Cats", 2, documents=more)
        ['hides', 'purrs']
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

        Examples
        --------
        >>> model.examples("Dogs")["id"].tolist()
        ['b', 'd']
        """
        wanted = TopicFinder(self.taxonomy_).find(topic)
        placed = self._placed(documents)
        first = selection.first_placements(placed.assignments)
        rows = selection.central_documents(first, n)[wanted]
        level = int(self.taxonomy_.tree.level[wanted]) - 1
        texts = placed.texts(rows)
        import pandas as pd  # slow to import, and not needed by a fit

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
        """Return the listed topics of the same level whose vectors are nearest: topic, distance.

        Examples
        --------
        >>> model.nearest_topics("Cats")["topic"].tolist()
        ['Dogs']
        """
        taxonomy, wanted = self.taxonomy_, TopicFinder(self.taxonomy_).find(topic)
        rivals = taxonomy.tree.at_level(int(taxonomy.tree.level[wanted]))
        rivals = rivals[(rivals != wanted) & ~taxonomy.is_other[rivals]]
        vectors = np.asarray(self.estimator.vectors_, dtype=float)
        distance = np.linalg.norm(vectors[rivals] - vectors[wanted], axis=1)
        order = np.argsort(distance, kind="stable")[:n]
        names = [taxonomy.paths[rival] for rival in rivals[order]]
        import pandas as pd  # slow to import, and not needed by a fit

        return pd.DataFrame({"topic": names, "distance": distance[order]})

    def plot_tree(self, *, documents: Any = None, depth: int | None = None) -> Picture:
        """Draw the taxonomy with the number of documents in each topic.

        Parameters
        ----------
        depth : the deepest level drawn; None for all

        Examples
        --------
        >>> model.plot_tree().savefig("tree.png")
        """
        from hierseed.plots.sizes import draw_tree

        return draw_tree(self._placed(documents).assignments, depth)

    def plot_sizes(self, *, documents: Any = None, level: int = 1, most: int = 30) -> Picture:
        """Draw the number of documents in the largest topics of a level, and in None.

        Examples
        --------
        >>> model.plot_sizes(level=1).savefig("sizes.png")
        """
        from hierseed.plots.sizes import draw_sizes

        return draw_sizes(self._placed(documents).assignments, level, most)

    def plot_map(self, *, documents: Any = None, most: int = 4_000) -> Picture:
        """Draw topics as islands and documents as points; of more than `most`, a sample.

        Examples
        --------
        >>> model.plot_map().savefig("map.png")
        """
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

        Examples
        --------
        >>> model.plot_confusion({"c": "Cats", "d": "Dogs"}).savefig("confusion.png")
        """
        from hierseed.plots.confusion import confusion, draw_confusion

        found, rows, truth = self._coded(self._given(documents), gold)
        table = confusion(found, rows, truth, level, most)
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

        Examples
        --------
        >>> years = {"a": 2001, "b": 2002, "c": 2003, "d": 2003}
        >>> model.plot_over_time(years).savefig("time.png")
        """
        from hierseed.plots.time import count_over_time, draw_over_time

        found = self._placed(documents).assignments
        table, undated = count_over_time(found, dates, level, every)
        return draw_over_time(found, table, undated, level, most)

    def plot_history(self) -> Picture:
        """Draw the rounds of the fit: objective, documents that moved, coverage.

        Examples
        --------
        >>> model.plot_history().savefig("history.png")
        """
        from hierseed.plots.history import draw_history

        return draw_history(getattr(self.estimator, "history_", []), type(self.estimator).__name__)

    def evaluate(self, documents: Any, gold: Any, **options: Any) -> Scores:
        """Score the placement of documents against gold labels; seeds are left out.

        Parameters
        ----------
        documents : as `hierseed.fit` takes them
        gold : mapping of id to path or paths, DataFrame or file with the columns `id` and `topic`
        **options : as of `assign`

        Examples
        --------
        >>> model.evaluate(texts, {"c": "Cats", "d": "Dogs"}).all.mean.accuracy
        1.0
        """
        found, rows, truth = self._coded(documents, gold, **options)
        return score(self.estimator.taxonomy, found.levels[rows], truth)

    def thresholds(
        self, documents: Any, coded: Any, precision: float, **options: Any
    ) -> NDArray[np.float64]:
        """Return the score that placements of each level must reach for a precision.

        Parameters
        ----------
        documents : among them those coded by hand
        coded : documents coded by hand, drawn at random; as `gold` of `evaluate`
        precision : share of the remaining placements that must be right

        Returns
        -------
        array with a threshold per level, for `assign` and `write_table`; above 1 where no score
        suffices

        Examples
        --------
        Two documents prove nothing, so no score suffices:

        >>> model.thresholds(texts, {"c": "Cats", "d": "Dogs"}, precision=0.9)
        array([2.])
        """
        found, rows, truth = self._coded(documents, coded, **options)
        scores = found.score[found.primary][rows]
        return thresholds(self.taxonomy_, found.levels[rows], scores, truth, precision)

    def set_precision(
        self, documents: Any, coded: Any, precision: float, **options: Any
    ) -> NDArray[np.float64]:
        """Set thresholds so that this share of placements is right from now on.

        The thresholds are those of `thresholds`; they are saved with the model, as are the labels
        that follow from them.

        Parameters
        ----------
        documents : of the fit, all of them
        coded, precision : as of `thresholds`

        Examples
        --------
        >>> from copy import deepcopy
        >>> strict = deepcopy(model)
        >>> strict.set_precision(texts, {"c": "Cats", "d": "Dogs"}, precision=0.9)
        array([2.])
        >>> strict.assign({"e": "a cat"}).coverage
        0.0
        """
        if not hasattr(self.estimator, "set_thresholds"):
            raise ParameterError(
                f"{type(self.estimator).__name__} has no thresholds to set. Use the method "
                "'anchored', or give the precision to `assign`."
            )
        found, rows, truth = self._coded(documents, coded, **options)
        if found.n_documents != len(self.estimator.labels_):
            raise ParameterError(
                f"set_precision was given {found.n_documents:,} documents, and the fit had "
                f"{len(self.estimator.labels_):,}. Give those of the fit; for others, give the "
                "result of `thresholds` to `assign`."
            )
        scores = found.score[found.primary][rows]
        limits = thresholds(self.taxonomy_, found.levels[rows], scores, truth, precision)
        self.estimator.set_thresholds(limits)
        self.estimator.expected_accuracy_ = []  # those were of other thresholds
        self.estimator.expected_topic_accuracy_ = []
        self._of_the_fit = None
        labels = self.place(documents, **options).assignments.labels
        self.estimator.labels_ = labels
        self.estimator.coverage_ = float(np.count_nonzero(labels >= 0)) / len(labels)
        return limits

    def _given(self, documents: Any) -> Any:
        """The documents given, or those of the fit."""
        if documents is None and self.corpus is None:
            raise CorpusError(
                "a model that was loaded does not hold the documents of its fit. "
                "Give them, as in plot_sizes(documents=texts)"
            )
        return self.corpus if documents is None else documents

    def _placed(self, documents: Any) -> PlacedDocuments:
        """Place documents; the placement of those of the fit is kept."""
        if documents is not None:
            return self.place(documents)
        if self._of_the_fit is None:
            self._of_the_fit = self.place(self._given(None))
        return self._of_the_fit

    def _coded(
        self, documents: Any, gold: Any, **options: Any
    ) -> tuple[Assignments, list[int], list[list[int]]]:
        """Place documents; return the rows that have gold labels and are no seeds, with these."""
        found = self.assign(documents, **options)
        ids = found.ids or ()
        truth = gold_topics(gold, self.estimator.taxonomy, set(ids).__contains__)
        rows = [row for row, id in enumerate(ids) if id in truth and not found.is_seed[row]]
        if not rows:
            raise CorpusError(
                f"none of {len(truth):,} documents with gold labels is among the documents, "
                "apart from seeds. Check that both use the same ids"
            )
        return found, rows, [truth[ids[row]] for row in rows]
