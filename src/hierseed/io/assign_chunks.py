"""Documents in chunks, so that memory does not grow with the corpus, and counts of placements."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.corpus import read_ahead
from hierseed.io.corpus import Corpus, Document
from hierseed.taxonomy import Taxonomy

CHUNK = 4096  # documents embedded and placed at a time
CHUNK_ROWS = 1 << 16  # documents with known vectors


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
    with closing(read_ahead(_batches(corpus.rows(), size))) as batches:
        for batch in batches:
            documents = [document for document, _ in batch]
            ids, texts = (list(column) for column in zip(*documents))
            yield Chunk(ids, texts, known(documents), extra=[values for _, values in batch])


def _batches(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while batch := list(islice(rows, size)):
        yield batch


def chunks_of_rows(
    ids: Sequence[str], size: int = CHUNK_ROWS, start: int = 0
) -> Generator[Chunk, None, None]:
    """Cut documents with known vectors into chunks."""
    for at in range(0, len(ids), size):
        yield Chunk(ids[at : at + size], start=start + at)


Tally = dict[str, Any]  # documents counted by where they were placed; plain types, for JSON


def tally(taxonomy: Taxonomy, labels: NDArray[np.integer]) -> Tally:
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
        self.include(tally(self.taxonomy, labels))

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
