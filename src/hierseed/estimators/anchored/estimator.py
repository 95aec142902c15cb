"""AnchoredHierSeed: our own method (docs/method.md). Check inputs, call the core, name results."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import astuple, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import RECORD, Assignments
from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.arrays import Floats, Ints
from hierseed.core.blocks import Blocks, check_vectors
from hierseed.core.exact import Quantization
from hierseed.core.mixture.accuracy import Share, expect_levels, expect_topics, listed_of_placed
from hierseed.core.mixture.calibration import (
    CorpusScores,
    label_and_count,
    mean_scores,
    thresholds,
)
from hierseed.core.mixture.components import sum_up
from hierseed.core.mixture.em import Settings, State
from hierseed.core.mixture.placement import (
    Placer,
    labels,
    learn_secondary_ratio,
    scored,
    topic_probabilities,
)
from hierseed.core.score import Scored
from hierseed.estimators.anchored.fitting import (
    Finding,
    append_others,
    diagnose_fit,
    fit_mixture,
    make_placer,
    pack_placer,
    unpack_placer,
    with_stand_ins,
)
from hierseed.estimators.base import Progress, SeededEstimator
from hierseed.estimators.inputs import (
    Groups,
    SeedPairs,
    check_fitted,
    checkpointing,
    is_engine,
    replace_records,
    seed_pairs,
    with_seeds,
)
from hierseed.estimators.parameters import BOOLEAN, NONE, Constraints, Interval, OneOf
from hierseed.taxonomy import Taxonomy

SEEDS = "seeds"  # they say how many topics a document has


class AnchoredHierSeed(SeededEstimator):
    """A mixture over the taxonomy, anchored at the seeds.

    Every leaf is a kind of document; siblings share what they have in common; sizes and the
    directions that tell topics apart are learned from the whole corpus; what fits no listed
    topic goes to Other or None, at every level; scores are probabilities.

    Parameters
    ----------
    taxonomy : Taxonomy
        The topics.
    precision : float in (0, 1) or None, default=None
        Stop a document higher up, or leave it out, so that this share of what is kept at each
        level is expected to be right, by scores that may be too sure: see the table in
        docs/method.md. Further topics must reach it too. None: as deep as documents go.
    several : "seeds", float in (0, 1] or None, default="seeds"
        `assign` also places a document in every further topic that is at least this many times as
        probable as its main one: 0.5, half as probable. "seeds" takes what gives documents as
        many topics as seeds have, on average. None gives each document one topic.
    other : bool, default=True
        Whether documents may belong to no listed topic. Foreign documents then do not shape
        topics, and are placed in Other below an inner topic or in None.
    false_alarm : float in [0, 1), default=0.05
        The largest share of documents of listed topics that may be lost to Other and None. It is
        spent only where foreign documents are found. 0 places every document.
    seed_weight : float, default=10.0
        Weight of a seed, in documents.
    tree_weight : float or None, default=None
        Weight of a topic's parent, in seeds; None learns it from the seeds.
    smoothing : float, default=1.0
        Variance added to every direction, in units of the corpus' own.
    max_iter, tol : int, float, default=3, 1e-4
        Largest number of rounds over the whole corpus, after an initialisation on a sample; stop
        when the objective falls by less than `tol`.
    n_jobs : int or None, default=None
        Number of threads; None uses all cores. The result does not depend on it.

    Attributes
    ----------
    taxonomy_ : Taxonomy
        The taxonomy with the Other topics appended.
    vectors_ : ndarray of shape (n_topics, n_features)
        Mean of each topic.
    sizes_ : ndarray of shape (n_topics,)
        Share of the documents that belong in each topic, those below included.
    foreign_share_ : Share
        Share of the corpus that belongs to no listed topic: `value`, `low`, `high`. All are 0
        where it is not estimated: with fewer than five seeds that others can stand in for, and
        with a `false_alarm` of 0.
    rejects_ : bool
        Whether there are seeds enough to reject documents at this `false_alarm`.
    expected_accuracy_ : list of Share
        For each level the share of placements to expect right, with an interval.
    expected_topic_accuracy_ : list of Share or None
        For each topic of `taxonomy_` the share to expect right of the documents placed in it or
        below, with an interval; None for Other topics and topics without documents. Empty in
        models that an older version saved.
    diagnosis_ : list of Finding
        Topics with suspiciously many or few documents, or far from their seeds; what to do.
    tree_weight_ : float
        The tree weight used.
    temperature_ : float
        Divides the logarithms of raw probabilities; 1 leaves them as they are.
    several_ : float or None
        How many times as probable as the main one further topics must be; None: one topic.
    curve_ : ndarray of shape (n_levels, 2)
        How probabilities become scores: offset and slope of their log odds.
    thresholds_ : ndarray of shape (n_levels,)
        Score that a placement must reach at each level.
    labels_ : ndarray of shape (n_documents,)
        Deepest topic of each document, -1 for None; seeds keep their topic.
    objective_ : float
        Penalised negative log-likelihood per document.
    history_ : list of dict
        Objective, coverage, documents moved and seconds of each round; seconds are not saved.
    n_iter_ : int
        Number of rounds.
    coverage_ : float
        Share of documents that are not None.

    Examples
    --------
    >>> import numpy as np
    >>> from hierseed import AnchoredHierSeed, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["Sport > Tennis", "Sport > Golf", "Music"])
    >>> X = np.array([[0.0, 1.0], [0.2, 1.1], [1.0, 0.0], [1.1, 0.2], [5.0, 5.0], [5.1, 4.9]])
    >>> seeds = {"Sport > Tennis": [0], "Sport > Golf": [2], "Music": [4]}
    >>> model = AnchoredHierSeed(taxonomy).fit(X, taxonomy.labels(seeds, len(X)))
    >>> model.taxonomy_.paths[model.predict([[0.1, 0.8]])[0]]
    'Sport > Tennis'

    The examples of the methods continue this one.
    """

    _largest_blocks = 2
    _parameter_constraints: ClassVar[Constraints] = {
        "precision": [NONE, Interval(0, 1, closed="neither")],
        "several": [OneOf((SEEDS, None)), Interval(0, 1, closed="right")],
        "other": [BOOLEAN],
        "false_alarm": [Interval(0, 1, closed="left")],
        "seed_weight": [Interval(0, closed="neither")],
        "tree_weight": [NONE, Interval(0, closed="neither")],
        "smoothing": [Interval(0, closed="neither")],
        "max_iter": [Interval(1, whole=True)],
        "tol": [Interval(0)],
        "n_jobs": [NONE, Interval(1, whole=True)],
    }
    _placer: Placer

    def __init__(
        self,
        taxonomy: Taxonomy,
        *,
        precision: float | None = None,
        several: float | str | None = SEEDS,
        other: bool = True,
        false_alarm: float = 0.05,
        seed_weight: float = 10.0,
        tree_weight: float | None = None,
        smoothing: float = 1.0,
        max_iter: int = 3,
        tol: float = 1e-4,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.precision = precision
        self.several = several
        self.other = other
        self.false_alarm = false_alarm
        self.seed_weight = seed_weight
        self.tree_weight = tree_weight
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs

    # ---------------------------------------------------------------- fitting

    def _fit(
        self, blocks: Blocks, largest: float, settings: Settings, given: SeedPairs, refused: Groups,
        start: SeededEstimator | None, progress: Progress | None, checkpoint: Any,
    ) -> None:  # fmt: skip
        given = with_stand_ins(given, self.taxonomy, start).without(refused)
        quantization = Quantization.holding(
            blocks.n + len(given.topics), max(largest, given.longest)
        )
        rounds = checkpointing(
            self, checkpoint, State, blocks, given.vectors, given.seed, given.topics, given.decided
        )
        found = fit_mixture(
            self.taxonomy, blocks, given, settings, quantization, self.other,
            progress=progress, **rounds,
        )  # fmt: skip
        result = found.result
        placer = make_placer(self.taxonomy, found, quantization.vectors)
        if isinstance(self.several, str):
            ratio = learn_secondary_ratio(found.sample.X, placer, given.topics_each)
        else:
            ratio = self.several
        placer = replace(placer, secondary=ratio, promise=self.precision or 0.0)
        self.taxonomy_, placer = append_others(self.taxonomy, placer, found, self.n_jobs)
        self._keep(placer)
        self.tree_weight_ = result.problem.scale.tree_weight
        self.history_, self.n_iter_ = result.history, len(result.history)
        self.objective_ = float(result.history[-1]["objective"])
        self.n_held_out_ = 0 if found.held_out is None else found.held_out.own.shape[1]
        scores = self._label(blocks, given.rows, given.topics[: len(given.rows)], refused)
        listed = listed_of_placed(self.foreign_share_, self.coverage_)
        self.expected_accuracy_ = expect_levels(
            found.scores.held, mean_scores(scores.of_level), self.thresholds_, listed
        )
        self.expected_topic_accuracy_ = expect_topics(
            np.where(self.taxonomy_.is_other, np.nan, scores.topic_means()),
            scores.of_topic[0],
            self.taxonomy_.tree.level,
            self.expected_accuracy_,
        )
        self.diagnosis_ = diagnose_fit(self.taxonomy_, self._placer, found, given, self.labels_)

    def _keep(self, placer: Placer) -> None:
        self._placer, self.vectors_, self.several_ = placer, placer.vectors, placer.secondary
        self.temperature_, self.curve_ = placer.temperature, placer.curve
        self.thresholds_ = placer.thresholds
        self.foreign_share_ = placer.membership.foreign
        self.rejects_ = bool(np.isfinite(placer.membership.belonging.limit))
        self.sizes_ = sum_up(placer.components, np.exp(placer.mixture.log_size))

    def _label(self, blocks: Blocks, rows: Ints, topics: Ints, refused: Groups) -> CorpusScores:
        """Place the corpus and return its scores; if a precision is set, find thresholds first."""
        found, scores = label_and_count(blocks, self._placer)
        if self.precision is not None:
            self.set_thresholds(thresholds(scores.of_level, self.precision), self.precision)
            found, scores = label_and_count(blocks, self._placer)
        for rejected, some in refused.items():
            placer = self._placer.without(rejected)
            found[some] = np.concatenate(list(_taken(blocks, some).map(labels, placer)))
        found[rows[::-1]] = topics[::-1]  # of several topics the first given
        self.labels_ = found
        self.coverage_ = float(np.count_nonzero(found >= 0)) / len(found)
        return scores

    def set_thresholds(self, thresholds: Floats, promise: float = 0.0) -> None:
        """Place documents from now on only where their score reaches the threshold of the level.

        Parameters
        ----------
        thresholds : one for each level
        promise : least score of a further topic of a document

        Examples
        --------
        >>> model.set_thresholds([1.1, 1.1])
        >>> model.predict([[0.1, 0.8]]).tolist()
        [-1]
        """
        self.thresholds_ = np.asarray(thresholds, dtype=np.float64)
        self._placer = replace(self._placer, thresholds=self.thresholds_, promise=promise)

    # ---------------------------------------------------------------- using it

    def assign(self, X: Any, y: Any = None, *, rejected: Any = None) -> Assignments:
        """Place documents with distance and score at each level; seeds in `y` keep their topics.

        Examples
        --------
        >>> model.assign(X[:2], taxonomy.labels({"Sport > Tennis": [0]}, 2)).is_seed.tolist()
        [True, False]
        """
        placed = super().assign(X, y, rejected=rejected)
        rows, topics = seed_pairs(y, placed.n_documents, self.taxonomy_)
        if not len(rows):
            return placed
        seeds = X if is_engine(X) else ArrayBlocks(check_vectors(X))
        return with_seeds(placed, rows, topics, self._distances(seeds.take(rows), topics))

    def _place_elsewhere(self, placed: Assignments, blocks: Blocks, groups: Groups) -> Assignments:
        parts = []
        for topics, rows in groups.items():
            for part in _taken(blocks, rows).map(scored, self._placer.without(topics)):
                parts.append(replace(part, row=rows[part.row]))
        records = {name: np.concatenate([getattr(p, name) for p in parts]) for name in RECORD}
        return replace_records(placed, np.concatenate(list(groups.values())), records)

    @property
    def classes_(self) -> Ints:
        """Topics that documents can be placed in, for the columns of `predict_proba`."""
        check_fitted(self)
        return np.sort(self._placer.components.topic)

    def predict_proba(self, X: Any) -> Floats:
        """Return (documents, classes): the probability of each topic of `classes_`.

        A row sums up to the probability that the document belongs to a listed topic.

        Examples
        --------
        >>> found = model.predict_proba([[0.1, 0.8]])
        >>> model.taxonomy_.paths[model.classes_[found.argmax()]]
        'Sport > Tennis'
        """
        found = self._known(X).map(topic_probabilities, self._placer)
        return np.concatenate([np.zeros((0, len(self.classes_))), *found])

    def _distances(self, X: Floats, topics: Ints) -> Floats:
        """Distance of each row to its topic at every level, NaN below it."""
        path = self.taxonomy_.tree.ancestors[topics]
        found = np.linalg.norm(X[:, None] - self.vectors_[path], axis=2)
        return np.where(path >= 0, found, np.nan).astype(np.float32)

    def _place(self, blocks: Blocks) -> Iterator[NDArray[np.integer]]:
        return blocks.map(labels, self._placer)

    def _score(self, blocks: Blocks) -> Iterator[Scored]:
        return blocks.map(scored, self._placer)

    # ---------------------------------------------------------------- on disk

    def _pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header, arrays = pack_placer(self._placer)
        header |= {
            "tree_weight": self.tree_weight_,
            "held_out": self.n_held_out_,
            "expected": [[one.value, one.low, one.high] for one in self.expected_accuracy_],
            "diagnosis": [vars(one) for one in self.diagnosis_],
        }
        nothing = (np.nan, np.nan, np.nan)
        expected = [astuple(one) if one else nothing for one in self.expected_topic_accuracy_]
        return header, arrays | {"labels": self.labels_, "expected": np.reshape(expected, (-1, 3))}

    def _unpack(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self._keep(unpack_placer(self.taxonomy_, header, arrays))
        self.tree_weight_ = header["tree_weight"]
        self.n_held_out_ = header["held_out"]
        self.expected_accuracy_ = [Share(*one) for one in header["expected"]]
        topics = arrays.get("expected", np.zeros((0, 3))).tolist()  # older models have none
        if len(topics) not in (0, len(self.taxonomy_)):
            raise ValueError(f"accuracy of {len(topics)} topics, not {len(self.taxonomy_)}")
        self.expected_topic_accuracy_ = [
            None if math.isnan(one[0]) else Share(*one) for one in topics
        ]
        self.diagnosis_ = [Finding(**one) for one in header["diagnosis"]]
        self.set_thresholds(arrays["thresholds"], header.get("promise", self.precision or 0.0))
        self.labels_ = arrays["labels"]

    # ---------------------------------------------------------------- checking

    def _settings(self) -> Settings:
        self._check_taxonomy()
        return Settings(**{field.name: getattr(self, field.name) for field in fields(Settings)})


def _taken(blocks: Blocks, rows: Ints) -> Blocks:
    """Some rows of a corpus as a corpus of their own."""
    return ArrayBlocks(check_vectors(blocks.take(rows)))
