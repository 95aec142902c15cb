"""Label spreading over a graph of near neighbours (Zhou et al. 2004), from scikit-learn."""

from __future__ import annotations

import warnings
from typing import Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.semi_supervised import LabelSpreading

from hierseed_bench.competitors.task import Documents, Ints, Task


class Spreading:
    """Labels run along the 15 nearest neighbours of each document.

    Always the neighbour graph: the rbf kernel builds an n x n matrix, 12 GB at 40,000
    documents.
    """

    named = True

    def __init__(self, n_neighbors: int = 15, alpha: float = 0.2, max_iter: int = 50) -> None:
        self.model = LabelSpreading(
            kernel="knn", n_neighbors=n_neighbors, alpha=alpha, max_iter=max_iter
        )

    def fit(self, task: Task) -> Self:
        """Spread from the seeds over the fitting set."""
        self.tree = task.taxonomy.tree
        rows, topics = task.seed_pairs()
        X = np.vstack([task.seeds.vectors[rows], task.fitting.vectors])
        y = np.concatenate([topics, np.full(len(task.fitting), -1)])
        with warnings.catch_warnings(), np.errstate(invalid="ignore"):
            # documents that no seed reaches divide 0 by 0; they are handled in predict
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.model.fit(X, y)
        self.model.label_distributions_ = np.nan_to_num(self.model.label_distributions_)
        return self

    def predict(self, documents: Documents) -> Ints:
        """Vote of the neighbours; None where no label has reached any of them."""
        with np.errstate(invalid="ignore"):
            votes = self.model.predict_proba(documents.vectors)
        reached = np.isfinite(votes).all(axis=1) & (votes.sum(axis=1) > 0)
        topic = self.model.classes_[np.nan_to_num(votes).argmax(axis=1)]
        return self.tree.ancestors[np.where(reached, topic, -1)]
