"""Documents as users pass them: texts, a table, a file, or precomputed vectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from hierseed.embed.choose import load_embedder
from hierseed.embed.embedder import Embedder
from hierseed.embed.precomputed import Precomputed
from hierseed.embed.prepare import ArrayLike
from hierseed.embed.store import VectorStore, is_store, read_ids
from hierseed.errors import CorpusError
from hierseed.io.corpus import Corpus
from hierseed.io.records.frames import open_frame
from hierseed.io.records.memory import MemoryRecords
from hierseed.progress import amount

Key = tuple[str, str]  # id of a document, and hash of its text
NAME = "documents"  # of a corpus in memory, in messages


@dataclass
class DocumentVectors:
    """Vectors as the embedder made them, and the id of each row's document.

    Parameters
    ----------
    X : one row per document
    ids : of the documents
    store : where the rows are on disk; None for other vectors
    hashes : of the texts, if known and there is no store
    n_reused, n_cut : documents whose vectors were reused, and texts that were truncated
    """

    X: ArrayLike
    ids: Sequence[str]
    store: VectorStore | None = None
    hashes: Sequence[str] | None = None
    name: str = "vectors"
    n_reused: int = 0
    n_cut: int = 0

    @classmethod
    def from_store(cls, store: VectorStore) -> Self:
        """Open the vectors of a complete store."""
        if not store.complete:
            raise CorpusError(
                f"the vectors in {store.folder} are not complete: {len(store):,} documents are "
                "there. Run the same `hierseed embed` again; it resumes where it stopped"
            )
        return cls(store, store.ids, store, name=store.folder.name)

    @cached_property
    def embedder(self) -> Embedder | None:
        """Embedder of the vectors; None if unknown."""
        return load_embedder(self.store.folder) if self.store else None

    def keys(self) -> Iterator[Key]:
        """Id and text hash of each document, in row order; empty if texts are unknown."""
        if self.store:
            return read_ids(self.store.folder, len(self.store))
        return zip(self.ids, self.hashes or ())

    @cached_property
    def row_of(self) -> dict[Key, int]:
        """Row of each document by its key."""
        return {key: row for row, key in enumerate(self.keys())}

    def describe(self) -> str:
        """Name and size."""
        n, width = self.X.shape
        made = f" of {self.store.embedder_name}" if self.store else ""
        return f"{self.name}, {amount(n, 'document')}, {width} numbers each{made}"


class RowNumbers(Sequence[str]):
    """Row numbers as ids: "0", "1", … without storing them."""

    def __init__(self, n: int | range) -> None:
        self.numbers = n if isinstance(n, range) else range(n)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, row: Any) -> Any:
        numbers = self.numbers[row]
        return RowNumbers(numbers) if isinstance(row, slice) else str(numbers)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        numbers = self.numbers
        return np.arange(numbers.start, numbers.stop, numbers.step).astype(str).astype(object)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(self.numbers)

    def __contains__(self, id: object) -> bool:
        return isinstance(id, str) and bool(self.rows([id]))

    def rows(self, ids: Iterable[str]) -> list[int]:
        """Rows of the ids that are row numbers here."""
        numbers = (int(id) for id in ids if id.isdecimal() and str(int(id)) == id)
        return sorted(self.numbers.index(number) for number in numbers if number in self.numbers)


Documents = Corpus | DocumentVectors


def size_of(documents: Documents) -> int:
    """Number of documents."""
    return len(documents) if isinstance(documents, Corpus) else len(documents.ids)


def open_documents(documents: Any) -> Documents:
    """Open documents of any kind that `hierseed.fit` accepts.

    A list of texts, a matrix, and a data frame or data set without a column `id` have their row
    numbers as ids, from 0; a DataFrame of pandas has its index.
    """
    if isinstance(documents, Corpus | DocumentVectors):
        return documents
    if isinstance(documents, str | PathLike):
        return open_vectors(documents) if is_vectors(documents) else Corpus(documents)
    if isinstance(documents, VectorStore):
        return DocumentVectors.from_store(documents)
    if (frame := open_frame(NAME, documents, number=True)) is not None:
        return Corpus(frame)
    if hasattr(documents, "shape") and len(documents.shape) == 2:
        return DocumentVectors(documents, RowNumbers(documents.shape[0]))
    if isinstance(documents, Mapping):
        ids, texts = list(documents), list(documents.values())
    elif hasattr(documents, "__iter__"):
        texts = list(documents)
        ids = list(map(str, range(len(texts))))
    else:
        raise CorpusError(
            f"documents can't be a {type(documents).__name__}. Give a list of texts, a mapping of "
            "id to text, a data frame, a file or folder, or vectors"
        )
    return Corpus(MemoryRecords(NAME, {"id": ids, "text": texts}))


def is_vectors(path: str | PathLike[str]) -> bool:
    """True for files and folders of vectors; anything else is a corpus."""
    return Path(path).suffix == ".npy" or is_store(path)


def open_vectors(path: str | PathLike[str]) -> DocumentVectors:
    """Open vectors; rows are read when they are used."""
    if Path(path).suffix == ".npy":
        X = Precomputed(path).vectors
        if not len(X):
            raise CorpusError(f"{path} has no rows, and so no document. Check what wrote it")
        return DocumentVectors(X, RowNumbers(len(X)), name=Path(path).name)
    return DocumentVectors.from_store(VectorStore(path))
