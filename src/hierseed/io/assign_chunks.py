"""Documents in chunks: memory does not grow with the corpus while a model places them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.overlap import read_ahead
from hierseed.io.corpus import Corpus, Document
from hierseed.io.documents import DocumentVectors
from hierseed.taxonomy import Taxonomy

CHUNK = 4096  # documents at a time


class Chunk(NamedTuple):
    """Some documents that follow each other."""

    ids: Sequence[str]
    vectors: Any  # as the embedder makes them, not yet prepared
    extra: Sequence[Sequence[Any]] = ()  # of each document, its values in the extra columns


def chunks_of_text(
    corpus: Corpus, vectors_of: Callable[[list[Document]], Any], size: int = CHUNK
) -> Generator[Chunk, None, None]:
    """Embed a corpus, or reuse its vectors; the next chunk is read at the same time."""
    with closing(read_ahead(_batches(corpus.rows(), size))) as batches:
        for batch in batches:
            documents = [document for document, _ in batch]
            ids = [document.id for document in documents]
            yield Chunk(ids, vectors_of(documents), [values for _, values in batch])


def _batches(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while batch := list(islice(rows, size)):
        yield batch


def chunks_of_vectors(vectors: DocumentVectors, size: int = CHUNK) -> Generator[Chunk, None, None]:
    """Cut vectors that are there already into chunks."""
    for start in range(0, vectors.X.shape[0], size):
        rows = slice(start, start + size)
        yield Chunk(vectors.ids[rows], vectors.X[rows])


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
    by_topic: dict[int, int] = field(default_factory=dict)
    not_seeds: int = 0

    def add(self, labels: NDArray[np.integer]) -> None:
        """Count documents by the deepest topic of each."""
        placed = labels[labels >= 0]
        self.documents += len(labels)
        self.placed += len(placed)
        self.in_other += int(self.taxonomy.is_other[placed].sum())
        first = self.taxonomy.tree.ancestors[labels][:, 0]
        for topic, count in zip(*np.unique(first, return_counts=True)):
            self.by_topic[int(topic)] = self.by_topic.get(int(topic), 0) + int(count)

    def names(self) -> dict[str, int]:
        """Documents per topic of level 1, by name."""
        name = [*self.taxonomy.names, "None"]
        return {name[topic]: count for topic, count in sorted(self.by_topic.items())}

    def to_dict(self) -> dict[str, Any]:
        """Plain types, ready for JSON."""
        return {
            "documents": self.documents,
            "placed": self.placed,
            "in_other": self.in_other,
            "coverage": self.placed / self.documents,
            "topics": self.names(),
        }
