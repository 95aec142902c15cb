"""Embed a stream of documents into a store, in blocks: resumable, with constant memory."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from hierseed.embed.embedder import Embedder, Vectors, is_fitted, refuse_unfitted
from hierseed.embed.overlap import read_ahead
from hierseed.embed.precomputed import Precomputed
from hierseed.embed.store import VectorStore, read_ids
from hierseed.embed.store_writer import SHARD_ROWS, StoreWriter
from hierseed.errors import CorpusError, StoreMismatchError

BLOCK = 512  # documents embedded and saved at a time: what a kill can cost

Document = tuple[str, str]
Hashed = tuple[str, str, str]  # id, text, hash of the text
Progress = Callable[[dict[str, Any]], None]


def embed_corpus(
    documents: Iterable[Document],
    embedder: Embedder,
    folder: str | PathLike[str],
    *,
    dtype: str | None = None,
    append: bool = False,
    total: int | None = None,
    progress: Progress | None = None,
    block: int = BLOCK,
    shard_rows: int = SHARD_ROWS,
) -> VectorStore:
    """Embed `documents` into the store at `folder`, going on where an earlier run stopped.

    Documents that the store already holds are checked against it (id and text) and not embedded
    again; more at the end of the corpus are added. Another corpus, or another embedder, is refused.

    Parameters
    ----------
    documents : pairs of id and text, read once, a block at a time
    embedder : fitted, where it learns from the corpus
    dtype : "float32" (default) or "float16"
    append : the documents are new ones, to be added behind those in the store
    total : number of documents, where known; lets `progress` tell the time left
    progress : called after each block with a dict: `done` of `total` documents, `held` (in the
        store before), `hits` (those, and texts met twice in a block), `rate` (documents a second),
        `left` (seconds or None), `cut` (texts longer than the embedder's limit)
    """
    refuse_unfitted(embedder.name, is_fitted(embedder))
    report = _Report(total, progress, embedder)
    with StoreWriter(folder, embedder, dtype, shard_rows) as writer:
        held = writer.rows
        choose = _new_ones if append else _rest
        pending = choose(_hashed(documents), Path(folder), held, report)
        with closing(read_ahead(_blocks(pending, block))) as blocks:
            for part in blocks:
                ids, texts, hashes = (list(column) for column in zip(*part))
                vectors, repeats = _encode(embedder, ids, texts, held)
                writer.append(ids, hashes, vectors)
                held += len(ids)
                report.block(len(ids), repeats)
        writer.finish()
    report.tell()
    return VectorStore(folder)


def embed_in_memory(
    documents: Iterable[Document], embedder: Embedder, progress: Callable[[int], object]
) -> tuple[Vectors, list[tuple[str, str]]]:
    """Embed `documents` into an array; give it with id and text hash of each row."""
    refuse_unfitted(embedder.name, is_fitted(embedder))
    parts: list[Vectors] = []
    keys: list[tuple[str, str]] = []
    for part in _blocks(_hashed(documents), BLOCK):
        ids, texts, hashes = (list(column) for column in zip(*part))
        parts.append(_encode(embedder, ids, texts, len(keys))[0])
        keys += zip(ids, hashes)
        progress(len(keys))
    return np.concatenate(parts), keys


class _Report:
    """Counts for `progress`; the clock starts with the first text that has to be embedded."""

    def __init__(self, total: int | None, progress: Progress | None, embedder: Embedder) -> None:
        self.total, self.progress, self.embedder = total, progress, embedder
        self.cut_before = getattr(embedder, "cut", 0)
        self.held = self.fresh = self.repeats = 0
        self.started = time.perf_counter()

    def block(self, documents: int, repeats: int) -> None:
        self.fresh += documents
        self.repeats += repeats
        self.tell()

    def tell(self) -> None:
        if self.progress is None:
            return
        done = self.held + self.fresh
        rate = self.fresh / max(time.perf_counter() - self.started, 1e-9)
        known = self.total is not None and rate > 0
        self.progress(
            {
                "done": done,
                "total": self.total,
                "hits": self.held + self.repeats,
                "held": self.held,
                "rate": rate,
                "left": max(0, (self.total or 0) - done) / rate if known else None,
                "cut": getattr(self.embedder, "cut", 0) - self.cut_before,
            }
        )


def _hashed(documents: Iterable[Document]) -> Iterator[Hashed]:
    for document, text in documents:
        yield document, text, hash_text(text)


def hash_text(text: str) -> str:
    """What the store keeps of a text, to know it again."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _rest(
    documents: Iterator[Hashed], folder: Path, rows: int, report: _Report
) -> Iterator[Hashed]:
    """Check the documents that the store holds, in order; give out those behind them."""
    for row, (known, known_hash) in enumerate(read_ids(folder, rows)):
        found = next(documents, None)
        if found is None:
            raise StoreMismatchError(
                f"the store {str(folder)!r} holds {rows:,} documents, and this corpus ends after "
                f"{row:,}: another corpus. Give the one it was made from, or another folder."
            )
        if (found[0], found[2]) != (known, known_hash):
            same = "the same id with another text" if found[0] == known else f"{found[0]!r}"
            raise StoreMismatchError(
                f"the store {str(folder)!r} was made from another corpus: its row {row:,} is "
                f"{known!r}, this corpus has {same} there.",
                "Give the corpus it was made from, another folder, or add these documents to it "
                "with {append:True}",
            )
        report.held += 1
    report.started = time.perf_counter()
    yield from documents


def _new_ones(
    documents: Iterator[Hashed], folder: Path, rows: int, report: _Report
) -> Iterator[Hashed]:
    """Leave out documents that the store holds; refuse an id that comes with another text."""
    known = dict(read_ids(folder, rows))
    report.held += rows
    report.total = None if report.total is None else report.total + rows
    for document, text, text_hash in documents:
        if known.get(document, text_hash) != text_hash:
            raise CorpusError(
                f"the document {document!r} is in the store {str(folder)!r} with another text. "
                "Give the changed document a new id, or embed into another folder."
            )
        if document not in known:
            known[document] = text_hash
            yield document, text, text_hash
        elif report.total is not None:
            report.total -= 1


def _blocks(documents: Iterator[Hashed], size: int) -> Iterator[list[Hashed]]:
    while block := list(islice(documents, size)):
        yield block


def _encode(
    embedder: Embedder, ids: list[str], texts: list[str], start: int
) -> tuple[Vectors, int]:
    """Embed each different text once."""
    if isinstance(embedder, Precomputed):
        return embedder.rows(ids, start), 0
    place = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    vectors = embedder.encode(list(place))
    if len(place) == len(texts):
        return vectors, 0
    return vectors[np.array([place[text] for text in texts])], len(texts) - len(place)
