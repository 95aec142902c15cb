"""Steps, folds and a scorer for scikit-learn's Pipeline, `cross_val_score` and `GridSearchCV`.

`TextEmbedder` is the step from texts to vectors, `SeedKFold` holds out seeds and nothing else,
and `HierarchicalScorer` measures in a taxonomy what a plain accuracy can't.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state

from hierseed.core.arrays import Ints
from hierseed.embed.choose import get_embedder
from hierseed.embed.embedder import Vectors, as_text_list, is_trained
from hierseed.errors import ParameterError, SeedError


class TextEmbedder(TransformerMixin, BaseEstimator):
    """Turn texts into vectors: the first step of a Pipeline.

    Parameters
    ----------
    embedder : as `hierseed.get_embedder` takes it

    Attributes
    ----------
    embedder_ : the embedder, after it has learned from the texts where it learns

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from hierseed import AnchoredHierSeed, Taxonomy
    >>> from hierseed.embed.prepare import Preparation
    >>> from hierseed.model_selection import TextEmbedder
    >>> texts = ["the cat purrs", "a kitten naps", "the dog barks", "a puppy digs"]
    >>> model = AnchoredHierSeed(Taxonomy.from_paths(["Cats", "Dogs"]), other=False)
    >>> pipeline = make_pipeline(TextEmbedder("wordllama"), Preparation(), model)
    >>> pipeline.fit(texts, ["Cats", "", "Dogs", ""]).predict(["my cat"]).tolist()
    [0]
    """

    def __init__(self, embedder: Any = "auto") -> None:
        self.embedder = embedder

    def fit(self, X: Iterable[str], y: Any = None) -> Self:
        """Make the embedder; one that learns from a corpus learns from these texts."""
        texts = as_text_list(list(X))
        self.embedder_ = get_embedder(self.embedder)
        if is_trained(self.embedder_):
            self.embedder_.fit(texts)
        return self

    def transform(self, X: Iterable[str]) -> Vectors:
        """Return one vector per text."""
        return self.embedder_.encode(as_text_list(list(X)))


class SeedKFold:
    """Folds that hold out seeds; documents without a label stay in every training set.

    A topic always keeps a seed in training: one that has a single seed is never held out.

    Parameters
    ----------
    n_splits : number of folds
    random_state : which seed goes into which fold

    Examples
    --------
    >>> y = [0, 0, 1, 1, -1, -1]
    >>> for train, test in SeedKFold(2).split(y, y):
    ...     print(len(train), sorted(y[row] for row in test))
    4 [0, 1]
    4 [0, 1]
    """

    def __init__(self, n_splits: int = 5, *, random_state: Any = 0) -> None:
        if not isinstance(n_splits, int | np.integer) or n_splits < 2:
            raise ParameterError(f"n_splits must be a whole number of at least 2, got {n_splits!r}")
        self.n_splits = int(n_splits)
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """Yield rows to train on and rows to test on."""
        rows: dict[str, list[int]] = {}
        for row, label in enumerate(y):
            if (key := _label_key(label)) is not None:
                rows.setdefault(key, []).append(row)
        largest = max(map(len, rows.values()), default=0)
        if largest < 2:
            raise SeedError("no topic has two seeds, so none can be held out. Label more documents")
        random = check_random_state(self.random_state)
        fold = np.full(len(y), -1)
        first = 0
        for key in sorted(rows):
            own = rows[key]
            if len(own) > 1:
                fold[random.permutation(own)] = (first + np.arange(len(own))) % self.n_splits
                first += len(own)  # the next topic continues here
        for number in range(self.n_splits):
            if not (test := np.flatnonzero(fold == number)).size:
                raise SeedError(
                    f"{first:,} seeds can be held out, too few for {self.n_splits} folds. Use a "
                    "smaller n_splits, or label more documents"
                )
            yield np.flatnonzero(fold != number), test


class HierarchicalScorer:
    """A scorer for `scoring=` of scikit-learn: estimator, X and y to a number.

    Rows of `y` without a label (-1, an empty text or list) are left out.

    Parameters
    ----------
    measure : "hierarchical_f1", or a mean over levels: "accuracy", "macro_f1", "bcubed_f1",
        "v_measure"
    """

    def __init__(self, measure: str = "hierarchical_f1") -> None:
        self.measure = measure

    def __call__(self, estimator: Any, X: Any, y: Any) -> float:
        """Place documents and compare them with labels."""
        while hasattr(estimator, "steps") or hasattr(estimator, "best_estimator_"):
            if hasattr(estimator, "best_estimator_"):
                estimator = estimator.best_estimator_
                continue
            X = estimator[:-1].transform(X) if len(estimator) > 1 else X
            estimator = estimator[-1]
        return float(estimator.score(X, y, measure=self.measure))

    def __repr__(self) -> str:
        return f"HierarchicalScorer({self.measure!r})"


def _label_key(label: Any) -> str | None:
    """A label as text; None where there is none."""
    if isinstance(label, str):
        return label if label.strip() else None
    if isinstance(label, Iterable):
        return ",".join(sorted(map(str, label))) or None
    missing = label is None or label != label or label == -1  # NaN differs from itself
    return None if missing else str(label)
