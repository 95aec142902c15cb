"""Prepare vectors for clustering: subtract the corpus mean, PCA where asked, unit length.

Learned on the fitting corpus, stored with the model, applied lazily: `Prepared` is an array-like
over any other array-like, so a memory-mapped store is never copied whole.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from hierseed.core.array_blocks import ArrayBlocks, as_floats
from hierseed.core.arrays import NUMPY, Array, Arrays
from hierseed.core.blocks import Block, Blocks, portable
from hierseed.core.exact import Grid, Sums
from hierseed.core.kernels.compiled import compiled
from hierseed.errors import CorpusError, ModelError, ParameterError
from hierseed.parametrized import transformer_base

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator as Transformer
else:
    Transformer = transformer_base()

LARGEST = 1e17  # the square of a row's length is less than the largest float32


class ArrayLike(Protocol):
    """A matrix as estimators use it: shape, type, and access to rows."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of an entry."""

    def __getitem__(self, rows: Any) -> Any: ...


class Preparation(Transformer):
    """Centring, PCA and unit length, in this order; a step of a scikit-learn Pipeline too.

    A row of zeros has no content (the embedder knows none of its words): it stays zero.

    Parameters
    ----------
    centre : subtract the mean of the fitting corpus
    unit : scale each row to length 1
    pca : keep this many principal components; None keeps the space as it is
    blocks : length of each block of a joined representation (`Embedder.blocks`). Each block is
        scaled to unit length and weighted; () for one representation
    weights : of the blocks; a block of weight 0 is left out. None: all count the same
    """

    def __init__(
        self,
        *,
        centre: bool = True,
        unit: bool = True,
        pca: int | None = None,
        blocks: Sequence[int] = (),
        weights: Sequence[float] | None = None,
    ) -> None:
        self.centre = centre
        self.unit = unit
        self.pca = pca
        self.blocks = tuple(blocks)
        self.weights = tuple(weights) if weights is not None else (1.0,) * len(self.blocks)
        if len(self.weights) != len(self.blocks):
            raise ParameterError(
                f"{len(self.weights)} weights for {len(self.blocks)} blocks. Give one for each."
            )
        if self.blocks and pca is not None:
            raise ParameterError(
                "pca and blocks together. Leave one out: blocks keep their own dimensions."
            )
        self.mean_: NDArray[np.float32] | None = None
        self.components_: NDArray[np.float32] | None = None

    def fit(self, X: ArrayLike | Blocks, y: Any = None) -> Self:
        """Learn the mean, and the components where asked, in two or three passes; `y` is ignored.

        `X` may also be blocks of another engine (see `hierseed.engines`).
        """
        blocks = _as_blocks(X)
        n, d = blocks.n, blocks.width
        if n == 0:
            raise CorpusError(
                "no vectors to prepare: the matrix has 0 rows. Embed documents first."
            )
        if self.blocks and sum(self.blocks) != d:
            raise CorpusError(
                f"rows of {d} numbers, but the blocks {self.blocks} have {sum(self.blocks)}. "
                "Use the blocks of the embedder that made the vectors."
            )
        if self.pca is not None and not 1 <= self.pca <= min(n, d):
            raise CorpusError(
                f"pca={self.pca} is outside 1 … {min(n, d)} for {n:,} rows of {d} numbers. "
                "Ask for fewer components."
            )
        extent = blocks.fold(_measure)
        extent.refuse_bad_rows(n)
        if extent.largest > LARGEST:
            raise CorpusError(
                f"vectors hold numbers as large as {extent.largest:.1e}, whose squares are more "
                "than float32 holds. Divide them all by one number first."
            )
        grid = Grid.holding(n, extent.largest)  # the order of documents must not change the mean
        (total,) = blocks.fold(_sum, grid)
        mean = grid.dequantize(total) / n
        self.mean_ = mean.astype(np.float32) if self.centre else None
        self.components_ = None
        if self.pca is not None:
            coarse = Grid.for_products(n, extent.largest)
            (products,) = blocks.fold(_products, coarse)
            covariance = products * (4.0**-coarse.bits / n) - np.outer(mean, mean)
            self.components_ = _leading(covariance, self.pca)
        return self

    def transform(self, rows: ArrayLike) -> NDArray[np.float32]:
        """Apply to rows in memory; a new float32 array."""
        rows = np.atleast_2d(np.asarray(rows))
        if not self.is_fitted:
            raise ModelError("this preparation is not fitted. Call fit(X) first.")
        learned = self.mean_ if self.mean_ is not None else self.components_
        if learned is not None and rows.shape[1] != len(learned):
            raise CorpusError(
                f"rows of {rows.shape[1]} numbers, but the preparation was fitted on rows of "
                f"{len(learned)}. Use the embedder that the model was fitted with."
            )
        kernels = compiled(rows.size) if rows.dtype in (np.float16, np.float32) else None
        if kernels and self.pca is None:
            every = np.zeros(0, dtype=np.intp)
            return self._apply_at_once(np.ascontiguousarray(rows), every, len(rows), kernels)
        if rows.dtype == np.float16:
            ready = as_floats(rows, np.dtype(np.float32))
        else:
            ready = np.array(rows, dtype=np.float32)
        found: NDArray[np.float32] = self.apply(ready)
        return found

    def take(self, X: ArrayLike, rows: NDArray[np.integer]) -> NDArray[np.float32]:
        """`transform(X[rows])`; compiled without a copy of the rows in between."""
        ready = self.is_fitted and self.pca is None and len(rows) > 0
        if ready and isinstance(X, np.ndarray) and X.dtype in (np.float16, np.float32):
            inside = rows.min() >= 0 and rows.max() < len(X) and X.flags.c_contiguous
            kernels = compiled(len(rows) * X.shape[1]) if inside else None
            if kernels and (self.mean_ is None or len(self.mean_) == X.shape[1]):
                return self._apply_at_once(X, rows.astype(np.intp, copy=False), len(rows), kernels)
        return self.transform(X[rows])

    def _apply_at_once(
        self, X: NDArray[np.floating], rows: NDArray[np.intp], n: int, kernels: ModuleType
    ) -> NDArray[np.float32]:
        """`apply` of n rows in one compiled call; all if `rows` is empty."""
        mean = np.zeros(0, dtype=np.float32) if self.mean_ is None else self.mean_
        edges, weights = np.cumsum([0, *self.blocks]), np.array(self.weights, dtype=np.float32)
        kept = np.flatnonzero(weights)
        if len(kept) == 1 and self.unit:  # scaled once, as in `_weigh_blocks`
            weights[kept] = np.nan
        found = np.empty((n, self.dimension(X.shape[1])), dtype=np.float32)
        kernels.prepare_rows(
            kernels.source(X), rows, mean,
            edges[:-1][kept], edges[1:][kept], weights[kept], self.unit, found,
        )  # fmt: skip
        return found

    def apply(self, ready: Array, xp: Arrays = NUMPY) -> Array:
        """Apply to float32 rows of any engine; they may be overwritten."""
        empty = xp.flatnonzero(ready[:, 0] == 0)
        empty = empty[xp.all_in_rows(ready[empty] == 0)]
        if self.mean_ is not None:
            ready -= xp.asarray(self.mean_)
        if self.blocks:
            ready = self._weigh_blocks(ready, xp)
        if self.components_ is not None:  # the order of sums shows in float32, hardly in float64
            wide = xp.astype(ready, xp.float64) @ xp.asarray(self.components_, xp.float64)
            ready = xp.astype(wide, xp.float32)
        if self.unit:
            ready = _unit_length(ready, xp)
        ready[empty] = 0.0
        return ready

    def _weigh_blocks(self, rows: Array, xp: Arrays) -> Array:
        kept, first = [], 0
        for size, weight in zip(self.blocks, self.weights):
            if weight > 0:
                kept.append((xp.copy(rows[:, first : first + size]), float(np.float32(weight))))
            first += size
        if len(kept) == 1 and self.unit:  # scaled once: the bits that it has without other blocks
            return kept[0][0]
        return xp.concat([_unit_length(part, xp) * weight for part, weight in kept], axis=1)

    def dimension(self, d: int) -> int:
        """Columns after preparing rows of `d` numbers."""
        if self.pca is not None:
            return self.pca
        left_out = sum(size for size, weight in zip(self.blocks, self.weights) if not weight)
        return d - left_out

    def with_weights(self, weights: Sequence[float]) -> Preparation:
        """A copy with other weights of the blocks; what was learned stays."""
        other = copy(self)
        other.weights = tuple(weights)
        return other

    @property
    def is_fitted(self) -> bool:
        """True once all that the options ask for is learned; unit length alone learns nothing."""
        lacks_mean = self.centre and self.mean_ is None
        return not lacks_mean and (self.pca is None or self.components_ is not None)

    def __sklearn_is_fitted__(self) -> bool:
        return self.is_fitted

    @property
    def header(self) -> dict[str, Any]:
        """The options, for a JSON file."""
        options: dict[str, Any] = {"centre": self.centre, "unit": self.unit, "pca": self.pca}
        if self.blocks:
            options |= {"blocks": list(self.blocks), "weights": list(self.weights)}
        return options

    @property
    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """Learned arrays, to be saved."""
        learned = {"prepare_mean": self.mean_, "prepare_components": self.components_}
        return {name: array for name, array in learned.items() if array is not None}

    @classmethod
    def from_saved(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> Self:
        """Rebuild from `header` and `arrays`; other entries of `arrays` are ignored."""
        preparation = cls(**header)
        if not all(isinstance(value, bool) for value in (preparation.centre, preparation.unit)):
            raise ValueError("centre and unit are yes or no")
        preparation.mean_ = arrays.get("prepare_mean")
        preparation.components_ = arrays.get("prepare_components")
        return preparation

    def __repr__(self) -> str:
        return f"Preparation({', '.join(f'{key}={value}' for key, value in self.header.items())})"


class Prepared:
    """`X` seen through a preparation: rows are prepared when they are read.

    Attributes
    ----------
    X, preparation : as given
    ready : all rows, prepared, where they are kept in memory
    """

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, X: ArrayLike, preparation: Preparation) -> None:
        self.X = X
        self.preparation = preparation
        self.ready: NDArray[np.float32] | None = None

    def in_memory(self) -> Prepared:
        """The same, with all rows prepared now and kept: a fit reads them many times."""
        kept = Prepared(self.X, self.preparation)
        kept.ready = self[:]
        return kept

    @property
    def shape(self) -> tuple[int, int]:
        """Rows of `X`, columns after preparation."""
        return self.X.shape[0], self.preparation.dimension(self.X.shape[1])

    @property
    def stored(self) -> ArrayLike:
        """The rows as they are stored, not prepared."""
        return self.X

    def __len__(self) -> int:
        return self.X.shape[0]

    def __getitem__(self, rows: Any) -> NDArray[np.float32]:
        if self.ready is not None:
            found: NDArray[np.float32] = self.ready[rows]
            return found
        X = np.asarray(self.X) if isinstance(self.X, np.memmap) else self.X  # is slow to slice
        if isinstance(rows, np.ndarray) and rows.dtype.kind == "i" and rows.ndim == 1:
            return self.preparation.take(X, rows)
        ready = self.preparation.transform(X[rows])
        return ready[0] if isinstance(rows, int | np.integer) else ready

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:], dtype=dtype)


def _unit_length(rows: Array, xp: Arrays) -> Array:
    """Scale rows in place; rows of zeros stay zero.

    Lengths are float64 sums, so that they are the same float32 on every engine.
    """
    length = xp.astype(xp.sqrt(xp.wide_squared_norms(rows)), xp.float32)
    rows /= xp.where(length > 0, length, 1.0)[:, None]
    return rows


def _as_blocks(X: Any) -> Blocks:
    return X if hasattr(X, "fold") else ArrayBlocks(X)


def _leading(covariance: NDArray[np.float64], size: int) -> NDArray[np.float32]:
    """Eigenvectors of the largest eigenvalues, as columns, each with its largest entry positive."""
    _, vectors = np.linalg.eigh(covariance)
    leading = vectors[:, ::-1][:, :size]
    largest = np.abs(leading).argmax(axis=0)
    signs = np.sign(leading[largest, np.arange(size)])
    return np.ascontiguousarray(leading * signs, dtype=np.float32)


@dataclass
class _Extent:
    """The largest number, and rows that are no numbers: how many, and the first five."""

    largest: float
    bad: int
    first: list[int]

    def merge(self, other: _Extent) -> _Extent:
        first = sorted(self.first + other.first)[:5]
        return _Extent(max(self.largest, other.largest), self.bad + other.bad, first)

    def refuse_bad_rows(self, n: int) -> None:
        if self.bad:
            shown = ", ".join(f"{row:,}" for row in self.first)
            raise CorpusError(
                f"{self.bad:,} of {n:,} vectors are not finite (rows {shown}"
                f"{' …' if self.bad > len(self.first) else ''}). Embed those documents again."
            )


@portable
def _measure(block: Block) -> _Extent:
    xp, X = block.xp, block.X
    bad = xp.to_numpy(xp.flatnonzero(~xp.all_in_rows(xp.isfinite(X))))
    return _Extent(float(abs(X).max()), len(bad), (bad[:5] + block.start).tolist())


@portable
def _sum(block: Block, grid: Grid) -> Sums:
    return Sums((block.xp.to_numpy(grid.quantize(block.X, block.xp).sum(axis=0)),))


@portable
def _products(block: Block, grid: Grid) -> Sums:
    rows = grid.quantize(block.X, block.xp)
    return Sums((block.xp.to_numpy(rows.T @ rows),))
