"""Documents through a model, chunk by chunk: memory does not grow with the corpus."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from hierseed.assignments import Assignments
from hierseed.embed.overlap import read_ahead
from hierseed.embed.store import VectorStore
from hierseed.errors import CorpusError
from hierseed.io.corpus import Corpus
from hierseed.io.kept import KeptVectors
from hierseed.io.saved import SavedModel
from hierseed.io.vectors import open_vectors

CHUNK = 4096  # documents at a time


class Chunk(NamedTuple):
    """Some documents that follow each other."""

    ids: Sequence[str]
    vectors: Any  # as they were made, not yet prepared
    kept: Sequence[Sequence[Any]] = ()  # of each document, its values in the columns kept


def chunks_of_text(
    model: SavedModel, corpus: Corpus, size: int = CHUNK, kept: VectorStore | None = None
) -> Iterator[Chunk]:
    """Embed a corpus with the model's embedder; the next chunk is read meanwhile.

    `kept` are vectors of an earlier run: taken for as long as its documents, in order, have
    the same ids and texts; in any order where the embedder is a file and can't make them again.
    """
    known = KeptVectors(kept, anywhere=model.embedder_name.startswith("precomputed:"))
    with closing(read_ahead(_batches(corpus.rows(), size))) as batches:
        for batch in batches:
            documents = [document for document, _ in batch]
            vectors = known.take(documents)
            if vectors is None:
                vectors = model.embedder.encode([document.text for document in documents])
                vectors = vectors.astype(model.dtype)
            yield Chunk([document.id for document in documents], vectors, [v for _, v in batch])


def _batches(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    while batch := list(islice(rows, size)):
        yield batch


def chunks_of_vectors(
    model: SavedModel, path: str | PathLike[str], size: int = CHUNK
) -> Iterator[Chunk]:
    """Read vectors that were made before; those of another embedder are refused."""
    X, ids, store = open_vectors(path)
    model.check_store(store)
    width = model.estimator.n_features_in_
    if model.preparation is None and X.shape[1] != width:
        raise CorpusError(
            f"{Path(path).name} has {X.shape[1]} numbers a document, the model was fitted on "
            f"{width}. Use the embedder that the model was fitted with"
        )
    for start in range(0, len(ids), size):
        yield Chunk(ids[start : start + size], X[start : start + size])


def place(
    model: SavedModel, chunk: Chunk, *, threshold: float | None = None, level: int | None = None
) -> Assignments:
    """Place the documents of one chunk; seeds of the fit are marked.

    `threshold` stops each document at the deepest topic whose score reaches it;
    `level` cuts all paths there.
    """
    X = model.preparation.transform(chunk.vectors) if model.preparation else chunk.vectors
    y = model.seeds.labels(chunk.ids, chunk.vectors)
    placed: Assignments = model.estimator.assign(X, y)
    if threshold is not None:
        placed = placed.confident(threshold)
    return placed if level is None else placed.select(level)
