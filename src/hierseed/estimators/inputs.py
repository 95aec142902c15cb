"""Check what users give: vectors and seeds. One clear error each, all offenders counted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from hierseed.core.blocks import Block, Blocks, Vectors
from hierseed.core.exact import Grid, sum_by_group
from hierseed.errors import CorpusError, SeedError, name_some
from hierseed.taxonomy import Taxonomy

Ints = NDArray[np.intp]
Floats = NDArray[np.float64]
LONGEST = 1e18  # four times its square is less than the largest float32


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
            "of 1 is required."
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
    """Refuse NaN and infinity; answer with the length of the longest vector."""
    found = blocks.fold(_survey)
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
    """Rows that are no numbers: how many, the first five; and the longest of the others."""

    bad: int
    first: list[int]
    largest: float

    def merge(self, other: Survey) -> Survey:
        """Join what two blocks found."""
        first = sorted(self.first + other.first)[:5]
        return Survey(self.bad + other.bad, first, max(self.largest, other.largest))


def _survey(block: Block) -> Survey:
    with np.errstate(over="ignore", invalid="ignore"):
        norms = block.squared_norms
        largest = float(np.sqrt(norms.max(initial=0.0)))
    if np.isfinite(largest):
        return Survey(0, [], largest)
    fine = np.isfinite(norms)
    rows = np.flatnonzero(~fine) + block.start
    largest = float(np.sqrt(norms[fine].max(initial=0.0)))
    return Survey(len(rows), rows[:5].tolist(), largest)


def seed_pairs(y: Any, n: int, taxonomy: Taxonomy, name: str = "y") -> tuple[Ints, Ints]:
    """Turn labels into pairs of row and topic; -1 (or an empty list) means no seed."""
    if y is None:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    if hasattr(y, "to_numpy"):
        y = y.to_numpy()
    if len(y) != n:
        raise SeedError(
            f"{name} has {len(y):,} entries for {n:,} documents. Found input variables with "
            f"inconsistent numbers of samples: [{n}, {len(y)}]. Give one entry per row, -1 for "
            "no seed."
        )
    numeric = isinstance(y, np.ndarray) and y.dtype.kind in "iuf"
    if not numeric and any(isinstance(e, Iterable) and not isinstance(e, str) for e in y):
        pairs = [
            (row, topic)
            for row, entry in enumerate(y)
            for topic in (entry if isinstance(entry, Iterable) else [entry])
        ]
        rows = np.array([row for row, _ in pairs], dtype=np.intp)
        values = np.array([topic for _, topic in pairs])
    else:
        rows, values = np.arange(n, dtype=np.intp), np.asarray(y)
    topics = _whole_numbers(values, name)
    wrong = np.unique(topics[(topics < -1) | (topics >= len(taxonomy))])
    if len(wrong):
        raise SeedError(
            f"{name} names {len(wrong):,} unknown topic id(s): {name_some(wrong.tolist())}. "
            f"The taxonomy has ids 0 … {len(taxonomy) - 1}; taxonomy.labels() makes y from paths."
        )
    kept = topics >= 0
    return rows[kept], topics[kept]


def _whole_numbers(values: NDArray[Any], name: str) -> Ints:
    try:
        numbers = values.astype(np.float64)
        whole = numbers.astype(np.intp)
    except (TypeError, ValueError):
        numbers, whole = np.array([0.5]), np.array([0])
    if not np.array_equal(numbers, whole):
        raise SeedError(
            f"{name} must hold topic ids (whole numbers). Unknown label type: {values.dtype}. "
            "taxonomy.labels({path: [rows]}, n) makes y from paths."
        )
    return whole


def seed_means(vectors: Floats, topics: Ints, n_topics: int) -> tuple[Floats, NDArray[np.bool_]]:
    """Mean of each topic's seeds, and which topics have any; the order of seeds is no matter."""
    grid = Grid.holding(len(topics), float(np.abs(vectors).max(initial=0.0)))
    sums = grid.dequantize(sum_by_group(topics, grid.quantize(vectors), n_topics))
    counts = np.bincount(topics, minlength=n_topics)
    return sums / np.maximum(counts, 1)[:, None], counts > 0


def refuse_bare_leaves(taxonomy: Taxonomy, known: NDArray[np.bool_]) -> None:
    """Refuse leaves without seeds, all named."""
    bare = np.flatnonzero(taxonomy.tree.is_leaf & ~known & ~taxonomy.is_other)
    if len(bare):
        listed = "".join(f"\n  - {taxonomy.paths[topic]}" for topic in bare)
        raise SeedError(
            f"{len(bare):,} of {int(taxonomy.tree.is_leaf.sum()):,} leaves have no seed. Give each "
            "at least one, or seeds made from its name (hierseed fit --seeds-from-names):" + listed
        )
