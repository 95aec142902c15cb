"""How new documents become the vectors that a model was fitted on, before preparation."""

from __future__ import annotations

import os
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

from hierseed.embed.choose import load_embedder
from hierseed.embed.corpus import hash_text
from hierseed.embed.embedder import Embedder
from hierseed.embed.precomputed import Precomputed
from hierseed.embed.store import VectorStore, is_store
from hierseed.errors import CorpusError, ModelError
from hierseed.io.assign_chunks import Chunk, chunks_of_rows, chunks_of_text
from hierseed.io.corpus import ROW_NUMBER, Corpus, Document
from hierseed.io.documents import Documents, DocumentVectors, Key, open_documents
from hierseed.io.vectorize import vectorize
from hierseed.progress import Fact, Listener, Note, amount


class DocumentEmbedder:
    """Opens documents and embeds them as the fit did, or reuses the vectors of the fit.

    Parameters
    ----------
    embedder : of the fit; None for one that is loaded from `folder`, or not known
    vectors : of the fitting corpus, where they are in memory or open
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
        self.named: Any = None  # the embedder, where the user has named it again
        self.store: Path | None = vectors.store.folder if vectors and vectors.store else None
        self._embedder = embedder
        self._vectors = vectors

    @property
    def embedder(self) -> Embedder:
        """The embedder of the fit; one that gives other vectors now is refused."""
        if self._embedder is None:
            if not self.name or self.folder is None:
                raise ModelError(
                    f"the model {self.folder or ''} was fitted on vectors and does not know how "
                    "they were made. Give vectors instead of text"
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
        """Vectors of the fit with their texts known: in memory, or where the fit left them."""
        if self._vectors is not None:
            return self._vectors if self._vectors.store or self._vectors.hashes else None
        beside = vectors_beside(self.folder) if self.folder else None
        places = {place.resolve(): place for place in (beside, self.store) if place}
        for folder in places.values():
            if not is_store(folder):
                continue
            try:
                store = VectorStore(folder)
                if store.complete and store.fingerprint == self.fingerprint:
                    store.check()
                    return DocumentVectors.of_store(store)
            except CorpusError as fault:  # of another version, or damaged: they can be made again
                warnings.warn(f"{fault} Here the documents are embedded again", stacklevel=4)
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
        if opened.like(self.columns):
            columns = opened.columns
            ids = "rows are numbered" if columns["id"] == ROW_NUMBER else f"id in {columns['id']}"
            texts = " and ".join(columns["text"])
            listener(Fact("Columns", f"{ids}, text in {texts}, as in the fit"))
        survey = opened.read(listener)
        opened.refuse_faults()
        listener(Fact("Corpus", opened.describe()))
        if survey.faults:
            count = amount(len(survey.faults), "row")
            listener(Note(f"{count} left out:{survey.faults.describe()}"))
        return opened

    def chunks(self, opened: Documents, listener: Listener) -> Generator[Chunk, None, None]:
        """Cut documents into chunks; memory does not grow with their number."""
        if isinstance(opened, DocumentVectors):
            return chunks_of_rows(opened.ids)
        if (known := self.known) is not None:
            where = known.store.folder.name if known.store else "memory"
            listener(Fact("Vectors", f"those in {where} serve for documents of the fit"))
        listener(Fact("Embedder", f"{self.name}, as in the fit"))
        # a file of vectors can't embed again, so its documents are looked for anywhere
        reuse = VectorReuse(known, anywhere=self.name.startswith("precomputed:"))
        return chunks_of_text(opened, reuse.take)

    def encode(self, texts: Sequence[str]) -> Any:
        """Embed texts, rounded as in the fit: a document embedded again gets the same bits."""
        return self.embedder.encode(texts).astype(self.dtype)

    def vectors(
        self, opened: Documents, folder: str | PathLike[str] | None, listener: Listener
    ) -> DocumentVectors:
        """Vectors of all documents: given, known from the fit, or made now."""
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
            self.embedder.encode([])  # raises: its rows belong to the documents of the fit
        if folder is not None and not _is_writable(Path(folder)):
            listener(Note(f"{Path(folder).parent} can't be written to: the vectors are not kept"))
            folder = None
        found = vectorize(opened, self.embedder, listener, folder, replace=True)
        if folder is None:
            found.X = np.asarray(found.X).astype(self.dtype)
        return found

    def _check(self, vectors: DocumentVectors) -> None:
        """Refuse vectors of another embedder; those that don't say what made them pass."""
        store = vectors.store
        if store is None or not self.fingerprint or store.fingerprint == self.fingerprint:
            return
        raise ModelError(
            f"the vectors in {store.folder} are of {store.embedder_name} ({store.fingerprint}), "
            f"the model was fitted on those of {self.name} ({self.fingerprint}).",
            f"Embed the documents with {{embedder:{self.name}}}",
        )


def vectors_beside(model: Path) -> Path:
    """The folder beside a model where `hierseed fit` keeps the vectors of its corpus."""
    return model.with_name(f"{model.name}.vectors")


def _is_writable(folder: Path) -> bool:
    return os.access(folder if folder.exists() else folder.parent, os.W_OK)


def _rows_of(known: DocumentVectors, corpus: Corpus) -> NDArray[np.intp] | None:
    """Rows of the documents of a corpus, in any order; None where one is not known."""
    if len(corpus) == known.X.shape[0] and all(map(eq, known.keys(), _keys(corpus))):
        return np.arange(len(corpus))
    rows = [known.row_of.get(key, -1) for key in _keys(corpus)]
    return None if -1 in rows else np.array(rows, dtype=np.intp)


class VectorReuse:
    """Take vectors while a corpus follows the order of the known ones.

    With `anywhere` documents are found beyond that point too, at the cost of holding all keys.
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
