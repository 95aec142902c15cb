"""HierSeed and Unfit-HierSeed: check inputs, call the core, name the results."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import ArrayBlocks, Blocks
from hierseed.core.hierseed.descend import predict
from hierseed.core.hierseed.loop import Fitted, Settings, State, fit, unfit
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.other import SPELLINGS
from hierseed.core.hierseed.score import placed_and_margins, scored
from hierseed.core.hierseed.vectors import start as start_vectors
from hierseed.core.score import Scored
from hierseed.errors import name_some
from hierseed.estimators.base import Progress, SeededEstimator, check_start, need_seeds
from hierseed.estimators.inputs import refuse_bare_leaves, seed_means
from hierseed.estimators.parameters import NONE, Constraints, Each, Interval, OneOf
from hierseed.taxonomy import Taxonomy

Floats = NDArray[np.float64]
SHARE, NOT_NEGATIVE, POSITIVE = Interval(0, 1), Interval(0), Interval(0, closed="neither")
COUNT = Interval(1, whole=True)


class EmptyTopicWarning(UserWarning):
    """Some topics reach no document."""


class HierSeed(SeededEstimator):
    """Seeded hierarchical clustering (Saha et al. 2022).

    Parameters
    ----------
    taxonomy : Taxonomy
        The experts' tree.
    pivot_level : int, default=1
        The level at which documents are first placed; below it they descend.
    self_weight, les_weight : float
        Weight of a topic's own vector and of its children's largest empty sphere in the
        bottom-up mean; the children together weigh 1.
    self_weight_step : float, default=0
        Added to `self_weight` each round. The published notebooks start at 5 and add 1.
    sphere : {"ratio", "deviation", "empty"}
        Which documents count as centres of a sphere: a spread of at most 10 times the least
        (the published code), at most mean less deviation (the paper), or the strict definition.
    child_factor, sibling_factor : float
        A pivot topic's radius: so many times the distance of its furthest child, or, without
        children, of its nearest sibling. The published notebooks take 2.3 and 1.3.
    alpha : float, default=1.1
        A topic that reaches no document reaches `alpha` times its nearest instead.
    eccentricity : float in [0, 1], one per topic, or None
        What becomes of a document within reach of two siblings. None: the nearer keeps it.
        Towards 1 both keep it, towards 0 neither does.
    other : {True, "below", False}
        Add an Other child to every inner topic from the pivot down and at the pivot itself,
        only below the pivot, or nowhere.
    other_spelling : {"text", "printed"}
        How far out Other sits: as the paper says, or as its equation is printed.
    max_iter, tol : int, float
        At most so many rounds; stop when the objective falls by less than this share.
    refine_max_iter, refine_tol : int, float
        The same for the k-means of each level; `refine_tol` is a share of documents that move.
    n_jobs : int or None
        Threads; None takes all cores. The result does not depend on it.

    Attributes
    ----------
    taxonomy_ : Taxonomy with the Other topics appended
    vectors_ : (topics, dimensions)
    radii_ : reach of each pivot topic, NaN elsewhere
    labels_ : deepest topic of each document, -1 for None
    objective_ : level-weighted squares, every document counted
    history_ : one dict per round: objective, coverage, moved; seconds too until it is saved
    n_iter_ : rounds run
    coverage_ : share of documents that are not None
    empty_ : topics that reach no document
    """

    _parameter_constraints: ClassVar[Constraints] = {
        "pivot_level": [COUNT],
        "self_weight": [NOT_NEGATIVE],
        "self_weight_step": [NOT_NEGATIVE],
        "les_weight": [NOT_NEGATIVE],
        "sphere": [OneOf(("ratio", "deviation", "empty"))],
        "child_factor": [POSITIVE],
        "sibling_factor": [POSITIVE],
        "alpha": [Interval(1)],
        "eccentricity": [NONE, SHARE],
        "other": [OneOf((True, "below", False))],
        "other_spelling": [OneOf(SPELLINGS)],
        "max_iter": [COUNT],
        "tol": [NOT_NEGATIVE],
        "refine_max_iter": [COUNT],
        "refine_tol": [NOT_NEGATIVE],
        "n_jobs": [NONE, COUNT],
    }

    def __init__(
        self,
        taxonomy: Taxonomy,
        *,
        pivot_level: int = 1,
        self_weight: float = 1.0,
        self_weight_step: float = 0.0,
        les_weight: float = 4.0,
        sphere: str = "ratio",
        child_factor: float = 2.0,
        sibling_factor: float = 1.0,
        alpha: float = 1.1,
        eccentricity: float | Sequence[float] | None = None,
        other: bool | str = True,
        other_spelling: str = "text",
        max_iter: int = 20,
        tol: float = 1e-4,
        refine_max_iter: int = 5,
        refine_tol: float = 1e-3,
        n_jobs: int | None = None,
    ) -> None:
        self.taxonomy = taxonomy
        self.pivot_level = pivot_level
        self.self_weight = self_weight
        self.self_weight_step = self_weight_step
        self.les_weight = les_weight
        self.sphere = sphere
        self.child_factor = child_factor
        self.sibling_factor = sibling_factor
        self.alpha = alpha
        self.eccentricity = eccentricity
        self.other = other
        self.other_spelling = other_spelling
        self.max_iter = max_iter
        self.tol = tol
        self.refine_max_iter = refine_max_iter
        self.refine_tol = refine_tol
        self.n_jobs = n_jobs

    # ---------------------------------------------------------------- fitting

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        X_seeds: Any = None,
        y_seeds: Any = None,
        start: HierSeed | None = None,
        progress: Progress | None = None,
        checkpoint: Any = None,
    ) -> Self:
        """Fit topics to a corpus.

        Parameters
        ----------
        X : (documents, dimensions), float16, float32 or float64; a memory map is not loaded
        y : topic id per row, -1 where the row is no seed; or a list of ids per row
        X_seeds, y_seeds : seeds that are not rows of X
        start : an earlier model to go on from; topics are matched by path, and only those it
            does not know need seeds
        progress : called after each round with that round's entry of `history_`
        checkpoint : a folder where each finished round is kept; the same fit, stopped and
            called again, goes on from there and ends with the same bits
        """
        need_seeds(y, X_seeds, start)
        settings = self._settings()
        blocks, largest = self._corpus(X)
        seeds, topics, longest = self._seeds(blocks, y, X_seeds, y_seeds)
        largest = max(largest, longest)
        means, known = seed_means(seeds, topics, len(self.taxonomy))
        if start is None:
            refuse_bare_leaves(self.taxonomy, known)
            taxonomy, vectors = self.taxonomy, start_vectors(self.taxonomy.tree, means, known)
            extended = {int(taxonomy.tree.parent[t]) for t in np.flatnonzero(taxonomy.is_other)}
        else:
            taxonomy, vectors, extended = _go_on(self.taxonomy, start, means, known, blocks.width)
        keeping = self._resumable(
            checkpoint, State, blocks, taxonomy.tree.parent, vectors, sorted(extended)
        )
        run = self._run(blocks, seeds, settings, progress=progress, **keeping)
        result = run(taxonomy.tree, vectors, largest=largest, extended=extended)
        self._keep(result, taxonomy)
        self.labels_, self.margins_ = placed_and_margins(blocks, self._model, largest)
        self.coverage_ = float((self.labels_ >= 0).mean())
        return self

    def _run(
        self, blocks: Blocks, seeds: Floats, settings: Settings, **rounds: Any
    ) -> Callable[..., Fitted]:
        return partial(fit, blocks, settings=settings, **rounds)

    def _keep(self, result: Fitted, taxonomy: Taxonomy) -> None:
        added = result.model.tree.parent[len(taxonomy) :]
        self.taxonomy_ = taxonomy.with_others([int(t) for t in added])
        self._model = result.model
        self.vectors_ = result.model.vectors
        self.radii_ = result.model.radii
        self.history_ = result.history
        self.n_iter_ = len(result.history)
        self.objective_ = result.objective.total if result.objective else float("nan")
        self.empty_ = result.empty
        listed = [t for t in result.empty if not self.taxonomy_.is_other[t]]
        if listed:
            warnings.warn(
                f"{len(listed)} topic(s) reach no document: "
                f"{name_some(self.taxonomy_.paths[t] for t in listed)}. "
                "More varied seeds, or a higher alpha, may help.",
                EmptyTopicWarning,
                stacklevel=3,
            )

    def _place(self, blocks: Blocks) -> Iterator[NDArray[np.integer]]:
        return blocks.map(predict, self._model)

    def _score(self, blocks: Blocks) -> Iterator[Scored]:
        return blocks.map(scored, self._model, self.margins_)

    def _pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header = {
            "pivot_level": self._model.pivot_level,
            "objective": self.objective_,
            "coverage": self.coverage_,
            "history": self.history_,
        }
        arrays = {
            "vectors": self.vectors_,
            "radii": self.radii_,
            "eccentricity": self._model.eccentricity,
            "margins": self.margins_,
            "labels": self.labels_,
            "empty": self.empty_,
        }
        return header, arrays

    def _unpack(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.vectors_, self.radii_ = arrays["vectors"], arrays["radii"]
        self.margins_, self.labels_ = arrays["margins"], arrays["labels"]
        self.empty_ = arrays["empty"]
        self._model = Model(
            self.taxonomy_.tree, header["pivot_level"], self.vectors_, self.radii_,
            arrays["eccentricity"],
        )  # fmt: skip
        self.objective_, self.coverage_ = header["objective"], header["coverage"]
        self.history_ = header["history"]
        self.n_iter_ = len(self.history_)

    def _constraints(self) -> Constraints:
        return {
            **self._parameter_constraints,
            "pivot_level": [Interval(1, self.taxonomy.tree.height, whole=True)],
            "eccentricity": [NONE, SHARE, Each(SHARE, len(self.taxonomy), "topics")],
        }

    def _settings(self) -> Settings:
        self._check_taxonomy()
        return Settings(**{field.name: getattr(self, field.name) for field in fields(Settings)})


class UnfitHierSeed(HierSeed):
    """HierSeed without the fitting set: topics from seeds alone, then inference.

    The parameters and attributes are those of HierSeed. `fit` looks at the seeds only; its
    other rows are placed (`labels_`) but have no influence.
    """

    def _run(
        self, blocks: Blocks, seeds: Floats, settings: Settings, **rounds: Any
    ) -> Callable[..., Fitted]:
        documents = ArrayBlocks(np.unique(seeds, axis=0)) if len(seeds) else blocks
        return partial(unfit, documents, settings=settings)


def _go_on(
    taxonomy: Taxonomy,
    earlier: HierSeed,
    means: Floats,
    known: NDArray[np.bool_],
    width: int,
) -> tuple[Taxonomy, Floats, set[int]]:
    """Start from an earlier model: its topics by path, and its Other topics with their parents.

    Also answers which topics (-1: the root) it has looked at already for an Other.
    """
    check_start(earlier, width)
    old = earlier.taxonomy_
    parents, others = [], []
    for topic in np.flatnonzero(old.is_other).tolist():
        above = int(old.tree.parent[topic])
        known_parent = above < 0 or old.paths[above] in taxonomy
        if old.paths[topic] not in taxonomy and known_parent:
            here = -1 if above < 0 else taxonomy.index(old.paths[above])
            if here < 0 or not taxonomy.tree.is_leaf[here]:
                parents.append(here)
                others.append(earlier.vectors_[topic])
    vectors, known, extended = means.copy(), known.copy(), {-1}
    for topic, path in enumerate(taxonomy.paths):
        if path in old:
            vectors[topic], known[topic] = earlier.vectors_[old.index(path)], True
            extended.add(topic)
    refuse_bare_leaves(taxonomy, known)
    vectors = start_vectors(taxonomy.tree, vectors, known)
    vectors = np.concatenate([vectors, *(vector[None] for vector in others)])
    return taxonomy.with_others(parents), vectors, extended
