"""Comparison of a model with documents coded by hand: methods that `TextModel` inherits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import Assignments
from hierseed.errors import CorpusError, ParameterError
from hierseed.estimators.base import SeededEstimator
from hierseed.evaluate import Scores, score, thresholds
from hierseed.io.score_table import gold_topics
from hierseed.placed import PlacedDocuments
from hierseed.taxonomy import Taxonomy


class Validation:
    """Scores against gold labels, and thresholds for a precision.

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
    _of_the_fit: PlacedDocuments | None

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
        >>> model.set_precision(texts, {"c": "Cats", "d": "Dogs"}, precision=0.9)
        array([2.])
        >>> model.assign({"e": "a cat"}).coverage
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
