"""Turn documents into vectors, for a fit and for a fitted model: embed them, or reuse vectors."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from operator import eq
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.choose import choose_embedder, get_embedder, load_embedder, split_wrappers
from hierseed.embed.corpus import Mapper, embed_corpus, embed_in_memory, expected_seconds
from hierseed.embed.embedder import Embedder, describe_learning, is_fitted, is_trained
from hierseed.embed.language import language_note
from hierseed.embed.precomputed import Precomputed
from hierseed.embed.store import VectorStore, hash_text, is_store
from hierseed.embed.store_writer import remove_store
from hierseed.embed.windows import SUFFIX as WINDOWS
from hierseed.engines.choose import OpenEngine
from hierseed.errors import CorpusError, ModelError, StoreDamagedError, StoreMismatchError
from hierseed.io.corpus import ROW_NUMBER, Corpus, Document
from hierseed.io.documents import (
    Chunk,
    Documents,
    DocumentVectors,
    Key,
    chunks_of_rows,
    chunks_of_text,
    open_documents,
)
from hierseed.progress import Fact, Listener, Note, Step, amount, duration

STORED = "float16"  # dtype of vectors in a store; in memory that of the embedder


class DocumentEmbedder:
    """Opens documents and embeds them as the fit did, or reuses the vectors of the fit.

    Parameters
    ----------
    embedder : of the fit; None if it is loaded from `folder`, or unknown
    vectors : of the fitting corpus, if they are in memory or open
    columns : of ids and texts in the fitting corpus
    """

    def __init__(
        self,
        embedder: Embedder | None = None,
        vectors: DocumentVectors | None = None,
        columns: dict[str, Any] | None = None,
    ) -> None:
        self.name = embedder.name if embedder else ""
        self.fingerprint = embedder.fingerprint if embedder else ""
        self.dtype = str(vectors.X.dtype) if vectors else "float32"
        self.columns = columns
        self.folder: Path | None = None  # of the model
        self.named: Any = None  # the embedder, if the user named it at load
        self.store: Path | None = vectors.store.folder if vectors and vectors.store else None
        self._embedder = embedder
        self._vectors = vectors

    @property
    def embedder(self) -> Embedder:
        """The embedder of the fit; one that gives other vectors now is refused."""
        if self._embedder is None:
            if not self.name or self.folder is None:
                raise ModelError(
                    f"the model {self.folder or ''} was fitted on vectors of unknown origin. "
                    "Give vectors instead of text"
                )
            embedder = load_embedder(self.folder, self.named)
            if embedder.fingerprint != self.fingerprint:
                raise ModelError(
                    f"the embedder in {self.folder} is {embedder.name} ({embedder.fingerprint}), "
                    f"and the model was fitted on vectors of {self.name} ({self.fingerprint}). "
                    "Restore the folder from a copy, or fit again"
                )
            self._embedder = embedder
        return self._embedder

    @cached_property
    def known(self) -> DocumentVectors | None:
        """Vectors of the fit whose texts are known: in memory, or in the folder of the fit."""
        if self._vectors is not None:
            return self._vectors if self._vectors.store or self._vectors.hashes else None
        beside = vectors_folder(self.folder) if self.folder else None
        places = {place.resolve(): place for place in (beside, self.store) if place}
        for folder in places.values():
            if not is_store(folder):
                continue
            try:
                store = VectorStore(folder)
                if store.complete and store.fingerprint == self.fingerprint:
                    store.check()
                    return DocumentVectors.from_store(store)
            except CorpusError as fault:  # of another version, or damaged: embed again
                warnings.warn(f"{fault} The documents are embedded again", stacklevel=4)
        return None

    def open(self, documents: Any, listener: Listener) -> Documents:
        """Open documents, with the columns of the fit; read a corpus once to find every fault."""
        opened = open_documents(documents)
        if isinstance(opened, DocumentVectors):
            self._check(opened)
            listener(Fact("Vectors", opened.describe()))
            return opened
        if self.known is None:
            self.embedder  # noqa: B018 - raises now where the model knows none
        if opened.use_columns(self.columns):
            columns = opened.columns
            ids = "rows are numbered" if columns["id"] == ROW_NUMBER else f"id in {columns['id']}"
            texts = " and ".join(columns["text"])
            listener(Fact("Columns", f"{ids}, text in {texts}, as in the fit"))
        survey = opened.read(listener)
        opened.refuse_faults()
        listener(Fact("Corpus", opened.describe()))
        if survey.faults:
            count = amount(len(survey.faults), "row")
            listener(survey.faults.note(count))
        return opened

    def chunks(self, opened: Documents, listener: Listener) -> Generator[Chunk, None, None]:
        """Cut documents into chunks; memory does not grow with their number."""
        if isinstance(opened, DocumentVectors):
            return chunks_of_rows(opened.ids)
        if (known := self.known) is not None:
            where = known.store.folder.name if known.store else "memory"
            listener(Fact("Vectors", f"of the fit, in {where}, are reused"))
        listener(Fact("Embedder", f"{self.name}, as in the fit"))
        # a file of vectors can't embed, so its documents are searched in any order
        reuse = VectorReuse(known, anywhere=self.name.startswith("precomputed:"))
        return chunks_of_text(opened, reuse.take)

    def encode(self, texts: Sequence[str]) -> Any:
        """Embed texts, rounded as in the fit: a document embedded again gets the same bits."""
        return self.embedder.encode(texts).astype(self.dtype)

    def vectors(
        self, opened: Documents, folder: str | PathLike[str] | None, listener: Listener
    ) -> DocumentVectors:
        """Vectors of all documents: their own, those of the fit, or new ones."""
        if isinstance(opened, DocumentVectors):
            return opened
        known = self.known
        if known is not None and (rows := _rows_of(known, opened)) is not None:
            where = f", found in {known.store.folder}" if known.store else ""
            listener(Fact("Vectors", f"{amount(len(rows), 'document')}{where}"))
            if len(rows) == len(known.ids) and (rows[:-1] < rows[1:]).all():
                return known
            return DocumentVectors(known.X[rows], [known.ids[row] for row in rows])
        if isinstance(self.embedder, Precomputed) and self.embedder.ids is None:
            self.embedder.encode([])  # raises: its rows are the documents of the fit
        if folder is not None and not _is_writable(Path(folder)):
            listener(Note(f"{Path(folder).parent} can't be written to: the vectors are not saved"))
            folder = None
        found = vectorize(opened, self.embedder, listener, folder, replace=True)
        if folder is None:
            found.X = np.asarray(found.X).astype(self.dtype)
        return found

    def _check(self, vectors: DocumentVectors) -> None:
        """Refuse vectors of another embedder; vectors of unknown origin pass."""
        store = vectors.store
        if store is None or not self.fingerprint or store.fingerprint == self.fingerprint:
            return
        raise ModelError(
            f"the vectors in {store.folder} are of {store.embedder_name} ({store.fingerprint}), "
            f"the model was fitted on those of {self.name} ({self.fingerprint}).",
            f"Embed the documents with {{embedder:{self.name}}}",
        )


def vectors_folder(model: Path, source: Path | None = None) -> Path:
    """The folder next to a model for the vectors of its corpus, or for those of another one."""
    return model.with_name(f"{model.name}.{f'{source.stem}.' if source else ''}vectors")


def _is_writable(folder: Path) -> bool:
    return os.access(folder if folder.exists() else folder.parent, os.W_OK)


def _rows_of(known: DocumentVectors, corpus: Corpus) -> NDArray[np.intp] | None:
    """Rows of the documents of a corpus, in any order; None where one is not known."""
    if len(corpus) == known.X.shape[0] and all(map(eq, known.keys(), _keys(corpus))):
        return np.arange(len(corpus))
    rows = [known.row_of.get(key, -1) for key in _keys(corpus)]
    return None if -1 in rows else np.array(rows, dtype=np.intp)


class VectorReuse:
    """Reuses known vectors while a corpus has the same order.

    With `anywhere` documents are found in any order, at the cost of keeping all keys in memory.
    """

    def __init__(self, known: DocumentVectors | None, anywhere: bool = False) -> None:
        self._known = known
        self._anywhere = anywhere
        self._keys = known.keys() if known else iter(())
        self._in_order = True
        self._at = 0

    def take(self, batch: list[Document]) -> Any:
        """Vectors of the next documents, or None where they are not known."""
        if self._known is None:
            return None
        wanted = list(_keys(batch))
        if self._in_order and list(islice(self._keys, len(batch))) == wanted:
            start, self._at = self._at, self._at + len(batch)
            return self._known.X[start : self._at]
        self._in_order = False
        if not self._anywhere:
            self._known = None
            return None
        rows = [self._known.row_of.get(key, -1) for key in wanted]
        return None if -1 in rows else self._known.X[np.array(rows, dtype=np.intp)]


def _keys(documents: Iterable[Document]) -> Iterator[Key]:
    return ((document.id, hash_text(document.text)) for document in documents)


def make_embedder(
    spec: Any, corpus: Corpus, listener: Listener, folder: str | PathLike[str] | None = None
) -> Embedder:
    """Make the embedder, fit it if it learns from the corpus, and report the expected time.

    No time is reported if `folder` has the vectors already.
    """
    if isinstance(spec, str) and split_wrappers(spec)[0] == "auto":
        embedder, why = choose_embedder(
            corpus.texts(), read_whole=spec.endswith(WINDOWS), n_documents=len(corpus)
        )
    else:
        embedder = get_embedder(spec)
        why = spec if isinstance(spec, str) else embedder.name
    if is_trained(embedder) and not is_fitted(embedder):
        listener(Fact("Learning", f"{embedder.name} learns from the corpus first"))
        embedder.fit(corpus.texts())
        if learned := describe_learning(embedder):
            listener(Fact("Learned", learned))
    if not (folder and _is_done(Path(folder), embedder, len(corpus))):
        seconds = expected_seconds(embedder, corpus.texts(), corpus.survey().n_characters)
        why = f"{why}; about {duration(seconds)}"
    listener(Fact("Embedder", why))
    if foreign := language_note(embedder.name, corpus.texts()):
        listener(Note(foreign))
    return embedder


def vectorize(
    corpus: Corpus,
    embedder: Embedder,
    listener: Listener,
    folder: str | PathLike[str] | None = None,
    *,
    replace: bool = False,
    append: bool = False,
    dtype: str = STORED,
    engine: OpenEngine | None = None,
) -> DocumentVectors:
    """Embed a corpus into a folder, or into memory where none is given.

    Parameters
    ----------
    folder : an unfinished one of the same corpus is completed, one of another corpus refused
    replace : replace vectors of another corpus, or damaged ones; vectors that another process
        is writing are always refused
    append : add the documents to those in the folder
    dtype : of the vectors in a new folder
    engine : whose workers embed; None for this process. The vectors are the same to the last bit
    """
    started = time.perf_counter()
    workers = engine.map if engine and engine.workers else None
    if folder is None:
        made = _in_memory(corpus, embedder, listener, workers)
    else:
        folder = Path(folder)
        try:
            made = _embed(corpus, embedder, folder, listener, append, dtype, workers)
        except (StoreMismatchError, StoreDamagedError) as fault:
            if not replace:
                raise
            damaged = isinstance(fault, StoreDamagedError)
            reason = "is damaged" if damaged else "holds other vectors"
            listener(Note(f"{folder.name} {reason} and is replaced"))
            remove_store(folder)
            made = _embed(corpus, embedder, folder, listener, append, dtype, workers)
    _report(listener, made, embedder, time.perf_counter() - started)
    return made


def _in_memory(
    corpus: Corpus, embedder: Embedder, listener: Listener, workers: Mapper | None
) -> DocumentVectors:
    n = len(corpus)
    X, keys, cut = embed_in_memory(
        corpus, embedder, lambda done: listener(Step("Embedding", done, n)), workers
    )
    ids, hashes = ([key[i] for key in keys] for i in (0, 1))
    return DocumentVectors(X, ids, None, hashes, corpus.name, n_cut=cut)


def _embed(
    corpus: Corpus,
    embedder: Embedder,
    folder: Path,
    listener: Listener,
    append: bool,
    dtype: str,
    workers: Mapper | None,
) -> DocumentVectors:
    n = len(corpus)
    last: dict[str, Any] = {}

    def show(event: dict[str, Any]) -> None:
        last.update(event)
        listener(Step("Embedding", event["done"], event["total"]))

    if is_store(folder):
        dtype = str(VectorStore(folder).dtype)
    store = embed_corpus(
        corpus, embedder, folder,
        dtype=dtype, append=append, total=n, progress=show, workers=workers,
    )  # fmt: skip
    made = DocumentVectors.from_store(store)
    made.n_reused, made.n_cut = last["held"], last["cut"]
    return made


def _report(listener: Listener, made: DocumentVectors, embedder: Embedder, seconds: float) -> None:
    if made.n_reused and made.store:
        where = f", found in {made.store.folder}"
        listener(Fact("Vectors", f"{amount(made.n_reused, 'document')}{where}"))
    if fresh := len(made.ids) - made.n_reused:
        rate = f"{fresh / max(seconds, 1e-9):,.0f} a second"
        listener(Fact("Embedded", f"{amount(fresh, 'document')} in {duration(seconds)} ({rate})"))
    if made.n_cut:
        limit = getattr(embedder, "max_tokens", 0)
        listener(
            Note(
                f"{amount(made.n_cut, 'text')} longer than {limit} tokens: only the beginning is "
                f"embedded. The embedder {embedder.name}+windows reads them whole"
            )
        )


def _is_done(folder: Path, embedder: Embedder, n: int) -> bool:
    if not is_store(folder):
        return False
    try:
        store = VectorStore(folder)
    except CorpusError:  # `vectorize` reports what is wrong
        return False
    return store.complete and len(store) == n and store.fingerprint == embedder.fingerprint
