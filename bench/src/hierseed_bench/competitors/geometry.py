"""Answers to the paper's questions for future work: other spaces, and a space tuned for the task.

`Sphere` is a mixture on the unit sphere, `Hyperbolic` places the tree in the Poincaré disk of the
topics' coordinates, `Projected` learns a projection from seeds and confident documents. None of
them is part of the product: docs/embedders.md gives the figures.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import RidgeCV

from hierseed.core.arrays import Floats
from hierseed.core.tree import Tree
from hierseed_bench.competitors.nearest import unit
from hierseed_bench.competitors.ours import Ours
from hierseed_bench.competitors.task import Documents, Ints, Task, means


class Sphere:
    """A mixture of von Mises-Fisher distributions, one for each topic that has seeds.

    Means start from the seeds, which stay in their topics. One concentration for all topics is
    learned (Banerjee et al., 2005), and the sizes of topics are.
    """

    named = True

    def __init__(self, rounds: int = 10) -> None:
        self.rounds = rounds

    def fit(self, task: Task) -> Self:
        """Expectation and maximization over the fitting set."""
        self.tree = task.taxonomy.tree
        rows, topics = task.seed_pairs()
        self.topics, sums = means(task.seeds.vectors, rows, topics)
        counts = np.bincount(np.searchsorted(self.topics, topics)).astype(float)
        sums *= counts[:, None]
        X, d = task.fitting.vectors.astype(np.float64), task.fitting.vectors.shape[1]
        self.centres, self.sizes = unit(sums), np.log(counts / counts.sum())
        resultant = float(np.linalg.norm(sums, axis=1).sum() / counts.sum())
        self.concentration = _concentration(resultant, d)
        for _ in range(self.rounds):
            shares = np.exp(self._log_shares(X))
            totals, weights = shares.T @ X + sums, shares.sum(axis=0) + counts
            self.centres, self.sizes = unit(totals), np.log(weights / weights.sum())
            resultant = float(np.linalg.norm(totals, axis=1).sum() / weights.sum())
            self.concentration = _concentration(resultant, d)
        return self

    def _log_shares(self, X: Floats) -> Floats:
        scores = self.concentration * (X @ self.centres.T) + self.sizes
        scores -= scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def predict(self, documents: Documents) -> Ints:
        """Most probable topic at each level, children of the one above only."""
        shares = np.exp(self._log_shares(documents.vectors.astype(np.float64)))
        return descend(self.tree, self.topics, shares)


class Hyperbolic:
    """The tree in hyperbolic space, a map from vectors to it, and the nearest topic there.

    Topics get one orthogonal direction each and lie on paths from the origin, so that distances in
    the Poincaré ball grow with the number of edges between topics. A ridge regression on the seeds
    maps vectors to the tangent space at the origin.
    """

    named = True

    def __init__(self, edge: float = 1.0) -> None:
        self.edge = edge

    def fit(self, task: Task) -> Self:
        """Place the topics, and learn the map."""
        tree = self.tree = task.taxonomy.tree
        tangents = np.zeros((len(tree), len(tree)))
        for topic in range(len(tree)):
            above = int(tree.parent[topic])
            tangents[topic] = tangents[above] if above >= 0 else 0.0
            tangents[topic, topic] = self.edge
        rows, topics = task.seed_pairs()
        self.map = RidgeCV(alphas=(0.1, 1.0, 10.0)).fit(task.seeds.vectors[rows], tangents[topics])
        self.topics = np.unique(topics)
        self.places = into_ball(tangents[self.topics])
        return self

    def predict(self, documents: Documents) -> Ints:
        """Nearest topic by hyperbolic distance."""
        points = into_ball(np.asarray(self.map.predict(documents.vectors), dtype=np.float64))
        within = 1 - (points**2).sum(axis=1)
        edges = 1 - (self.places**2).sum(axis=1)
        apart = (points**2).sum(axis=1)[:, None] + (self.places**2).sum(axis=1)
        apart = np.maximum(apart - 2 * points @ self.places.T, 0)
        return self.tree.ancestors[self.topics[(apart / np.outer(within, edges)).argmin(axis=1)]]


class Projected:
    """The default method, then a discriminant projection from seeds and confident documents.

    Documents whose score is at least `confident` at every level count with their topic. The default
    method is then fitted again to the projected vectors; `parameters` are its own.
    """

    named = True

    def __init__(self, confident: float = 0.9, **parameters: Any) -> None:
        self.confident, self.parameters = confident, parameters

    def fit(self, task: Task) -> Self:
        """Fit, project, fit again."""
        first = Ours("anchored", **self.parameters).fit(task)
        levels, scores = first.scores(task.fitting)
        sure = (np.nanmin(np.where(levels >= 0, scores, np.nan), axis=1) >= self.confident) & (
            levels[:, 0] >= 0
        )
        rows, topics = task.seed_pairs()
        deepest = levels.max(axis=1)
        sure &= np.isin(deepest, topics)
        X = np.vstack([task.seeds.vectors[rows], task.fitting.vectors[sure]])
        y = np.concatenate([topics, deepest[sure]])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            self.projection = LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto")
            self.projection.fit(X.astype(np.float64), y)
        self.inner = Ours("anchored", **self.parameters).fit(
            Task(
                task.taxonomy,
                self._project(task.seeds),
                task.seed_topics,
                self._project(task.fitting),
                random_state=task.random_state,
            )
        )
        return self

    def _project(self, documents: Documents) -> Documents:
        vectors = unit(self.projection.transform(documents.vectors.astype(np.float64)))
        return Documents(vectors.astype(np.float32), documents.texts)

    def predict(self, documents: Documents) -> Ints:
        """Place projected documents."""
        return self.inner.predict(self._project(documents))

    def place(self, documents: Documents) -> tuple[Ints, Ints]:
        """Every placement of projected documents."""
        return self.inner.place(self._project(documents))

    @property
    def taxonomy_(self) -> Any:
        """The taxonomy with the Other topics that were added."""
        return self.inner.taxonomy_


def descend(tree: Tree, topics: Ints, shares: Floats) -> Ints:
    """At each level the child with the largest share below it, or stop where a topic itself has it.

    `shares` has one column for each of `topics`.
    """
    ancestors = tree.ancestors[topics]
    own = np.zeros((len(shares), len(tree)))
    own[:, topics] = shares
    below = np.zeros((len(shares), len(tree)))
    for level in range(tree.height):
        here = ancestors[:, level] >= 0
        np.add.at(below.T, ancestors[here, level], shares[:, here].T)
    place = np.full(len(shares), -1)
    moving = np.ones(len(shares), dtype=bool)
    for _ in range(tree.height):
        for parent in np.unique(place[moving]):
            rows, children = np.flatnonzero(moving & (place == parent)), tree.children(int(parent))
            if not len(children):
                moving[rows] = False
                continue
            best = below[np.ix_(rows, children)]
            stays = (
                own[rows, parent] > best.max(axis=1) if parent >= 0 else np.zeros(len(rows), bool)
            )
            moving[rows[stays]] = False
            place[rows[~stays]] = children[best[~stays].argmax(axis=1)]
    return tree.ancestors[place]


def into_ball(tangents: Floats) -> Floats:
    """Exponential map at the origin of the Poincaré ball."""
    length = np.linalg.norm(tangents, axis=1, keepdims=True)
    return np.tanh(length / 2) * tangents / np.where(length > 0, length, 1.0)


def _concentration(resultant: float, d: int) -> float:
    return resultant * (d - resultant**2) / max(1 - resultant**2, 1e-9)
