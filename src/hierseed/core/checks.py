"""Check vectors: shape, number type, NaN and infinity. One error names all offenders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from hierseed.core.block import Block, portable
from hierseed.core.blocks import Blocks, Vectors
from hierseed.errors import CorpusError

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
