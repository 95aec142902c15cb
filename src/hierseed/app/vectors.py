"""The vectors of a project's documents: made when needed, and searched for what is similar."""

from __future__ import annotations

import json
import shutil
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.app.jobs import OnProgress
from hierseed.app.project import Project
from hierseed.app.store import documents
from hierseed.embed import Embedder, Preparation, Prepared, VectorStore, embed_corpus
from hierseed.embed.choose import (
    AUTO,
    HEADER,
    KINDS,
    Kind,
    choose_embedder,
    get_embedder,
    load_embedder,
)
from hierseed.embed.embedder import is_fitted, is_trained
from hierseed.embed.function import refuse_unnamed
from hierseed.embed.store import is_store
from hierseed.errors import CorpusError, HierSeedError
from hierseed.files import atomic_file

MEASURED_LETTERS = 1_200  # letters of the documents that speeds were measured on
UNKNOWN = 1e-3  # seconds per document of an embedder whose speed was never measured
SKETCH = 32  # numbers kept in memory per document for a first, coarse search
EXACT = 100_000  # with fewer documents than this all are compared in full
SHORTLIST = 1_500  # documents of the coarse search that are compared in full
Floats = NDArray[np.float32]


def make(project: Project, on_progress: OnProgress | None = None) -> VectorStore:
    """Embed what has no vector yet, going on where an earlier run stopped."""
    total = documents.count(project)
    if total == 0:
        raise CorpusError("the project has no documents. Load a corpus first")
    if ready(project):  # documents are only ever added, so what is there need not be read again
        return VectorStore(project.vectors)
    if is_store(project.vectors) and not (_wanted(project) and _readable(project)):
        shutil.rmtree(project.vectors)  # of another embedder, or damaged: made again
    if is_store(project.vectors):
        embedder = load_embedder(project.vectors / "embedder")
    else:
        spec = project.get("embedder", "auto")
        refuse_unnamed(spec, str(project.path))  # no code by file
        texts = (document.text for document in documents.every(project))
        embedder = choose_embedder(texts)[0] if spec == "auto" else get_embedder(spec)
        if is_trained(embedder) and not is_fitted(embedder):
            embedder.fit(document.text for document in documents.every(project))

    def progress(event: dict[str, Any]) -> None:
        if on_progress:
            on_progress({"phase": "Turning texts into vectors", **event})

    pairs = ((document.id, document.text) for document in documents.every(project))
    store = embed_corpus(
        pairs, embedder, project.vectors, dtype="float16", total=total, progress=progress
    )
    _write_sketch(project.vectors, store)
    return store


def stored_embedder(project: Project) -> str:
    """The name of the embedder that made the vectors, "" where there are none."""
    header = project.vectors / "embedder" / HEADER
    if not header.is_file():
        return ""
    return str(json.loads(header.read_text(encoding="utf-8")).get("name", ""))


def _wanted(project: Project) -> bool:
    """True where the vectors come from the embedder that was chosen."""
    chosen = str(project.get("embedder", "auto"))
    return chosen == "auto" or stored_embedder(project).partition(":")[0] == chosen


def _readable(project: Project) -> bool:
    """False where the vectors are damaged, or of an older version of hierseed."""
    try:
        VectorStore(project.vectors)
        load_embedder(project.vectors / "embedder")
    except (HierSeedError, OSError, ValueError):
        return False
    return True


def expected_seconds(project: Project, kind: Kind, n: int) -> float | None:
    """Seconds to embed the corpus, from the measured speed on documents of 200 words."""
    speed = kind.speed.replace(",", "")
    if not speed.isdigit() or not n:
        return None
    mean = project.db.execute(
        "SELECT avg(length(text)) FROM (SELECT text FROM document LIMIT 1000)"
    ).fetchone()[0]
    return n / int(speed) * min(1.0, float(mean or 0) / MEASURED_LETTERS + 0.1)


def automatic() -> str:
    """The embedder that is used where none is chosen: the best one installed."""
    return next((name for name in AUTO if not KINDS[name].lacking()), AUTO[-1])


def seconds_to_make(project: Project) -> float:
    """Expected seconds until every document has a vector."""
    if ready(project):
        return 0.0
    chosen = str(project.get("embedder", "auto"))
    name = automatic() if chosen == "auto" else chosen.partition(":")[0]
    n = documents.count(project)
    seconds = expected_seconds(project, KINDS[name], n) if name in KINDS else None
    return seconds or n * UNKNOWN


def ready(project: Project) -> bool:
    """True where every document has a vector of the embedder that was chosen."""
    journal = project.vectors / "journal.jsonl"
    if not is_store(project.vectors) or not journal.is_file() or not _wanted(project):
        return False
    state = (journal.stat().st_mtime_ns, documents.count(project))
    return bool(project.remember("vectors", state, lambda: _complete(project)))


def _complete(project: Project) -> bool:
    if not _readable(project):
        return False
    store = VectorStore(project.vectors)
    return store.complete and len(store) == documents.count(project)


def _write_sketch(folder: Path, store: VectorStore) -> None:
    """Few numbers per document, for corpora too large to compare in full at every click."""
    if len(store) <= EXACT:
        return
    preparation = Preparation(pca=min(SKETCH, store.shape[1])).fit(store)
    with atomic_file(folder / "sketch.npy") as partial:
        sketch = np.lib.format.open_memmap(
            partial, mode="w+", dtype=np.float32, shape=(len(store), preparation.pca or 0)
        )
        for start in range(0, len(store), 65_536):
            sketch[start : start + 65_536] = preparation.transform(store[start : start + 65_536])
        sketch.flush()
    learned = preparation.arrays
    for name, array in (("mean", "prepare_mean"), ("axes", "prepare_components")):
        with atomic_file(folder / f"sketch_{name}.npy") as partial:
            np.save(partial, learned[array])


class Space:
    """All vectors of a project, centred and of unit length: nearness is a product."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.store = VectorStore(folder)
        self.folder = folder
        self.preparation = Preparation()
        self.X = Prepared(self.store, self.preparation)
        self.whole: Floats | None = None
        if rows <= EXACT:
            self.preparation.fit(self.store)
            self.whole = self.X[:]
        else:
            self.preparation.mean_ = np.load(folder / "sketch_mean.npy")
            self.sketch: Floats = np.load(folder / "sketch.npy")
            self.axes: Floats = np.load(folder / "sketch_axes.npy")

    def similar(self, vector: Floats, most: int) -> tuple[NDArray[np.intp], Floats]:
        """Rows nearest to a vector, nearest first, with their cosine."""
        if self.whole is not None:
            rows, nearness = np.arange(len(self.whole)), self.whole @ vector
        else:
            aim = vector @ self.axes
            aim /= max(float(np.linalg.norm(aim)), 1e-12)
            coarse = self.sketch @ aim
            rows = np.argpartition(-coarse, SHORTLIST)[:SHORTLIST]
            rows.sort()
            nearness = self.X[rows] @ vector
        most = min(most, len(rows))
        best = np.argpartition(-nearness, most - 1)[:most]
        best = best[np.argsort(-nearness[best], kind="stable")]
        return rows[best], nearness[best]

    def encode(self, text: str) -> Floats:
        """Embed a text of one's own into the same space."""
        vector: Floats = self.preparation.transform(_embedder(self.folder).encode([text]))[0]
        return vector


@lru_cache(maxsize=2)
def _space(folder: Path, rows: int, stamp: int) -> Space:
    return Space(folder, rows)


def space(project: Project) -> Space | None:
    """The vectors, kept in memory between calls; None while there are none."""
    if not ready(project):
        return None
    stamp = (project.vectors / "journal.jsonl").stat().st_mtime_ns
    return _space(project.vectors, documents.count(project), stamp)


@lru_cache(maxsize=2)
def _embedder(folder: Path) -> Embedder:
    return load_embedder(folder / "embedder")
