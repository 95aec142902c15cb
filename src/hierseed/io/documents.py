"""Documents as users pass them, seeds among them, chunks of documents, and counts by topic.

Chunks keep memory from growing with the corpus. A seed is recognised by its id and vector: an id
alone is not enough, many corpora use row numbers as ids.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.choose import load_embedder
from hierseed.embed.embedder import Embedder
from hierseed.embed.precomputed import Precomputed
from hierseed.embed.prepare import ArrayLike
from hierseed.embed.store import VectorStore, is_store, read_ids
from hierseed.errors import CorpusError
from hierseed.io.corpus import Corpus, Document
from hierseed.io.records.frames import MemoryRecords, open_frame
from hierseed.progress import amount
from hierseed.taxonomy import Taxonomy
from hierseed.threads import read_ahead

Key = tuple[str, str]  # id of a document, and hash of its text
NAME = "documents"  # of a corpus in memory, in messages
Labels = NDArray[np.intp] | list[list[int]]  # the `y` of `fit` and `assign`
NO_SEED: list[int] = []  # shared by all rows without a topic: a million lists would take 60 MB
NEAR = 0.1  # of its length: how far the vector of a text may vary between batches
CHUNK = 4096  # documents embedded and placed at a time
CHUNK_ROWS = 1 << 16  # documents with known vectors
Tally = dict[str, Any]  # documents counted by where they were placed; plain types, for JSON


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


@dataclass
class SeedDocuments:
    """Topics of each seed document, and its vector as the embedder made it."""

    topics: dict[str, list[int]] = field(default_factory=dict)
    vectors: NDArray[np.floating] = field(default_factory=lambda: np.zeros((0, 0), np.float16))

    @classmethod
    def among(cls, topics: dict[str, list[int]], ids: Sequence[str], X: Any) -> Self:
        """Pick the vectors of the seeds out of those of the corpus."""
        row = {ids[number]: number for number in cls(topics).rows(ids)}
        if not row:
            return cls()
        rows = np.array([row[id] for id in topics], dtype=np.intp)
        return cls(topics, np.asarray(X[rows], dtype=np.float16))

    @classmethod
    def from_saved(cls, topics: dict[str, list[int]], vectors: NDArray[np.floating]) -> Self:
        """Check and return what a model folder holds."""
        if len(topics) != len(vectors):
            raise ValueError(f"{len(topics)} documents and {len(vectors)} vectors")
        return cls({id: [int(topic) for topic in some] for id, some in topics.items()}, vectors)

    def __len__(self) -> int:
        return len(self.topics)

    def rows(self, ids: Sequence[str]) -> list[int]:
        """Rows of documents that have the id of a seed."""
        if isinstance(ids, RowNumbers):
            return ids.rows(self.topics)
        return [row for row, id in enumerate(ids) if id in self.topics]

    def labels(self, ids: Sequence[str], X: Any) -> Labels:
        """Topics of the documents that were seeds: the `y` of `assign`. X: as embedded."""
        at = np.array(self.rows(ids), dtype=np.intp)
        found: dict[int, list[int]] = {}
        if len(at):
            number = {id: number for number, id in enumerate(self.topics)}
            saved = self.vectors[[number[ids[row]] for row in at.tolist()]].astype(np.float32)
            away = np.linalg.norm(np.asarray(X[at], dtype=np.float32) - saved, axis=1)
            for row in at[away <= NEAR * np.linalg.norm(saved, axis=1)].tolist():
                found[row] = self.topics[ids[row]]
        return as_labels(found, len(ids))


def as_labels(topics: dict[int, list[int]], n: int) -> Labels:
    """Topics of n rows as `y`: an array if no row has several, else lists; -1 for no topic."""
    if any(len(some) > 1 for some in topics.values()):
        return [topics.get(row, NO_SEED) for row in range(n)]
    found = np.full(n, -1, dtype=np.intp)
    for row, some in topics.items():
        found[row] = some[0] if some else -1
    return found


class Chunk(NamedTuple):
    """Consecutive documents.

    Attributes
    ----------
    vectors : as the embedder makes them, without preparation; None if they are made from `texts`,
        or are the rows from `start` of a matrix that the reader of the chunk has open
    extra : values of each document in the extra columns
    """

    ids: Sequence[str]
    texts: Sequence[str] = ()
    vectors: Any = None
    start: int = 0
    extra: Sequence[Sequence[Any]] = ()


def chunks_of_text(
    corpus: Corpus, known: Callable[[list[Document]], Any], size: int = CHUNK
) -> Generator[Chunk, None, None]:
    """Cut a corpus into chunks; the next one is read in the background.

    `known` returns the vectors of documents, or None if they must be embedded.
    """
    rows = corpus.rows()
    with closing(read_ahead(iter(lambda: list(islice(rows, size)), []))) as batches:
        for batch in batches:
            documents = [document for document, _ in batch]
            ids, texts = (list(column) for column in zip(*documents))
            yield Chunk(ids, texts, known(documents), extra=[values for _, values in batch])


def chunks_of_rows(
    ids: Sequence[str], size: int = CHUNK_ROWS, start: int = 0
) -> Generator[Chunk, None, None]:
    """Cut documents with known vectors into chunks."""
    for at in range(0, len(ids), size):
        yield Chunk(ids[at : at + size], start=start + at)


def count_by_topic(taxonomy: Taxonomy, labels: NDArray[np.integer]) -> Tally:
    """Count documents by the deepest topic of each."""
    n = len(taxonomy)
    counts = np.bincount(labels + 1, minlength=n + 1)  # the first: of None
    first = np.bincount(
        np.append(0, taxonomy.tree.ancestors[:n, 0] + 1), counts, minlength=1
    ).astype(int)
    return {
        "documents": len(labels),
        "placed": int(counts[1:].sum()),
        "in_other": int(counts[1:][taxonomy.is_other].sum()),
        "by_topic": {str(t - 1): int(first[t]) for t in np.flatnonzero(first)},
    }


@dataclass
class Counts:
    """Documents counted by where they were placed; added to chunk by chunk.

    Attributes
    ----------
    documents, rows : of the corpus, and of the table, where some documents have several topics
    placed, in_other : documents in any topic, and in an Other topic
    by_topic : documents per topic of level 1; -1 is None
    not_seeds : documents with the id of a seed but another text
    """

    taxonomy: Taxonomy
    documents: int = 0
    rows: int = 0
    placed: int = 0
    in_other: int = 0
    by_topic: dict[str, int] = field(default_factory=dict)
    not_seeds: int = 0

    def add(self, labels: NDArray[np.integer]) -> None:
        """Count documents by the deepest topic of each."""
        self.include(count_by_topic(self.taxonomy, labels))

    def include(self, more: Tally) -> None:
        """Add other counts."""
        for name in ("documents", "rows", "placed", "in_other", "not_seeds"):
            setattr(self, name, getattr(self, name) + more.get(name, 0))
        for topic, count in more["by_topic"].items():
            self.by_topic[topic] = self.by_topic.get(topic, 0) + count

    def to_tally(self) -> Tally:
        """All counts, as `include` takes them."""
        return {name: value for name, value in vars(self).items() if name != "taxonomy"}

    def names(self) -> dict[str, int]:
        """Documents per topic of level 1, by name."""
        name = [*self.taxonomy.names, "None"]
        topics = sorted((int(topic), count) for topic, count in self.by_topic.items())
        return {name[topic]: count for topic, count in topics}

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        return {
            "documents": self.documents,
            "placed": self.placed,
            "in_other": self.in_other,
            "coverage": self.placed / self.documents,
            "topics": self.names(),
        }
