"""Detectors of foreign documents: each gives a score per document, high where it belongs.

All but the first four look only at vectors and seeds; they are what people use for this. The last
two are given labels: yardsticks, not rivals.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.covariance import LedoitWolf
from sklearn.linear_model import LogisticRegression
from sklearn.svm import OneClassSVM

from hierseed.assignments import Assignments
from hierseed.estimators.parameters import METHODS
from hierseed_bench.foreign.scenarios import Scenario

Floats = NDArray[Any]
NEIGHBOURS, BACKGROUND = 20, 2_000  # of the nearest seed mean less background
FOLDS = 5  # of the ridge that is given all labels


class Situation:
    """A scenario with the fitted model that is judged; parts that detectors share are kept."""

    def __init__(self, scenario: Scenario, model: Any, placed: Assignments) -> None:
        self.scenario, self.model, self.placed = scenario, model, placed
        self.X = scenario.X
        self.seeds = scenario.X[scenario.seeds]
        self.topics = scenario.seed_topics

    @cached_property
    def means(self) -> Floats:
        """Mean of each topic's seeds, of unit length."""
        present = np.unique(self.topics)
        means = np.stack([self.seeds[self.topics == topic].mean(axis=0) for topic in present])
        return means / np.linalg.norm(means, axis=1, keepdims=True)

    @cached_property
    def logits(self) -> Floats:
        """Decision values of a logistic regression on the seeds, one column per topic."""
        classifier = LogisticRegression(max_iter=1000).fit(self.seeds, self.topics)
        values = classifier.decision_function(self.X)
        return values if values.ndim == 2 else np.stack([-values, values], axis=1) / 2

    @cached_property
    def mahalanobis(self) -> Floats:
        """Squared distance to the nearest seed mean, by the seeds' shared covariance."""
        present, group = np.unique(self.topics, return_inverse=True)
        means = np.stack([self.seeds[group == i].mean(axis=0) for i in range(len(present))])
        estimate = LedoitWolf(assume_centered=True).fit(self.seeds - means[group])
        return _least_distance(self.X, means, estimate.precision_)


def belongs(at: Situation) -> Floats:
    """Return the probability that a document belongs to any listed topic."""
    return np.asarray(at.placed.belongs[at.placed.primary, 0], dtype=np.float64)


def belongs_below(at: Situation) -> Floats:
    """Return the least probability of belonging over the levels: an Other below counts too."""
    return np.asarray(np.nanmin(at.placed.belongs[at.placed.primary], axis=1), dtype=np.float64)


def score(at: Situation) -> Floats:
    """Return the model's score of the deepest topic."""
    return np.asarray(at.placed.at(at.placed.score)[at.placed.primary])


def hierseed_radii(at: Situation) -> Floats:
    """Compare distances to HierSeed's topics of the pivot level with their radii."""
    model = METHODS["hierseed"].estimator(at.scenario.taxonomy)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(at.X, at.scenario.y)
    fitted: Any = model
    pivots = np.flatnonzero(np.isfinite(fitted.radii_) & ~model.taxonomy_.is_other)
    ratio = _distances(at.X, fitted.vectors_[pivots]) / fitted.radii_[pivots]
    return -ratio.min(axis=1)


def max_probability(at: Situation) -> Floats:
    """Return the largest class probability of a logistic regression on the seeds."""
    return np.asarray(np.exp(at.logits.max(axis=1) - logsumexp(at.logits, axis=1)))


def energy(at: Situation) -> Floats:
    """Return the log of the summed exponentials of its decision values."""
    return np.asarray(logsumexp(at.logits, axis=1))


def mahalanobis(at: Situation) -> Floats:
    """Measure the distance to the nearest seed mean by the seeds' shared covariance."""
    return -at.mahalanobis


def relative_mahalanobis(at: Situation) -> Floats:
    """Compare that distance with the distance to the corpus mean by the corpus covariance."""
    corpus = LedoitWolf().fit(at.X)
    return _least_distance(at.X, corpus.location_[None], corpus.precision_) - at.mahalanobis


def nearest_seeds(at: Situation) -> Floats:
    """Return the cosine to the fourth nearest seed: k nearest neighbours."""
    similarity = at.X @ at.seeds.T
    k = min(4, similarity.shape[1])
    return np.asarray(np.partition(similarity, -k, axis=1)[:, -k])


def nearest_seed(at: Situation) -> Floats:
    """Return the cosine to the nearest seed."""
    return np.asarray((at.X @ at.seeds.T).max(axis=1))


def one_class_svm(at: Situation) -> Floats:
    """Fit a one-class support vector machine to the seeds."""
    machine = OneClassSVM(gamma="scale", nu=0.1).fit(at.seeds)
    return np.asarray(machine.decision_function(at.X))


def positive_unlabelled(at: Situation) -> Floats:
    """Tell seeds from the corpus by logistic regression, both classes weighted alike."""
    rows = np.concatenate([at.seeds, at.X])
    is_seed = np.repeat([1, 0], [len(at.seeds), len(at.X)])
    classifier = LogisticRegression(class_weight="balanced", max_iter=1000).fit(rows, is_seed)
    return np.asarray(classifier.decision_function(at.X))


def mean_less_background(at: Situation) -> Floats:
    """Cosine to the nearest seed mean, less the mean cosine to near documents drawn at random."""
    rng = np.random.default_rng([at.scenario.draw, 6])
    rows = rng.choice(len(at.X), min(BACKGROUND, len(at.X)), replace=False)
    similarity = at.X @ at.X[rows].T
    similarity[rows, np.arange(len(rows))] = -1  # a document is not its own neighbour
    near = np.partition(similarity, -NEIGHBOURS, axis=1)[:, -NEIGHBOURS:].mean(axis=1)
    return np.asarray((at.X @ at.means.T.astype(np.float32)).max(axis=1) - near)


def ridge_all_labels(at: Situation) -> Floats:
    """Largest decision value of a ridge regression on the labels of all own documents."""
    values, _ = _ridge(at, at.scenario.gold)
    return np.asarray(values.max(axis=1))


def ridge_every_topic(at: Situation) -> Floats:
    """Decision value of the best listed topic less that of the best missing one.

    The ridge regression is given the labels of all documents, foreign ones too: an upper bound in
    practice. Missing topics are told apart by their parent and their topic of level 1.
    """
    scenario = at.scenario
    kinds = np.stack([scenario.home, scenario.missing], axis=1)
    kind = np.unique(kinds, axis=0, return_inverse=True)[1].reshape(-1)
    listed = len(scenario.taxonomy)
    values, present = _ridge(at, np.where(scenario.foreign, listed + kind, scenario.gold))
    known = present < listed
    return np.asarray(values[:, known].max(axis=1) - values[:, ~known].max(axis=1))


def _ridge(at: Situation, topics: NDArray[np.intp]) -> tuple[Floats, NDArray[np.intp]]:
    """Decision values of a ridge regression on these labels, and the topic of each column.

    A document with a label is scored by the fit without its fifth, one without (-1) by the mean of
    all fits.
    """
    X = np.asarray(at.X, dtype=np.float64)
    labelled = np.flatnonzero(topics >= 0)
    present, topic = np.unique(topics[labelled], return_inverse=True)
    part = np.random.default_rng([at.scenario.draw, 7]).integers(0, FOLDS, len(labelled))
    found = np.zeros((len(X), len(present)))
    for fold in range(FOLDS):
        rows, target = labelled[part != fold], np.eye(len(present))[topic[part != fold]]
        rows_mean, mean = X[rows].mean(axis=0), target.mean(axis=0)
        A = X[rows] - rows_mean
        weights = np.linalg.solve(A.T @ A + np.eye(X.shape[1]), A.T @ (target - mean))
        value = (X - rows_mean) @ weights + mean
        mine = labelled[part == fold]
        found[topics < 0] += value[topics < 0] / FOLDS
        found[mine] = value[mine]
    return found, present


DETECTORS: dict[str, tuple[str, Callable[[Situation], Floats]]] = {
    "belongs": ("`belongs` of the method, level 1", belongs),
    "belongs-below": ("`belongs` of the method, least over levels", belongs_below),
    "score": ("score of the method", score),
    "hierseed-radii": ("HierSeed's radii", hierseed_radii),
    "max-probability": ("maximum probability", max_probability),
    "energy": ("energy", energy),
    "mahalanobis": ("Mahalanobis", mahalanobis),
    "relative-mahalanobis": ("relative Mahalanobis", relative_mahalanobis),
    "knn": ("4th nearest seed", nearest_seeds),
    "nearest-seed": ("nearest seed", nearest_seed),
    "one-class-svm": ("one-class SVM", one_class_svm),
    "positive-unlabelled": ("positive-unlabelled logistic regression", positive_unlabelled),
    "ten-lines": ("nearest seed mean less background", mean_less_background),
    "ridge-all-labels": ("ridge with the labels of all own documents", ridge_all_labels),
    "ridge-every-topic": ("ridge with all labels, of foreign documents too", ridge_every_topic),
}


def _distances(X: Floats, centres: Floats) -> Floats:
    squares = (X**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * (X @ centres.T)
    return np.sqrt(np.maximum(squares, 0))


def _least_distance(X: Floats, means: Floats, precision: Floats) -> Floats:
    """Squared Mahalanobis distance to the nearest mean, as a Euclidean one after whitening."""
    whiten = np.linalg.cholesky(precision)
    return np.asarray(_distances(X @ whiten, means @ whiten).min(axis=1) ** 2)
