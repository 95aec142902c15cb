"""Linear classifiers over topics: on the seeds, with self-training, and with all labels.

Every topic with labelled documents of its own is a class, inner topics too: a document
sent to one stops there.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.semi_supervised import SelfTrainingClassifier

from hierseed.errors import SeedError
from hierseed_bench.competitors.task import Documents, Ints, Task, pairs


class Flat:
    """A scikit-learn classifier whose classes are topic ids."""

    named = True

    def __init__(self) -> None:
        self.classifier: Any = None

    def learn(self, task: Task, classifier: Any, X: Any, y: Ints) -> Self:
        """Fit the classifier and keep the tree."""
        self.tree, self.classifier = task.taxonomy.tree, classifier
        with warnings.catch_warnings():  # a stop at max_iter is part of the setting
            warnings.simplefilter("ignore", ConvergenceWarning)
            classifier.fit(X, y)
        return self

    def predict(self, documents: Documents) -> Ints:
        """Predict the deepest topic; those above it follow from the tree."""
        return self.tree.ancestors[self.classifier.predict(documents.vectors)]


class LogReg(Flat):
    """Logistic regression on the seeds."""

    def __init__(self, C: float = 10.0) -> None:
        super().__init__()
        self.C = C

    def fit(self, task: Task) -> Self:
        """Learn from the seeds alone."""
        rows, topics = task.seed_pairs()
        return self.learn(task, logistic(self.C), task.seeds.vectors[rows], topics)


class SelfTraining(Flat):
    """Logistic regression that adds its own confident predictions to the seeds."""

    def __init__(self, C: float = 10.0, threshold: float = 0.5, max_iter: int = 10) -> None:
        super().__init__()
        self.C, self.threshold, self.max_iter = C, threshold, max_iter

    def fit(self, task: Task) -> Self:
        """Learn from the seeds, then from fitting documents above the threshold.

        The library's threshold of .75 adds next to nothing with twenty classes or more.
        """
        rows, topics = task.seed_pairs()
        X = np.vstack([task.seeds.vectors[rows], task.fitting.vectors])
        y = np.concatenate([topics, np.full(len(task.fitting), -1)])
        classifier = SelfTrainingClassifier(
            logistic(self.C), threshold=self.threshold, max_iter=self.max_iter
        )
        return self.learn(task, classifier, X, y)


class RidgeAllLabels(Flat):
    """The ceiling: a ridge classifier that is given every training label.

    Parameters
    ----------
    several : learn sets of topics; a document is placed in its best topic and in all above
        the threshold at which training documents have as many topics as their labels say
    """

    def __init__(self, alpha: float = 1.0, several: bool = False) -> None:
        super().__init__()
        self.alpha, self.several = alpha, several

    def fit(self, task: Task) -> Self:
        """Learn from the whole training part with its labels."""
        if task.labelled is None:
            raise SeedError("the ceiling needs all training labels; the task carries none")
        rows, topics = pairs(task.labelled_topics)
        X, ridge = task.labelled.vectors, RidgeClassifier(alpha=self.alpha)
        if not self.several:
            return self.learn(task, ridge, X[rows], topics)
        self.topics, column = np.unique(topics, return_inverse=True)
        Y = np.zeros((len(X), len(self.topics)), dtype=np.intp)
        Y[rows, column] = 1
        self.learn(task, ridge, X, Y)
        score = np.sort(ridge.decision_function(X), axis=None)
        self.threshold = score[len(score) - len(topics)]  # as many labels as in training
        return self

    def predict(self, documents: Documents) -> Ints:
        """Predict the best topic."""
        if not self.several:
            return super().predict(documents)
        best = self.classifier.decision_function(documents.vectors).argmax(axis=1)
        return self.tree.ancestors[self.topics[best]]

    def place(self, documents: Documents) -> tuple[Ints, Ints]:
        """Return the best topic, and all others above the threshold where asked for several."""
        if not self.several:
            return np.arange(len(documents)), self.predict(documents)
        score = self.classifier.decision_function(documents.vectors)
        chosen = score >= self.threshold
        chosen[np.arange(len(score)), score.argmax(axis=1)] = True
        row, column = np.nonzero(chosen)
        return row, self.tree.ancestors[self.topics[column]]


def logistic(C: float) -> LogisticRegression:
    """Build the classifier that all rows of this kind share."""
    return LogisticRegression(C=C, max_iter=1000)
