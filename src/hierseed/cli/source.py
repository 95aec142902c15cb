"""The documents a command was given, text or vectors, as rows of numbers with ids."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierseed.cli.console import Console, amount, duration
from hierseed.errors import CorpusError, EmbeddingError, SeedError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from hierseed.embed.embedder import Embedder
    from hierseed.embed.prepare import ArrayLike
    from hierseed.embed.store import VectorStore
    from hierseed.io.corpus import Corpus
    from hierseed.io.saved import SavedModel

SAMPLE = 4096  # documents embedded on trial at most, to tell how long all of them will take
ENOUGH = 0.3  # seconds of trial that tell enough


@dataclass
class Documents:
    """Rows of numbers as they were made, the ids of their documents, and what made them."""

    X: ArrayLike
    ids: Sequence[str]
    embedder: Embedder | None

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed seeds that are no documents of the corpus."""
        if self.embedder is None:
            raise SeedError(
                f"{len(texts):,} seeds are texts, and it is not known how the vectors were made. "
                "Name seeds by document id, or give the corpus instead of vectors"
            )
        return self.embedder.encode(texts)


def read_corpus(source: Path, output: Path | None, console: Console, **reading: Any) -> Corpus:
    """Read a corpus once and say what is in it; faults end the command, or are left out.

    Rows left out are kept beside the output, where there is one.
    """
    from hierseed.cli.outputs import refuse_inputs
    from hierseed.io.corpus import Corpus
    from hierseed.io.faults import SkippedRows

    with ExitStack() as stack:
        skipped = SkippedRows.beside(output) if output is not None else None
        if skipped is not None:
            refuse_inputs(skipped.path, source)
            stack.enter_context(skipped)
        corpus = Corpus(source, on_skip=skipped.write if skipped else None, **reading)
        with console.bar("Reading") as bar:
            faults = corpus.survey(bar.to).faults
        corpus.refuse_faults()
    console.fact("Corpus", corpus.describe())
    if faults:
        kept = f"\nThey are in {skipped.path}" if skipped else ""
        console.note(f"{amount(len(faults), 'row')} left out:{faults.describe()}{kept}")
    return corpus


def open_stored(path: Path, say: Callable[[str, str], object]) -> Documents:
    """Open vectors that were made before, with the embedder they came from."""
    from hierseed.embed.choose import load_embedder
    from hierseed.io.vectors import open_vectors

    X, ids, store = open_vectors(path)
    made = f" of {store.embedder_name}" if store else ""
    say("Vectors", f"{path.name}, {amount(len(ids), 'document')}, {X.shape[1]} numbers each{made}")
    embedder = load_embedder(store.folder / "embedder") if store else None
    return Documents(X, ids, embedder)


def embed(
    corpus: Corpus, embedder: Embedder, folder: Path, console: Console, *, redo: bool = False
) -> Documents:
    """Embed a corpus into a store, or take what the store already has.

    `redo` replaces a store that holds another corpus; else that is refused.
    """
    from hierseed.embed.store import is_store

    try:
        store = _embed(corpus, embedder, folder, console)
    except (CorpusError, EmbeddingError):
        if not redo or not is_store(folder):
            raise
        console.note(f"{folder.name} holds other vectors and is made again")
        shutil.rmtree(folder)
        store = _embed(corpus, embedder, folder, console)
    return Documents(store, store.ids, embedder)


def _embed(corpus: Corpus, embedder: Embedder, folder: Path, console: Console) -> VectorStore:
    from hierseed.embed.corpus import embed_corpus

    n = len(corpus)
    last: dict[str, Any] = {}

    def show(event: dict[str, Any]) -> None:
        last.update(event)
        bar.to(event["done"])

    with console.bar("Embedding", n) as bar:
        store = embed_corpus(corpus, embedder, folder, dtype="float16", total=n, progress=show)
        seconds = bar.seconds
    if last["held"]:
        console.fact("Vectors", f"{amount(last['held'], 'document')}, found in {folder}")
    if fresh := n - last["held"]:
        rate = f"{fresh / max(seconds, 1e-9):,.0f} a second"
        console.fact("Embedded", f"{amount(fresh, 'document')} in {duration(seconds)} ({rate})")
    return store


def choose(spec: str, corpus: Corpus, console: Console, folder: Path | None = None) -> Embedder:
    """Make the embedder, let it learn where it does, and say how long it will take.

    Where `folder` has the vectors already, that is no time at all.
    """
    from hierseed.embed.choose import choose_embedder, get_embedder
    from hierseed.embed.embedder import is_fitted, is_trained
    from hierseed.embed.language import language_note

    embedder, why = (
        choose_embedder(corpus.texts()) if spec == "auto" else (get_embedder(spec), spec)
    )
    if is_trained(embedder) and not is_fitted(embedder):
        console.fact("Learning", f"{embedder.name} learns from the corpus first")
        embedder.fit(corpus.texts())
    if folder and _is_done(folder, embedder, len(corpus)):
        console.fact("Embedder", why)
    else:
        console.fact("Embedder", f"{why}; about {duration(expected_seconds(embedder, corpus))}")
    if foreign := language_note(embedder.name, corpus.texts()):
        console.note(foreign)
    return embedder


def _is_done(folder: Path, embedder: Embedder, n: int) -> bool:
    from hierseed.embed.store import VectorStore, is_store

    if not is_store(folder):
        return False
    store = VectorStore(folder)
    return store.complete and len(store) == n and store.fingerprint == embedder.fingerprint


def expected_seconds(embedder: Embedder, corpus: Corpus) -> float:
    """Time for all documents, by their letters, from a trial on the first few."""
    from hierseed.embed.precomputed import Precomputed

    if isinstance(embedder, Precomputed):
        return 0.0
    texts = [document.text for document in islice(corpus, SAMPLE)]
    embedder.encode(texts[:1])  # loads the weights
    size, seconds = 16, _time(embedder, texts[:16])
    while size < len(texts) and seconds < ENOUGH:  # slow ones are tried on few, fast ones on many
        size *= 4
        seconds = _time(embedder, texts[:size])
    if seconds < 1:  # a second look, where it is cheap: other programs disturb a short one
        seconds = min(seconds, _time(embedder, texts[:size]))
    return seconds * corpus.survey().n_characters / max(sum(map(len, texts[:size])), 1)


def _time(embedder: Embedder, texts: list[str]) -> float:
    started = time.perf_counter()
    embedder.encode(texts)
    return time.perf_counter() - started


def vectors_beside(model: Path) -> Path:
    """The folder where `fit` keeps the vectors of its corpus, for `report` and `suggest`."""
    return model.with_name(f"{model.name}.vectors")


def kept_vectors(model: SavedModel) -> VectorStore | None:
    """Vectors that `fit` left, by default beside the model, whole and of its embedder."""
    from hierseed.embed.store import VectorStore, is_store

    if model.folder is None:
        return None
    named = model.about.get("vectors", "")  # seen from where the model stands
    for folder in (vectors_beside(model.folder), model.folder.parent / named):
        if is_store(folder):
            store = VectorStore(folder)
            if store.complete and store.fingerprint == model.fingerprint:
                return store
    return None


def documents_for(
    model: SavedModel, source: Path, console: Console, corpus: Corpus | None
) -> Documents:
    """Vectors of `source` for a model: opened, found beside the model, or made there now."""
    from hierseed.embed.precomputed import Precomputed
    from hierseed.io.kept import rows_of
    from hierseed.io.vectors import open_vectors

    if corpus is None:
        model.check_store(open_vectors(source).store)
        return open_stored(source, console.fact)
    folder, kept = model.folder or source, kept_vectors(model)
    if kept is not None and (rows := rows_of(kept, corpus)) is not None:
        console.fact("Vectors", f"{amount(len(rows), 'document')}, found in {kept.folder}")
        ids = kept.ids
        if len(rows) == len(kept) and (rows[:-1] < rows[1:]).all():
            return Documents(kept, ids, None)
        return Documents(kept[rows], [ids[row] for row in rows], None)
    if isinstance(model.embedder, Precomputed) and model.embedder.ids is None:
        model.embedder.encode([])  # refuses: its rows belong to the documents of the fit
    # Not beside the model itself: what `fit` left there took long to make.
    other = _writable(folder.with_name(f"{folder.name}.{source.stem}.vectors"), console)
    return embed(corpus, model.embedder, other, console, redo=True)


def _writable(folder: Path, console: Console) -> Path:
    """The folder, or one that goes when the command ends, where a model can only be read."""
    if os.access(folder if folder.exists() else folder.parent, os.W_OK):
        return folder
    place = Path(tempfile.mkdtemp(prefix="hierseed-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    console.note(
        f"{folder.parent} can't be written to: vectors lie in {place} until this command ends"
    )
    return place / folder.name
