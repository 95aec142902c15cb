"""HierSeed and UnfitHierSeed: check inputs, call the core, name the results."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.arrays import Floats
from hierseed.core.blocks import Blocks
from hierseed.core.hierseed.descend import predict
from hierseed.core.hierseed.loop import VARIANTS, Fitted, Settings, State, fit, unfit
from hierseed.core.hierseed.model import Model, pivots
from hierseed.core.hierseed.other import SPELLINGS
from hierseed.core.hierseed.score import placed_and_margins, scored
from hierseed.core.hierseed.vectors import start as start_vectors
from hierseed.core.score import Scored
from hierseed.core.tree import Tree
from hierseed.errors import ParameterError, name_some
from hierseed.estimators.base import Progress, SeededEstimator
from hierseed.estimators.earlier import continue_from
from hierseed.estimators.inputs import (
    Groups,
    SeedPairs,
    checkpointing,
    refuse_bare_leaves,
    seed_means,
)
from hierseed.estimators.parameters import NONE, Constraints, Each, Interval, OneOf
from hierseed.taxonomy import Taxonomy

SHARE, NOT_NEGATIVE, POSITIVE = Interval(0, 1), Interval(0), Interval(0, closed="neither")
COUNT = Interval(1, whole=True)


class EmptyTopicWarning(UserWarning):
    """Some topics reach no document."""


class HierSeed(SeededEstimator):
    """Seeded hierarchical clustering (Saha et al. 2022).

    Parameters
    ----------
    taxonomy : Taxonomy
        The topics.
    pivot_level : int, default=1
        Level at which documents are placed by radii; below it they go to the nearest child.
    self_weight, les_weight : float, default=1.0, 4.0
        Weight of a topic's own vector and of its children's largest empty sphere in the
        bottom-up mean. The children together weigh 1.
    self_weight_step : float, default=0.0
        Added to `self_weight` in each round. The published notebooks start at 5 and add 1.
    sphere : {"ratio", "deviation", "empty"}, default="ratio"
        Which documents can be the centre of a sphere: those with a spread of at most 10 times the
        least (the published code), of at most the mean minus one standard deviation (the paper),
        or by the strict definition.
    child_factor, sibling_factor : float, default=2.0, 1.0
        Radius of a pivot topic, as a multiple of the distance to its farthest child or, without
        children, to its nearest sibling. The published notebooks use 2.3 and 1.3.
    alpha : float, default=1.1
        A topic without documents gets a radius of `alpha` times the distance to the nearest one.
    eccentricity : float in [0, 1], one per topic, or None, default=None
        Which of two siblings keeps a document within both radii. None: the nearer one. Towards 1
        both do, towards 0 neither does.
    other : {True, "below", False}, default=True
        Add an Other child to every inner topic from the pivot down and beside the pivot topics,
        only below the pivot, or nowhere.
    other_spelling : {"text", "printed"}, default="text"
        Length of the Other vectors: as the paper's text says, or as its equation is printed.
    max_iter : int, default=20
        Largest number of rounds.
    tol : float, default=1e-4
        Stop when the objective falls by less than this share.
    refine_max_iter, refine_tol : int, float, default=5, 1e-3
        Largest number of iterations of the k-means of each level, and the share of documents that
        move below which it stops.
    stop_rule : {"charged", "within"}, default="charged"
        What must fall from round to round: the cost per document, every document charged, or the
        paper's Eq. 4, which counts assigned documents only.
    sphere_triples : {"tightest", "all"}, default="tightest"
        Which triples of children a document may be the centre of: its tightest (the published
        code), or any under the tolerance (the paper).
    overlap : {"always", "fitting"}, default="always"
        Apply the eccentricity rule at inference too, or while fitting only (the paper).
    only_child : {"sibling", "zero"}, default="sibling"
        Radius of a topic whose only child lies at its own place: to the nearest sibling, or zero
        (the paper).
    variant : {"default", "paper", "paper-nyt"}, default="default"
        A set of settings: "paper" is the paper to the letter (docs/fidelity.md), "paper-nyt" the
        same with its sphere weight for NYT.
    n_jobs : int or None, default=None
        Number of threads; None uses all cores. The result does not depend on it.

    Attributes
    ----------
    taxonomy_ : Taxonomy
        The taxonomy with the Other topics appended.
    vectors_ : ndarray of shape (n_topics, n_features)
    radii_ : ndarray of shape (n_topics,)
        Radius of each pivot topic, NaN for others.
    labels_ : ndarray of shape (n_documents,)
        Deepest topic of each document, -1 for None.
    objective_ : float
        Sum of squared distances weighted by level, over all documents.
    history_ : list of dict
        Objective, coverage, documents moved and seconds of each round; seconds are not saved.
    n_iter_ : int
        Number of rounds.
    coverage_ : float
        Share of documents that are not None.
    empty_ : ndarray
        Topics that reach no document.

    Examples
    --------
    >>> import numpy as np
    >>> from hierseed import HierSeed, Taxonomy
    >>> taxonomy = Taxonomy.from_paths(["Sport > Tennis", "Sport > Golf", "Music"])
    >>> X = np.array([[0.0, 1.0], [0.2, 1.1], [1.0, 0.0], [1.1, 0.2], [5.0, 5.0], [5.1, 4.9]])
    >>> seeds = {"Sport > Tennis": [0], "Sport > Golf": [2], "Music": [4]}
    >>> model = HierSeed(taxonomy).fit(X, taxonomy.labels(seeds, len(X)))
    >>> model.taxonomy_.paths[model.predict([[0.1, 0.8]])[0]]
    'Sport > Tennis'
    """

    _largest_blocks = 12
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
        "stop_rule": [OneOf(("charged", "within"))],
        "sphere_triples": [OneOf(("tightest", "all"))],
        "overlap": [OneOf(("always", "fitting"))],
        "only_child": [OneOf(("sibling", "zero"))],
        "variant": [OneOf(tuple(VARIANTS))],
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
        stop_rule: str = "charged",
        sphere_triples: str = "tightest",
        overlap: str = "always",
        only_child: str = "sibling",
        variant: str = "default",
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
        self.stop_rule = stop_rule
        self.sphere_triples = sphere_triples
        self.overlap = overlap
        self.only_child = only_child
        self.variant = variant
        self.n_jobs = n_jobs

    # ---------------------------------------------------------------- fitting

    def _fit(
        self, blocks: Blocks, largest: float, settings: Settings, given: SeedPairs, refused: Groups,
        start: SeededEstimator | None, progress: Progress | None, checkpoint: Any,
    ) -> None:  # fmt: skip
        largest = max(largest, given.longest)
        means, known = seed_means(given.vectors, given.topics, len(self.taxonomy))
        if start is None:
            refuse_bare_leaves(self.taxonomy, known)
            taxonomy, vectors = self.taxonomy, start_vectors(self.taxonomy.tree, means, known)
            extended = {int(taxonomy.tree.parent[t]) for t in np.flatnonzero(taxonomy.is_other)}
        else:
            taxonomy, vectors, extended = continue_from(
                self.taxonomy, start, means, known, blocks.width
            )
        rounds = checkpointing(
            self, checkpoint, State, blocks, taxonomy.tree.parent, vectors, sorted(extended)
        )
        run = self._run(blocks, given.vectors, settings, progress=progress, **rounds)
        result = run(taxonomy.tree, vectors, largest=largest, extended=extended)
        self._keep(result, taxonomy)
        self.labels_, self.margins_ = placed_and_margins(blocks, self._model, largest)
        if refused:
            rows = np.concatenate(list(refused.values()))
            self.labels_[rows] = self._assign(blocks, given.rows, refused).labels[rows]
        self.coverage_ = float(np.count_nonzero(self.labels_ >= 0)) / len(self.labels_)

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
                stacklevel=4,
            )

    def _compared(self, tree: Tree) -> int:
        siblings = np.bincount(tree.parent + 1).max(initial=0)
        return max(int(siblings), len(pivots(tree, self.pivot_level)))

    def _place(self, blocks: Blocks) -> Iterator[NDArray[np.integer]]:
        return blocks.map(predict, self._model)

    def _score(self, blocks: Blocks) -> Iterator[Scored]:
        return blocks.map(scored, self._model, self.margins_)

    def _pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays = {
            "vectors": self.vectors_,
            "radii": self.radii_,
            "eccentricity": self._model.eccentricity,
            "margins": self.margins_,
            "labels": self.labels_,
            "empty": self.empty_,
        }
        return {"pivot_level": self._model.pivot_level}, arrays

    def _unpack(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.vectors_, self.radii_ = arrays["vectors"], arrays["radii"]
        self.margins_, self.labels_ = arrays["margins"], arrays["labels"]
        self.empty_ = arrays["empty"]
        self._model = Model(
            self.taxonomy_.tree, int(header["pivot_level"]), self.vectors_, self.radii_,
            arrays["eccentricity"],
        )  # fmt: skip

    def _constraints(self) -> Constraints:
        return {
            **self._parameter_constraints,
            "pivot_level": [Interval(1, self.taxonomy.tree.height, whole=True)],
            "eccentricity": [NONE, SHARE, Each(SHARE, len(self.taxonomy), "topics")],
        }

    def _settings(self) -> Settings:
        self._check_taxonomy()
        chosen = {field.name: getattr(self, field.name) for field in fields(Settings)}
        usual = inspect.signature(type(self)).parameters
        for name, value in VARIANTS[self.variant].items():
            if chosen[name] not in (usual[name].default, value):
                raise ParameterError(
                    f"variant={self.variant!r} of HierSeed sets {name} to {value!r}, and "
                    f"{name}={chosen[name]!r} was given.",
                    "Leave one of them out",
                )
            chosen[name] = value
        return Settings(**chosen)


class UnfitHierSeed(HierSeed):
    """HierSeed without a fitting set: topics from the seeds alone, then inference.

    Parameters and attributes are those of HierSeed. `fit` uses the seeds only; other rows are
    placed (`labels_`) but have no influence.

    Examples
    --------
    >>> from hierseed import Taxonomy, UnfitHierSeed
    >>> model = UnfitHierSeed(Taxonomy.from_paths(["A", "B"]), other=False)
    >>> model.fit([[0.0], [0.1], [1.0], [0.9]], [0, -1, 1, -1]).vectors_.tolist()
    [[0.0], [1.0]]
    """

    def _run(
        self, blocks: Blocks, seeds: Floats, settings: Settings, **rounds: Any
    ) -> Callable[..., Fitted]:
        documents = ArrayBlocks(np.unique(seeds, axis=0)) if len(seeds) else blocks
        return partial(unfit, documents, settings=settings)
