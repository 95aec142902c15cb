"""What every estimator shares: the corpus as blocks, predict, assign, a folder on disk."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from hierseed.assignments import Assignments
from hierseed.core.blocks import ArrayBlocks, Blocks
from hierseed.core.checks import check_finite, check_vectors
from hierseed.core.score import Scored
from hierseed.embed.prepare import Preparation, Prepared
from hierseed.errors import CorpusError, ModelError, SeedError, TaxonomyError
from hierseed.estimators.inputs import seed_pairs
from hierseed.taxonomy import Taxonomy

Floats = NDArray[np.float64]
Progress = Callable[[dict[str, Any]], None]
RECORD: dict[str, type] = {  # of `assign`, 10 million documents fit a small machine
    "row": np.intp,
    "topic": np.int32,
    "path": np.int32,
    "distance": np.float32,  # the last bits of float64 vary with the block
    "score": np.float32,
    "runner_up": np.int32,
    "belongs": np.float32,
    "ranked": np.int32,
    "chances": np.float32,
}


class SeededEstimator(BaseEstimator):
    """Base of HierSeed and its kin. No scikit-learn mixin: theirs drop `y` in `fit_predict`."""

    taxonomy: Taxonomy
    taxonomy_: Taxonomy
    labels_: NDArray[np.integer]
    coverage_: float
    n_iter_: int
    n_jobs: int | None
    preparation_: Preparation | None = None  # set: `predict` and `assign` take raw vectors

    # what a method brings

    @abstractmethod
    def _settings(self) -> Any:
        """Check the parameters, and give them as the core takes them."""

    @abstractmethod
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        X_seeds: Any = None,
        y_seeds: Any = None,
        start: Any = None,
        progress: Progress | None = None,
        checkpoint: Any = None,
    ) -> Self:
        """Fit topics to a corpus."""

    @abstractmethod
    def _place(self, blocks: Blocks) -> Iterable[NDArray[np.integer]]:
        """Yield, block by block, the deepest topic of each document."""

    @abstractmethod
    def _score(self, blocks: Blocks) -> Iterable[Scored]:
        """Yield, block by block, placements with distance and score."""

    @abstractmethod
    def _pack(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what was learned, as JSON and arrays."""

    @abstractmethod
    def _unpack(self, header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        """Take back what `_pack` gave; `taxonomy_` is set already."""

    # ---------------------------------------------------------------- inputs

    def _corpus(self, X: Any) -> tuple[Blocks, float]:
        """Check the fitting set; answer with its blocks and the length of its longest vector."""
        self.preparation_ = None  # an earlier fit's
        if is_engine(X):
            self.n_features_in_ = X.width
            return X, check_finite(X)
        validate_data(self, X, skip_check_array=True, reset=True)
        vectors = check_vectors(X)
        self.n_features_in_ = int(vectors.shape[1])
        blocks = ArrayBlocks(vectors, threads=self.n_jobs)
        return blocks, check_finite(blocks)

    def _seeds(
        self, blocks: Blocks, y: Any, X_seeds: Any, y_seeds: Any
    ) -> tuple[Floats, NDArray[np.intp], float]:
        """Vectors and topics of all seeds, in the corpus and outside; and the longest length."""
        rows, topics = seed_pairs(y, blocks.n, self.taxonomy)
        seeds, largest = blocks.take(rows), 0.0
        if X_seeds is not None:
            more = ArrayBlocks(check_vectors(X_seeds, "X_seeds", blocks.width))
            largest = check_finite(more, "X_seeds")
            own_rows, own = seed_pairs(y_seeds, more.n, self.taxonomy, "y_seeds")
            seeds = np.concatenate([seeds, more.take(own_rows)])
            topics = np.concatenate([topics, own])
        return seeds, topics, largest

    def _resumable(
        self, checkpoint: Any, state: type, blocks: Blocks, *given: Any
    ) -> dict[str, Any]:
        """Return what lets the core keep its rounds on disk, and go on from there.

        `state` is the core's; `given` is what came of the seeds, which the rounds start from.
        """
        if checkpoint is None:
            return {}
        from hierseed import __version__
        from hierseed.io.checkpoint import Checkpoint, digest, digest_of_documents

        if not isinstance(checkpoint, Checkpoint):
            checkpoint = Checkpoint(checkpoint)
        taxonomy = self.taxonomy
        settings = self.get_params(deep=False)
        fit = {
            "version": __version__,
            "method": type(self).__name__,
            "taxonomy": digest(taxonomy.paths, taxonomy.tree.parent, taxonomy.is_other),
            "seeds": digest(*given),
            "documents": digest_of_documents(blocks),
        } | {
            name: np.asarray(value).tolist()
            for name, value in settings.items()
            if name not in ("taxonomy", "n_jobs")
        }
        if hasattr(blocks, "engine"):
            fit["engine"] = blocks.engine
        return {"resume": checkpoint.open(state, fit), "keep": checkpoint.keep}

    def _known(self, X: Any) -> Blocks:
        """Check documents against the fitted model."""
        self._check_fitted()
        X = self.prepared(X)
        if is_engine(X):
            return X
        vectors = check_vectors(X, width=self.n_features_in_, model=type(self).__name__)
        if hasattr(self, "feature_names_in_") or not isinstance(X, np.ndarray):
            validate_data(self, X, skip_check_array=True, reset=False)  # names of columns
        blocks = ArrayBlocks(vectors, threads=self.n_jobs, forget=True)
        check_finite(blocks)
        return blocks

    def prepared(self, X: Any) -> Any:
        """Documents as the model was fitted on them: raw vectors through its preparation.

        What is `Prepared` already, and blocks of another engine, are taken as they are.
        """
        if self.preparation_ is None or is_engine(X) or isinstance(X, Prepared):
            return X
        return Prepared(check_vectors(X), self.preparation_)

    def _check_fitted(self) -> None:
        if not hasattr(self, "taxonomy_"):
            raise NotFittedError(
                f"this {type(self).__name__} is not fitted yet: call fit(X, y) first"
            )

    def _check_taxonomy(self) -> None:
        if not isinstance(self.taxonomy, Taxonomy):
            raise TaxonomyError(
                f"taxonomy must be a Taxonomy, got {type(self.taxonomy).__name__}. "
                "Make one with Taxonomy.from_paths or Taxonomy.read."
            )
        if not len(self.taxonomy):
            raise TaxonomyError("the taxonomy has no topics")
        self._want_numbers()

    def _want_numbers(self) -> None:
        """Refuse a text, or yes or no, where a number is wanted, before numbers are compared."""
        for name, parameter in inspect.signature(type(self)).parameters.items():
            wanted, kind = str(parameter.annotation), type(getattr(self, name))
            if kind in (str, bool) and kind.__name__ not in wanted:
                self._check_parameters([(name, False, wanted.replace(" | ", " or "))])

    def _check_parameters(self, checks: Iterable[tuple[str, bool, str]]) -> None:
        """Refuse the first parameter that is not fine: name, whether it is, what is wanted."""
        for name, fine, wanted in checks:
            if not fine:
                raise CorpusError(
                    f"{name} of {type(self).__name__} must be {wanted}, got {getattr(self, name)!r}"
                )

    def check_parameters(self) -> None:
        """Raise now what `fit` would raise of the parameters, before a long step."""
        self._settings()

    # ---------------------------------------------------------------- using it

    def predict(self, X: Any) -> NDArray[np.integer]:
        """Return the deepest topic of each row, -1 for None."""
        return np.concatenate(list(self._place(self._known(X))))

    def fit_predict(self, X: Any, y: Any = None, **options: Any) -> NDArray[np.integer]:
        """Fit, and return `labels_`."""
        return self.fit(X, y, **options).labels_

    def assign(self, X: Any, y: Any = None) -> Assignments:
        """Place documents with distance and score at each level; `y` only marks the seeds."""
        blocks = self._known(X)
        parts: dict[str, list[NDArray[Any]]] = {name: [] for name in RECORD}
        for part in self._score(blocks):
            for name, dtype in RECORD.items():
                parts[name].append(getattr(part, name).astype(dtype))
        rows, _ = seed_pairs(y, blocks.n, self.taxonomy_)
        is_seed = np.zeros(blocks.n, dtype=bool)
        is_seed[rows] = True
        together = {name: np.concatenate(parts.pop(name)) for name in RECORD}
        return Assignments(self.taxonomy_, blocks.n, is_seed=is_seed, **together)

    # ---------------------------------------------------------------- on disk

    def save(self, folder: str | PathLike[str], *, preparation: Preparation | None = None) -> None:
        """Write a model folder; with `preparation`, the model that is loaded takes raw vectors."""
        from hierseed.io.models import write_model

        self._check_fitted()
        header, arrays = self._pack()
        params = {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in self.get_params(deep=False).items()
            if name != "taxonomy"
        }
        header |= {"params": params, "listed": len(self.taxonomy), "width": self.n_features_in_}
        if preparation := preparation or self.preparation_:
            header, arrays = (
                header | {"preparation": preparation.header},
                arrays | preparation.arrays,
            )
        write_model(
            folder, kind=type(self).__name__, header=header, arrays=arrays, taxonomy=self.taxonomy_
        )

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read a model folder that `save` wrote."""
        from hierseed.io.models import read_model, read_preparation

        kind, header, arrays, taxonomy = read_model(folder)
        if kind != cls.__name__:
            raise ModelError(f"{folder} holds a {kind}, not a {cls.__name__}: use {kind}.load")
        self = cls(taxonomy.first(header["listed"]), **header["params"])
        self.taxonomy_ = taxonomy
        self.n_features_in_ = header["width"]
        self._unpack(header, arrays)
        self.preparation_ = read_preparation(folder, header, arrays)
        return self

    # ---------------------------------------------------------------- showing it

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


def is_engine(X: Any) -> TypeGuard[Blocks]:
    """Tell blocks of another engine (see `hierseed.engines`) from rows of numbers."""
    return all(hasattr(X, name) for name in ("map", "fold", "take", "n", "width"))


def check_start(earlier: Any, width: int) -> None:
    """Refuse to go on from a model that is not fitted, or was on other vectors."""
    if not hasattr(earlier, "taxonomy_"):
        raise ModelError("start is not fitted yet: fit it, or leave start out")
    if earlier.n_features_in_ != width:
        raise ModelError(
            f"start was fitted on {earlier.n_features_in_} dimensions, X has {width}. "
            "Use vectors of the same embedder."
        )


def need_seeds(y: Any, X_seeds: Any, start: Any) -> None:
    """Refuse a fit that is given no seed at all."""
    if y is None and X_seeds is None and start is None:
        raise SeedError(
            "requires y to be passed, but the target y is None: y gives the topic id of each "
            "seed and -1 elsewhere; taxonomy.labels({path: [rows]}, n) makes it."
        )
