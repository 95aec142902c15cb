"""Embed a stream of documents into a store, resumably and in constant memory; expected time."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any, NamedTuple, TypeVar

import numpy as np

from hierseed.embed.choose import KINDS, get_embedder, save_embedder, saved_embedder, split_spec
from hierseed.embed.embedder import Embedder, Vectors, is_fitted, is_trained, refuse_unfitted
from hierseed.embed.precomputed import Precomputed
from hierseed.embed.store import VectorStore, hash_text, read_ids
from hierseed.embed.store_writer import SHARD_ROWS, StoreWriter
from hierseed.errors import CorpusError, HierSeedError, StoreMismatchError
from hierseed.threads import read_ahead

BLOCK = 512  # documents embedded and saved at a time: the most that a killed process loses

Document = tuple[str, str]
Hashed = tuple[str, str, str]  # id, text, hash of the text
Progress = Callable[[dict[str, Any]], None]
Mapper = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]  # as the builtin `map`
Item = TypeVar("Item")
TRIED = 4096  # largest number of documents in a trial
TRIAL = 0.3  # seconds after which a trial is long enough


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
    workers: Mapper | None = None,
) -> VectorStore:
    """Embed `documents` into the store at `folder`, resuming where an earlier run stopped.

    Documents that the store already holds are checked against it (id and text) and not embedded
    again; more at the end of the corpus are added. Another corpus, or another embedder, is refused.

    Parameters
    ----------
    documents : pairs of id and text, read once, a block at a time
    embedder : fitted, where it learns from the corpus
    dtype : "float32" (default) or "float16"
    append : the documents are new ones, to be added behind those in the store
    total : number of documents, if known; for the time left in `progress`
    progress : called after each block with a dict: `done` of `total` documents, `held` (in the
        store before), `hits` (those, and texts met twice in a block), `rate` (documents a second),
        `left` (seconds or None), `cut` (texts longer than the embedder's limit)
    workers : `map` of an engine, whose workers load the embedder from `folder` and embed; None:
        this process does. The files have the same bytes
    """
    refuse_unfitted(embedder.name, is_fitted(embedder))
    report = _Report(total, progress)
    with StoreWriter(folder, embedder, dtype, shard_rows) as writer:
        choose = _new_ones if append else _rest
        pending = choose(_hashed(documents), Path(folder), writer.rows, report)
        with closing(read_ahead(batched(pending, block))) as blocks:
            used = embedder
            if workers and not isinstance(embedder, Precomputed):
                used = saved_embedder(folder, embedder.name)
            for part, made in _embedded(blocks, used, writer.header.dtype, writer.rows, workers):
                ids, _, hashes = zip(*part)
                writer.append(ids, hashes, made.vectors)
                report.block(len(ids), made)
        writer.finish()
    report.send()
    return VectorStore(folder)


def embed_in_memory(
    documents: Iterable[Document],
    embedder: Embedder,
    progress: Callable[[int], object],
    workers: Mapper | None = None,
) -> tuple[Vectors, list[tuple[str, str]], int]:
    """Embed `documents` into an array.

    Returns it with id and text hash of each row, and the number of texts that were too long.
    """
    refuse_unfitted(embedder.name, is_fitted(embedder))
    parts: list[Vectors] = []
    keys: list[tuple[str, str]] = []
    cut = 0
    with TemporaryDirectory() as folder:
        used = embedder
        if workers and not isinstance(embedder, Precomputed):
            save_embedder(embedder, folder)
            used = saved_embedder(folder, embedder.name)
        blocks = batched(_hashed(documents), BLOCK)
        for part, made in _embedded(blocks, used, "float32", 0, workers):
            parts.append(made.vectors)
            cut += made.cut
            keys += [(document, text_hash) for document, _, text_hash in part]
            progress(len(keys))
    return np.concatenate(parts), keys, cut


class Encoded(NamedTuple):
    """Vectors of some texts.

    Attributes
    ----------
    repeats : texts that occur more than once; each is embedded once
    cut : texts longer than the embedder's limit
    """

    vectors: Vectors
    repeats: int = 0
    cut: int = 0


def encode_texts(embedder: Embedder, dtype: str, texts: list[str]) -> Encoded:
    """Embed each different text once; this is what a worker runs."""
    place = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    with _one_at_a_time:  # or texts cut for another thread would be counted here
        before = getattr(embedder, "cut", 0)
        vectors = embedder.encode(list(place))
        cut = getattr(embedder, "cut", 0) - before
    vectors = vectors.astype(dtype, copy=False)
    if len(place) == len(texts):
        return Encoded(vectors, 0, cut)
    rows = np.array([place[text] for text in texts])
    return Encoded(vectors[rows], len(texts) - len(place), cut)


_one_at_a_time = Lock()


def _embedded(
    blocks: Iterable[list[Hashed]],
    embedder: Embedder,
    dtype: str,
    start: int,
    workers: Mapper | None,
) -> Iterator[tuple[list[Hashed], Encoded]]:
    """Yield each block with its vectors, in order; `start` is the row of the first document."""
    if isinstance(embedder, Precomputed):
        for part in blocks:
            yield part, Encoded(embedder.rows([document for document, _, _ in part], start))
            start += len(part)
        return
    waiting: deque[list[Hashed]] = deque()

    def texts() -> Iterator[list[str]]:
        for part in blocks:
            waiting.append(part)
            yield [text for _, text, _ in part]

    for made in (workers or map)(partial(encode_texts, embedder, dtype), texts()):
        yield waiting.popleft(), made


class _Report:
    """Counts for `progress`; the clock starts with the first text that has to be embedded."""

    def __init__(self, total: int | None, progress: Progress | None) -> None:
        self.total, self.progress = total, progress
        self.held = self.fresh = self.repeats = self.cut = 0
        self.started = time.perf_counter()

    def block(self, documents: int, made: Encoded) -> None:
        self.fresh += documents
        self.repeats += made.repeats
        self.cut += made.cut
        self.send()

    def send(self) -> None:
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
                "cut": self.cut,
            }
        )


def _hashed(documents: Iterable[Document]) -> Iterator[Hashed]:
    for document, text in documents:
        yield document, text, hash_text(text)


def _rest(
    documents: Iterator[Hashed], folder: Path, rows: int, report: _Report
) -> Iterator[Hashed]:
    """Check the documents that the store holds, in order; yield those after them."""
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
    """Yield documents that the store does not hold; refuse a known id with another text."""
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


def batched(items: Iterator[Item], size: int) -> Iterator[list[Item]]:
    """Lists of `size` items; `itertools` has it from Python 3.12 on."""
    while batch := list(islice(items, size)):
        yield batch


@dataclass(frozen=True)
class Estimate:
    """Expected time of one embedder for the whole corpus."""

    name: str
    seconds: float  # embedding
    fit_seconds: float  # learning from the corpus first, where it does
    rate: float  # documents a second
    problem: str = ""  # why it could not be tried


def ready_specs() -> list[str]:
    """Embedders that are ready on this machine and need no detail, in the table's order."""
    return [name for name, kind in KINDS.items() if not kind.needs_detail and not kind.lacking()]


def estimate(
    spec: str, documents: Iterable[tuple[str, str]], n_documents: int, n_characters: int
) -> Estimate:
    """Make the embedder, let it learn where it does, and time it on a few documents."""
    try:
        kind, detail = split_spec(spec)
        lacking = kind.lacking()
        if lacking and not detail:
            return Estimate(spec, 0.0, 0.0, 0.0, f"not ready: {lacking}. {kind.source}")
        embedder = get_embedder(spec)
        head = [text for _, text in islice(documents, TRIED)]
        fit_seconds = 0.0
        if is_trained(embedder):
            learned = min(n_documents, getattr(embedder, "max_documents", n_documents))
            started = time.perf_counter()
            embedder.fit(head)
            fit_seconds = (time.perf_counter() - started) * learned / max(len(head), 1)
        seconds = expected_seconds(embedder, head, n_characters)
    except HierSeedError as fault:
        return Estimate(spec, 0.0, 0.0, 0.0, str(fault))
    return Estimate(embedder.name, seconds, fit_seconds, n_documents / max(seconds, 1e-9))


def expected_seconds(embedder: Embedder, texts: Iterable[str], n_characters: int) -> float:
    """Time for a corpus of `n_characters`, from a trial on its first texts.

    Long texts cost more than short ones, so time is scaled by characters, not by documents.
    """
    if isinstance(embedder, Precomputed):
        return 0.0
    trial = list(islice(texts, TRIED))
    embedder.encode(trial[:1])  # loads the weights
    size, seconds = 16, _time(embedder, trial[:16])
    while size < len(trial) and seconds < TRIAL:  # a slow embedder is tried on few texts
        size *= 4
        seconds = _time(embedder, trial[:size])
    if seconds < 1:  # other programs disturb a short trial: take the shorter of two
        seconds = min(seconds, _time(embedder, trial[:size]))
    return seconds * n_characters / max(sum(map(len, trial[:size])), 1)


def _time(embedder: Embedder, texts: list[str]) -> float:
    started = time.perf_counter()
    embedder.encode(texts)
    return time.perf_counter() - started
