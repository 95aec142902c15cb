"""Nearest mean of seeds: over all leaves at once, or level by level from the top."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from hierseed_bench.competitors.task import Documents, Ints, Task, means


class NearestLeaf:
    """The leaf whose seeds' mean is most similar by cosine; the tree gives what is above.

    Parameters
    ----------
    inner : let inner topics with seeds of their own compete too; a document sent to one
        stops there
    """

    named = True

    def __init__(self, inner: bool = False) -> None:
        self.inner = inner

    def fit(self, task: Task) -> Self:
        """Take the mean of each topic's seeds."""
        tree = self.tree = task.taxonomy.tree
        rows, topics = task.seed_pairs()
        used = tree.is_leaf[topics] | self.inner
        self.topics, centres = means(task.seeds.vectors, rows[used], topics[used])
        self.centres = unit(centres)
        return self

    def predict(self, documents: Documents) -> Ints:
        """Most similar mean; the same as nearest, as the means have unit length."""
        return self.tree.ancestors[self.topics[nearest(documents.vectors, self.centres)]]


class TopDown:
    """At each level the child most similar by cosine, from the root to a leaf."""

    named = True

    def fit(self, task: Task) -> Self:
        """An inner topic stands at the mean of its children, with its own seeds as one more.

        Not at the mean of all seeds below it: that would weigh large branches more.
        """
        tree = self.tree = task.taxonomy.tree
        present, centres = means(task.seeds.vectors, *task.seed_pairs())
        self.centres = np.zeros((len(tree), task.seeds.vectors.shape[1]))
        self.centres[present] = centres
        own = np.zeros(len(tree), dtype=bool)
        own[present] = True
        for topic in reversed(range(len(tree))):
            below = [self.centres[child] for child in tree.children(topic)]
            if below:
                parts = [*below, self.centres[topic]] if own[topic] else below
                self.centres[topic] = np.mean(parts, axis=0)
        self.centres = unit(self.centres)
        return self

    def predict(self, documents: Documents) -> Ints:
        """Walk down; an error at the top is final."""
        similarity = documents.vectors @ self.centres.T.astype(np.float32)
        topic = np.full(len(documents), -1)
        for _ in range(self.tree.height):
            for parent in np.unique(topic):
                here, children = np.flatnonzero(topic == parent), self.tree.children(int(parent))
                if len(children):
                    topic[here] = children[similarity[np.ix_(here, children)].argmax(axis=1)]
        return self.tree.ancestors[topic]


def nearest(vectors: NDArray[Any], centres: NDArray[Any]) -> Ints:
    """Index of the nearest centre for each row."""
    centres = centres.astype(np.float32)
    # |x - c|^2 without |x|^2, which is the same for every centre
    return (np.square(centres).sum(axis=1) - 2 * (vectors @ centres.T)).argmin(axis=1)


def unit(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows of length 1; a row of zeros stays."""
    length = np.linalg.norm(centres, axis=1, keepdims=True)
    return centres / np.where(length > 0, length, 1)
