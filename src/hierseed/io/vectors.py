"""Vectors on disk with the ids of their rows: a folder of `hierseed embed`, or a .npy file."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from hierseed.embed.precomputed import Precomputed
from hierseed.embed.prepare import ArrayLike
from hierseed.embed.store import VectorStore, is_store
from hierseed.errors import CorpusError


class StoredVectors(NamedTuple):
    """Rows of numbers, and the document each row belongs to."""

    X: ArrayLike
    ids: Sequence[str]
    store: VectorStore | None  # None for a .npy file, which does not say what made it


class RowNumbers(Sequence[str]):
    """Ids of rows that have no names: "0", "1", … without a list of them."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, row: Any) -> Any:
        numbers = range(self.n)[row]
        return [str(number) for number in numbers] if isinstance(row, slice) else str(numbers)


def is_vectors(path: str | PathLike[str]) -> bool:
    """True for what `open_vectors` reads; anything else is taken for a corpus."""
    return Path(path).suffix == ".npy" or is_store(path)


def open_vectors(path: str | PathLike[str]) -> StoredVectors:
    """Open without reading: rows come from disk when they are asked for."""
    if Path(path).suffix == ".npy":
        X = Precomputed(path).vectors
        if not len(X):
            raise CorpusError(f"{path} has no rows, and so no document. Check what wrote it")
        return StoredVectors(X, RowNumbers(len(X)), None)
    store = VectorStore(path)
    if not store.complete:
        raise CorpusError(
            f"the vectors in {path} are not finished: {len(store):,} documents are there. "
            "Run the same `hierseed embed` again; it goes on where it stopped"
        )
    return StoredVectors(store, store.ids, store)
