"""The corpus as an algorithm sees it: blocks of rows, and the interface of an engine.

A step is a pure function of a block and of small arguments, and returns a mergeable statistic.
In memory, memory-mapped, on workers or on a GPU the same steps run. Sums are exact (see `exact`),
so the result depends on none of these. `array_blocks` is the implementation with numpy.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hierseed.core.arrays import Array, Arrays, Floats, Integers
from hierseed.core.exact import Grid
from hierseed.errors import CorpusError

CHUNK_VALUES = 400_000  # numbers of a chunk that fits a core's cache, with temporary arrays
LONGEST = 1e18  # four times its square is less than the largest float32

C = TypeVar("C")
S = TypeVar("S", bound=Callable[..., Any])
T = TypeVar("T")


@dataclass(frozen=True)
class Families:
    """Centres in families; a row is compared with the centres of its own family.

    Attributes
    ----------
    vectors : (centres, width), family by family
    first : position of the first centre of each family
    prepared : what a block derived from these; blocks of one process share it
    """

    vectors: Floats
    first: Integers
    prepared: dict[str, Any] = field(default_factory=dict, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return Families, (self.vectors, self.first)

    @classmethod
    def one(cls, vectors: Floats) -> Families:
        """A single family."""
        return cls(vectors, np.zeros(1, dtype=np.intp))

    @property
    def edges(self) -> list[int]:
        """Where each family begins, and where the last ends."""
        return [*self.first.tolist(), len(self.vectors)]


@dataclass(frozen=True)
class Gains:
    """What some centres gained less what they lost: sums of rows on a grid, and counts."""

    centre: Integers
    sums: Floats
    counts: Integers


class Block(ABC):
    """Consecutive rows of the corpus.

    A step may keep what it derived in a cache of its own (`cache`), for later steps on the same
    block. An engine may drop all caches at any time: that costs time, never the result.
    """

    xp: Arrays

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop
        self._caches: dict[type, Any] = {}

    def __len__(self) -> int:
        return self.stop - self.start

    def cache(self, kind: type[C]) -> C:
        """Return the block's cache of this class; an empty one where there is none."""
        found: C = self._caches.setdefault(kind, kind())
        return found

    def forget(self) -> None:
        """Drop all caches."""
        self._caches = {}

    @property
    @abstractmethod
    def width(self) -> int:
        """Dimensions of a row."""

    @property
    @abstractmethod
    def X(self) -> Array:  # noqa: N802 - the matrix
        """The rows."""

    def rows_at(self, at: Array) -> Array:
        """Some of the rows."""
        return self.X[at]

    @property
    @abstractmethod
    def squared_norms(self) -> Array:
        """Squared length of each row, in float64."""

    @abstractmethod
    def distances(self, C: Floats, rows: Array | None = None) -> Array:
        """Squared distance of some rows (None: all) to each of some centres, in float64."""

    @abstractmethod
    def nearest(
        self, centres: Families, rows: Array | None = None, family: Array | None = None
    ) -> Array:
        """Position of the nearest centre of each row's family; `rows` None: all rows.

        `family` may be None where there is one family only.
        """

    def lloyd(
        self, centres: Families, children: Integers, tree: Any, placements: Any, state: Any,
        used: Floats | None, grid: Grid,
    ) -> tuple[Gains, int, int] | None:  # fmt: skip
        """`hierseed.refine.reassign` in one go; None where an engine has no kernel for it.

        Returns what centres gained, the placements that moved, and those that are in a child.
        """
        return None

    @abstractmethod
    def reassign(
        self, centres: Families, rows: Array, family: Array, was: Array, grid: Grid | None
    ) -> tuple[Array, Array, Gains | None]:
        """Nearest centre of each row, the margin to the second one, and what that changed.

        The margin is not squared, a lower bound, and infinite in a family of one. `was` is the
        centre that a row belonged to, -1 for none. Without a grid nothing is summed.
        """

    @property
    @abstractmethod
    def stored(self) -> Array:
        """The rows in the numbers that they are stored in; not prepared, if steps see them so."""

    def quantized(self, grid: Grid, order: Array | None = None) -> Array:
        """The rows, or some of them, as whole multiples of a grid's step."""
        return grid.quantize(self.X if order is None else self.X[order], self.xp)

    def quantized_sums(self, grid: Grid) -> Array:
        """Sum of each row of `quantized`."""
        return self.quantized(grid).sum(axis=1)

    def kernel_rows(self, results: int = 1) -> Iterator[tuple[slice, Array, int]] | None:
        """The rows for a compiled kernel: slices of the block, an array, and where it begins there.

        None where an engine has no compiled kernels, or they do not pay off yet; `results` is how
        many numbers the kernel computes for each row.
        """
        return None

    @abstractmethod
    def sum_by_group(
        self, rows: Array, groups: Array, n_groups: int, grid: Grid
    ) -> tuple[Floats, Integers]:
        """Sum of the rows of each group on a grid, and their number; on the host."""


def chunks(n: int, width: int, values: int | None = None) -> Iterator[slice]:
    """Slices of n rows that fit the cache of a core."""
    most = max(64, (values or CHUNK_VALUES) // max(width, 1))
    size = -(-n // -(-n // most)) if n else 1  # of equal size
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def squared_norms(X: NDArray[np.floating]) -> NDArray[np.float64]:
    """Squared length of each row, in float64."""
    return np.einsum("ij,ij->i", X, X, dtype=np.float64)


def portable(step: S) -> S:
    """Mark a step that uses only `block.xp` and the methods of `Block`: any engine can run it."""
    step.portable = True  # type: ignore[attr-defined]
    return step


class Vectors(Protocol):
    """Rows that can be sliced and indexed: an array, a memory map, a lazy view."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Documents, dimensions."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Number type as stored."""

    def __getitem__(self, rows: Any) -> Any: ...


class Mergeable(Protocol):
    """A statistic of some documents that can be merged with the same one of others."""

    def merge(self, other: Self, /) -> Self:
        """The statistic of both sets of documents."""


M = TypeVar("M", bound=Mergeable)


class Blocks(Protocol):
    """The corpus as an engine sees it."""

    n: int
    width: int
    dtype: np.dtype[Any]

    def map(self, step: Callable[..., T], *model: Any) -> Iterator[T]:
        """Yield `step(block, *model)` for every block, in order of rows."""

    def fold(self, step: Callable[..., M], *model: Any) -> M:
        """Merge the results of `step(block, *model)` over all blocks."""

    def take(self, rows: NDArray[np.integer]) -> NDArray[np.float64]:
        """Fetch a few rows."""


def merge(one: M, other: M) -> M:
    """Merge two statistics."""
    return one.merge(other)


def check_vectors(
    X: Any, name: str = "X", width: int | None = None, model: str = "the model"
) -> Vectors:
    """Return X as something with rows of numbers; arrays and memory maps are not copied.

    `width` is how many numbers a row must have, because `model` was fitted so.
    """
    if sparse.issparse(X):
        raise CorpusError(
            f"{name} is a sparse matrix. Reduce it first, for example with TruncatedSVD, "
            "or pass X.toarray()."
        )
    if not hasattr(X, "shape") or not hasattr(X, "dtype"):
        X = np.asarray(X)
    if X.dtype.kind in "iub":
        X = np.asarray(X, dtype=np.float64)
    if X.dtype.kind == "c":
        raise CorpusError(f"{name} holds complex numbers. Complex data not supported.")
    if X.dtype.kind != "f":
        try:
            X = np.asarray(X, dtype=np.float64)
        except (TypeError, ValueError) as fault:
            raise CorpusError(
                f"{name} holds {X.dtype}, not numbers ({fault}). Embed the texts first: "
                "hierseed embed, or any embedder of hierseed.embed."
            ) from fault
    if len(X.shape) != 2:
        raise CorpusError(
            f"{name} has {len(X.shape)} dimension(s). Expected 2D array: one row per document. "
            "Reshape your data with X.reshape(1, -1) if it is a single document."
        )
    if X.shape[0] == 0:
        raise CorpusError(
            f"{name} is empty: 0 documents (0 sample(s), shape={tuple(X.shape)}) while a minimum "
            "of 1 is required. Embed at least one document."
        )
    if X.shape[1] == 0:
        raise CorpusError(
            f"{name} has 0 feature(s) (shape={tuple(X.shape)}) while a minimum of 1 is required."
        )
    if width is not None and X.shape[1] != width:
        raise CorpusError(
            f"{name} has {X.shape[1]} features, but {model} is expecting {width} features as "
            "input. Use the embedder that the model was fitted with."
        )
    vectors: Vectors = X
    return vectors


def check_finite(blocks: Blocks, name: str = "X") -> float:
    """Refuse NaN and infinity; return the length of the longest vector."""
    found = blocks.fold(survey)
    if found.bad:
        shown = ", ".join(map(str, found.first)) + (", …" if found.bad > 5 else "")
        raise CorpusError(
            f"{name} contains NaN or infinity in {found.bad:,} of {blocks.n:,} rows "
            f"(rows {shown}). Drop these documents or embed them again."
        )
    if found.largest > LONGEST:
        raise CorpusError(
            f"{name} has vectors as long as {found.largest:.1e}: squares of such numbers are more "
            "than float32 holds. Divide them all by one number first."
        )
    return found.largest


@dataclass
class Survey:
    """Rows with NaN or infinity: how many, the first five; and the longest of the others."""

    bad: int
    first: list[int]
    largest: float

    def merge(self, other: Survey) -> Survey:
        """Merge with the survey of other rows."""
        first = sorted(self.first + other.first)[:5]
        return Survey(self.bad + other.bad, first, max(self.largest, other.largest))


@portable
def survey(block: Block) -> Survey:
    """Count rows with NaN or infinity; measure the longest of the others."""
    xp = block.xp
    with np.errstate(over="ignore", invalid="ignore"):
        norms = block.squared_norms
    finite = xp.isfinite(norms)
    rows = xp.to_numpy(xp.flatnonzero(~finite))
    if len(rows):
        norms = norms[finite]
    longest = math.sqrt(float(norms.max())) if len(norms) else 0.0
    return Survey(len(rows), (rows[:5] + block.start).tolist(), longest)
