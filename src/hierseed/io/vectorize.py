"""Turn the texts of a corpus into vectors: choose the embedder, then embed or reuse."""

from __future__ import annotations

import time
from os import PathLike
from pathlib import Path
from typing import Any

from hierseed.embed.choose import choose_embedder, get_embedder, split_wrappers
from hierseed.embed.corpus import Mapper, embed_corpus, embed_in_memory
from hierseed.embed.embedder import Embedder, describe_learning, is_fitted, is_trained
from hierseed.embed.estimate import expected_seconds
from hierseed.embed.language import language_note
from hierseed.embed.store import VectorStore, is_store
from hierseed.embed.store_writer import remove_store
from hierseed.embed.windows import SUFFIX as WINDOWS
from hierseed.engines.choose import OpenEngine
from hierseed.errors import CorpusError, StoreDamagedError, StoreMismatchError
from hierseed.io.corpus import Corpus
from hierseed.io.documents import DocumentVectors
from hierseed.progress import Fact, Listener, Note, Step, amount, duration

STORED = "float16"  # type of the vectors in a store; memory keeps what the embedder gives


def make_embedder(
    spec: Any, corpus: Corpus, listener: Listener, folder: str | PathLike[str] | None = None
) -> Embedder:
    """Make the embedder, let it learn where it does, and tell how long it will take.

    Where `folder` has the vectors already, no time is told.
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
    folder : one that holds a part of the vectors is completed, one of another corpus refused
    replace : make the vectors of another corpus, or damaged ones, again instead; those that
        another process is writing are refused all the same
    append : the documents are new ones, to be added to those in the folder
    dtype : of the vectors in a new folder
    engine : whose workers embed; None: this process does. The vectors have the same bits
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
            listener(Note(f"{folder.name} {reason} and is made again"))
            remove_store(folder)
            made = _embed(corpus, embedder, folder, listener, append, dtype, workers)
    _tell(listener, made, embedder, time.perf_counter() - started)
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
    made = DocumentVectors.of_store(store)
    made.n_reused, made.n_cut = last["held"], last["cut"]
    return made


def _tell(listener: Listener, made: DocumentVectors, embedder: Embedder, seconds: float) -> None:
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
    except CorpusError:  # `vectorize` says what is wrong with it
        return False
    return store.complete and len(store) == n and store.fingerprint == embedder.fingerprint
