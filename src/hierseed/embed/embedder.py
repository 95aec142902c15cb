"""The protocol of embedders: text in, float32 rows out, and a fingerprint."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import EmbeddingError
from hierseed.files import file_sha256

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into vectors.

    Attributes
    ----------
    name : the spelling that `get_embedder` takes, such as `"wordllama"` or `"tfidf:200"`
    dimension : the length of a vector
    fingerprint : changes whenever the vectors would (weights, length limit, training corpus)
    """

    @property
    def name(self) -> str:
        """The spelling that `get_embedder` takes."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    @property
    def fingerprint(self) -> str:
        """A short hash of everything that the vectors depend on."""

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one row per text; a text without a known word gives a row of zeros."""


class TrainedEmbedder(Embedder, Protocol):
    """An embedder that learns from the corpus first, and is saved with the model."""

    def fit(self, texts: Iterable[str]) -> Self:
        """Learn from the corpus; forget what was learned before."""

    def save(self, folder: str | PathLike[str]) -> None:
        """Write JSON and arrays, never a pickle."""

    @classmethod
    def load(cls, folder: str | PathLike[str]) -> Self:
        """Read what `save` wrote."""


# Asked of the class, by name: `isinstance` with a protocol would evaluate every property, and a
# fingerprint hashes all weights.
def is_trained(embedder: Embedder) -> TypeGuard[TrainedEmbedder]:
    """True for an embedder that learns from the corpus."""
    return hasattr(type(embedder), "fit") and hasattr(type(embedder), "save")


def is_fitted(embedder: Embedder) -> bool:
    """False only for an embedder that learns from the corpus and has not seen one yet."""
    return not is_trained(embedder) or bool(getattr(embedder, "fitted", True))


def describe_learning(embedder: Embedder) -> str:
    """One line about what an embedder learned; "" for most."""
    describe = getattr(getattr(embedder, "inner", embedder), "describe", None)
    return str(describe()) if describe else ""


def refuse_unfitted(name: str, fitted: bool) -> None:
    """Say that `fit` comes before `encode`."""
    if not fitted:
        raise EmbeddingError(
            f"the embedder {name!r} learns from a corpus and has not seen one. "
            "Call fit(texts) first, or load a saved one."
        )


def fingerprint(*parts: str | int | bytes | Path | NDArray[Any]) -> str:
    """Hash names, options, arrays and whole files into sixteen hexadecimal digits."""
    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, Path):
            content = bytes.fromhex(file_sha256(part))
        elif isinstance(part, np.ndarray):
            content = (
                f"{part.dtype.str}{part.shape}".encode() + np.ascontiguousarray(part).tobytes()
            )
        else:
            content = part if isinstance(part, bytes) else str(part).encode()
        # The length goes in first, so that ("ab", "c") and ("a", "bc") differ.
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()[:16]


def unit_length(vectors: NDArray[Any], dtype: Any = np.float32) -> NDArray[Any]:
    """Scale each row to length 1; rows of zeros stay zero."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.divide(vectors, np.where(length > 0, length, 1), dtype=dtype)


def as_text_list(texts: Sequence[str]) -> list[str]:
    """Return a list; refuse one text alone and entries that are no texts."""
    if isinstance(texts, str):
        raise EmbeddingError(
            "encode got one text where it takes a sequence of texts. Write encode([text])."
        )
    rows = list(texts)
    wrong = [i for i, text in enumerate(rows) if not isinstance(text, str)]
    if wrong:
        raise EmbeddingError(
            f"{len(wrong):,} of {len(rows):,} texts are not strings; the first is row {wrong[0]}, "
            f"a {type(rows[wrong[0]]).__name__}. Drop those rows or turn them into text."
        )
    return rows
