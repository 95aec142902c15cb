"""The base class of all estimators: inputs as blocks, predict, assign, save and load."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import RECORD, Assignments
from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.arrays import Floats
from hierseed.core.blocks import Blocks, check_finite, check_vectors
from hierseed.core.score import Scored
from hierseed.core.tree import Tree
from hierseed.errors import ModelError, ParameterError, name_some
from hierseed.estimators.inputs import (
    Groups,
    SeedPairs,
    check_column_names,
    check_fitted,
    check_taxonomy,
    group_rejections,
    is_engine,
    need_seeds,
    place_by_distance,
    read_labels,
    read_seeds,
    refuse_common_offset,
    seed_pairs,
)
from hierseed.estimators.parameters import Constraints, check_parameters
from hierseed.evaluate.protocol import score
from hierseed.parametrized import estimator_base
from hierseed.taxonomy import Taxonomy

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator as Estimator

    from hierseed.io.model_bundle import ModelBundle
else:
    Estimator = estimator_base()

MEASURES = ("hierarchical_f1", "accuracy", "macro_f1", "bcubed_f1", "v_measure")  # of `score`
Progress = Callable[[dict[str, Any]], None]


class SeededEstimator(Estimator, ABC):
    """Base class of all estimators.

    It uses no scikit-learn mixin: `ClusterMixin.fit_predict` drops `y`.

    Examples
    --------
    >>> from hierseed import HierSeed, Taxonomy
    >>> model = HierSeed(Taxonomy.from_paths(["A", "B"]))
    >>> model = model.fit([[0.0], [0.1], [1.0], [0.9]], [0, -1, 1, -1])

    The examples of the methods continue this one.
    """

    taxonomy: Taxonomy
    taxonomy_: Taxonomy
    labels_: NDArray[np.integer]
    vectors_: Floats
    objective_: float
    coverage_: float
    history_: list[dict[str, Any]]
    n_iter_: int
    n_jobs: int | None
    _parameter_constraints: ClassVar[Constraints]
    _largest_blocks: ClassVar[int] = 1  # see `ArrayBlocks`

    # ---------------------------------------------------------------- what a method implements

    @abstractmethod
    def _settings(self) -> Any:
        """Check the parameters, and return them as the core takes them."""

    @abstractmethod
    def _fit(
        self, blocks: Blocks, largest: float, settings: Any, given: SeedPairs, refused: Groups,
        start: SeededEstimator | None, progress: Progress | None, checkpoint: Any,
    ) -> None:  # fmt: skip
        """Learn from checked inputs; `largest` is the length of the longest vector."""

    @abstractmethod
    def _place(self, blocks: Blocks) -> Iterable[NDArray[np.integer]]:
        """Yield, block by block, the deepest topic of each document."""

    @abstractmethod
    def _score(self, blocks: Blocks) -> Iterable[Scored]:
        """Yield, block by block, placements with distance and score."""

    @abstractmethod
    def _pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what was learned besides the history, as JSON and arrays."""

    @abstractmethod
    def _unpack(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Restore what `_pack` returned; `taxonomy_` is set already."""

    def _compared(self, tree: Tree) -> int:
        """Largest number of topics that a document is compared with at once."""
        return len(tree)

    # ---------------------------------------------------------------- inputs

    def _corpus(self, X: Any) -> tuple[Blocks, float]:
        """Check the fitting set; return its blocks and the length of its longest vector."""
        if is_engine(X):
            blocks, self.n_features_in_ = X, X.width
        else:
            check_column_names(self, X, reset=True)
            vectors = check_vectors(X)
            self.n_features_in_ = int(vectors.shape[1])
            blocks = self._blocks(vectors, self.taxonomy)
        largest = check_finite(blocks)
        refuse_common_offset(blocks)
        return blocks, largest

    def _known(self, X: Any) -> Blocks:
        """Check documents against the fitted model."""
        check_fitted(self)
        if is_engine(X):
            return X
        vectors = check_vectors(X, width=self.n_features_in_, model=type(self).__name__)
        check_column_names(self, X, reset=False)
        blocks = self._blocks(vectors, self.taxonomy_, forget=True)
        check_finite(blocks)
        return blocks

    def _blocks(self, vectors: Any, taxonomy: Taxonomy, *, forget: bool = False) -> ArrayBlocks:
        topics, largest = self._compared(taxonomy.tree), self._largest_blocks
        return ArrayBlocks(
            vectors, threads=self.n_jobs, topics=topics, largest=largest, forget=forget
        )

    def _check_taxonomy(self) -> None:
        check_taxonomy(self.taxonomy)
        check_parameters(type(self).__name__, self.get_params(deep=False), self._constraints())

    def _constraints(self) -> Constraints:
        """Constraints of the parameters; those that depend on the taxonomy are filled in."""
        return self._parameter_constraints

    def check_parameters(self) -> None:
        """Raise the `ParameterError` that `fit` would raise, before a long step.

        Examples
        --------
        >>> from hierseed import HierSeed, Taxonomy
        >>> HierSeed(Taxonomy.from_paths(["A", "B"]), tol=-1).check_parameters()
        Traceback (most recent call last):
        ...
        hierseed.errors.ParameterError: tol of HierSeed must be a number at least 0, got -1
        """
        self._settings()

    # ---------------------------------------------------------------- fitting and inference

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        X_seeds: Any = None,
        y_seeds: Any = None,
        start: SeededEstimator | None = None,
        rejected: Any = None,
        progress: Progress | None = None,
        checkpoint: Any = None,
    ) -> Self:
        """Fit topics to a corpus.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
            float16, float32 or float64. A memory map is not loaded. Blocks of an engine (see
            `hierseed.engines`) are taken as they are.
        y : array-like of shape (n_documents,)
            Topic id of each seed, -1 for other documents; or a list of ids per document.
        X_seeds, y_seeds : array-like
            Seeds that are not rows of X, and their topics.
        start : fitted estimator
            An earlier model to start from. Topics are matched by path; those that it has need no
            seeds.
        rejected : topic ids per row, or a list of them, -1 for none
            A document is placed neither in a topic that it was rejected for nor below it.
            AnchoredHierSeed does not learn from it.
        progress : callable
            Called after each round with its entry of `history_`.
        checkpoint : path
            Folder for the state after each round. The same fit, interrupted and called again,
            continues from there and ends with the same bits.

        Examples
        --------
        >>> model.fit([[0.0], [0.1], [1.0], [0.9]], [0, -1, 1, -1]).labels_
        array([0, 0, 1, 1], dtype=int32)
        """
        need_seeds(y, X_seeds, start)
        settings = self._settings()
        blocks, largest = self._corpus(X)
        given = read_seeds(blocks, self.taxonomy, y, X_seeds, y_seeds)
        refused = group_rejections(rejected, blocks.n, self.taxonomy, given.rows)
        self._fit(blocks, largest, settings, given, refused, start, progress, checkpoint)
        return self

    def predict(self, X: Any) -> NDArray[np.integer]:
        """Return the deepest topic of each row, -1 for None.

        Examples
        --------
        >>> model.predict([[0.2], [0.7]])
        array([0, 1], dtype=int32)
        """
        return np.concatenate(list(self._place(self._known(X))))

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> NDArray[np.integer]:
        """Fit, and return `labels_`.

        Examples
        --------
        >>> model.fit_predict([[0.0], [0.1], [1.0], [0.9]], [0, -1, 1, -1])
        array([0, 0, 1, 1], dtype=int32)
        """
        return self.fit(X, y, **options).labels_

    def assign(self, X: Any, y: Any = None, *, rejected: Any = None) -> Assignments:
        """Place documents, with distance and score at each level.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features), or blocks of an engine
        y : array-like of shape (n_documents,)
            Marks the seeds in the result, as in `fit`.
        rejected : topic ids per row, or a list of them, -1 for none
            A document is placed neither in a topic that it was rejected for nor below it.

        Examples
        --------
        >>> model.assign([[0.2], [0.7]]).to_frame()["topic"].tolist()
        ['A', 'B']
        """
        blocks = self._known(X)
        rows, _ = seed_pairs(y, blocks.n, self.taxonomy_)
        groups = group_rejections(rejected, blocks.n, self.taxonomy_, rows)
        return self._assign(blocks, rows, groups)

    def _assign(self, blocks: Blocks, seeds: NDArray[np.intp], groups: Groups) -> Assignments:
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in RECORD}
        for part in self._score(blocks):
            for name, dtype in RECORD.items():
                parts[name].append(getattr(part, name).astype(dtype))
        is_seed = np.zeros(blocks.n, dtype=bool)
        is_seed[seeds] = True
        together: dict[str, Any] = {name: np.concatenate(parts.pop(name)) for name in RECORD}
        placed = Assignments(self.taxonomy_, blocks.n, is_seed=is_seed, **together)
        return self._place_elsewhere(placed, blocks, groups) if groups else placed

    def _place_elsewhere(self, placed: Assignments, blocks: Blocks, groups: Groups) -> Assignments:
        """Place documents again that were rejected for topics; groups: rows by those topics."""
        return place_by_distance(placed, groups, blocks, self.vectors_)

    def score(self, X: Any, y: Any, measure: str = "hierarchical_f1") -> float:
        """Compare placements with labels; rows without a label are left out.

        Parameters
        ----------
        X : array-like of shape (n_documents, n_features)
        y : topic ids, paths, or lists of them; -1 or an empty text for no label
        measure : "hierarchical_f1", or a mean over levels: "accuracy", "macro_f1", "bcubed_f1",
            "v_measure"

        Examples
        --------
        >>> model.score([[0.2], [0.7], [0.1]], ["A", "B", "B"], measure="accuracy")
        0.6666666666666666
        """
        if measure not in MEASURES:
            raise ParameterError(f"measure must be one of {name_some(MEASURES)}, got {measure!r}")
        found = self.predict(X)
        labelled, gold = read_labels(y, len(found), self.taxonomy)
        scores = score(self.taxonomy, self.taxonomy_.tree.ancestors[found[labelled]], gold).all
        if measure == "hierarchical_f1":
            assert scores.hierarchical is not None  # topics have names
            return scores.hierarchical.f1
        return float(getattr(scores.mean, measure))

    # ---------------------------------------------------------------- on disk

    def to_bundle(self) -> ModelBundle:
        """Return what was learned, as `from_bundle` takes it.

        Examples
        --------
        >>> model.to_bundle().kind
        'HierSeed'
        """
        from hierseed.io.model_bundle import ModelBundle

        check_fitted(self)
        header, arrays = self._pack()
        history = [  # without seconds: the same fit must give the same files
            {name: value for name, value in one.items() if name != "seconds"}
            for one in self.history_
        ]
        header |= {"objective": self.objective_, "coverage": self.coverage_, "history": history}
        params = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in self.get_params(deep=False).items()
            if name != "taxonomy"
        }
        header |= {"params": params, "listed": len(self.taxonomy), "width": self.n_features_in_}
        return ModelBundle(type(self).__name__, header, arrays, self.taxonomy_)

    @classmethod
    def from_bundle(cls, bundle: ModelBundle) -> Self:
        """Rebuild a fitted estimator.

        Examples
        --------
        >>> HierSeed.from_bundle(model.to_bundle()).predict([[0.2]])
        array([0], dtype=int32)
        """
        header, taxonomy = bundle.header, bundle.taxonomy
        self = cls(taxonomy.first(int(header["listed"])), **header["params"])
        self.check_parameters()
        self.taxonomy_ = taxonomy
        self.n_features_in_ = int(header["width"])
        self.objective_, self.coverage_ = header["objective"], header["coverage"]
        self.history_, self.n_iter_ = header["history"], len(header["history"])
        self._unpack(header, bundle.arrays)
        return self

    def save(self, folder: str | PathLike[str]) -> None:
        """Write a model folder. It places vectors of the kind that `fit` was given.

        Examples
        --------
        >>> model.save("model")
        """
        from hierseed.io.model_bundle import write_bundle

        write_bundle(self.to_bundle(), folder)

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read the estimator of a model folder. `hierseed.load` also reads how text is embedded.

        Examples
        --------
        >>> model.save("model")
        >>> HierSeed.load("model").labels_
        array([0, 0, 1, 1], dtype=int32)
        """
        from hierseed.io.model_bundle import read_bundle, rebuilding

        bundle = read_bundle(folder)
        if bundle.kind != cls.__name__:
            raise ModelError(
                f"{folder} holds a {bundle.kind}, not a {cls.__name__}: use {bundle.kind}.load"
            )
        with rebuilding(folder):
            return cls.from_bundle(bundle)

    # ---------------------------------------------------------------- representation

    def _repr_html_(self) -> str:
        if not hasattr(self, "labels_"):
            return f"<pre>{self!r}</pre>"
        path = self.taxonomy_.tree.ancestors[self.labels_]
        counts = np.bincount(path[path >= 0], minlength=len(self.taxonomy_))
        head = (
            f"<p><b>{type(self).__name__}</b>: {len(self.labels_):,} documents, coverage "
            f"{self.coverage_:.1%}, {self.n_iter_} rounds</p>"
        )
        return head + self.taxonomy_.to_html(counts)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
