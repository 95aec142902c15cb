"""TextModel: a fitted estimator with the way from text to its vectors; `load` reads one.

The model prepares vectors (centring, unit length), the estimator never does: `TextModel` takes
texts, and vectors as the embedder makes them; an estimator takes vectors as it was fitted on.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from os import PathLike
from pathlib import Path
from socket import gethostname
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import Assignments
from hierseed.embed.embedder import Embedder
from hierseed.embed.function import allow_functions
from hierseed.embed.prepare import Preparation, Prepared
from hierseed.engines.choose import Engine
from hierseed.errors import ModelError
from hierseed.estimators.base import SeededEstimator
from hierseed.files import file_sha256
from hierseed.io.corpus import Corpus
from hierseed.io.document_embedder import DocumentEmbedder
from hierseed.io.documents import Counts, DocumentVectors, SeedDocuments, chunks_of_rows, size_of
from hierseed.io.model_bundle import (
    FILE,
    REJECTED_VECTORS,
    SEED_VECTORS,
    Checkpoint,
    read_bundle,
    rebuilding,
    write_bundle,
)
from hierseed.io.placing import Placing, assign_all, open_job, open_output
from hierseed.lazy_object import LazyObject
from hierseed.placed import PlacedDocuments
from hierseed.progress import Listener, Step, amount, warn_of_notes
from hierseed.taxonomy import Taxonomy
from hierseed.views import ModelViews


class TextModel(ModelViews):
    """A model that places texts. `hierseed.fit` makes one, `hierseed.load` reads one.

    Parameters
    ----------
    estimator : fitted on prepared vectors
    preparation : of vectors before the fit; None for none
    embedder : of the vectors; None if unknown
    seeds : documents that were seeds; they are marked in assignments
    rejected : documents that were rejected for topics; they are placed elsewhere
    about : facts of the fit: corpus, number of documents, columns
    vectors : of the fitting corpus; reused for its documents
    files : inputs of the fit, which no output may replace
    checkpoint : of the fit; removed when the model is saved

    Attributes
    ----------
    estimator : SeededEstimator
    taxonomy_ : Taxonomy, with the Other topics that the fit added
    embedder : Embedder

    Examples
    --------
    >>> import hierseed, pandas as pd
    >>> texts = {"a": "the cat purrs", "b": "the dog barks", "c": "a cat naps", "d": "a dog digs"}
    >>> model = hierseed.fit(texts, ["Cats", "Dogs"], {"Cats": ["a"], "Dogs": ["b"]},
    ...                      embedder="wordllama", method="unfit", other=False)
    >>> model.assign(texts).to_frame()[["id", "topic", "is_seed"]].values.tolist()
    [['a', 'Cats', True], ['b', 'Dogs', True], ['c', 'Cats', False], ['d', 'Dogs', False]]

    The examples of the methods continue this one.
    """

    def __init__(
        self,
        estimator: SeededEstimator,
        preparation: Preparation | None = None,
        *,
        embedder: Embedder | None = None,
        seeds: SeedDocuments | None = None,
        rejected: SeedDocuments | None = None,
        about: dict[str, Any] | None = None,
        vectors: DocumentVectors | None = None,
        files: Sequence[Path] = (),
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.estimator = estimator
        self.preparation = preparation
        self.seeds = seeds or SeedDocuments()
        self.rejected = rejected or SeedDocuments()
        self.about = about or {}
        self.files = list(files)
        self.folder: Path | None = None
        self._documents = DocumentEmbedder(embedder, vectors, self.about.get("columns"))
        self._checkpoint = checkpoint

    @property
    def embedder(self) -> Embedder:
        """The embedder of the fit; one that gives other vectors now is refused.

        Examples
        --------
        >>> model.embedder.name
        'wordllama'
        """
        return self._documents.embedder

    @property
    def taxonomy_(self) -> Taxonomy:  # type: ignore[override]
        """The taxonomy with its Other topics.

        Examples
        --------
        >>> model.taxonomy_.paths
        ('Cats', 'Dogs')
        """
        return self.estimator.taxonomy_

    @property
    def knows_embedder(self) -> bool:
        """False for a model that was fitted on vectors of unknown origin."""
        return bool(self._documents.name)

    def prepare(self, X: Any) -> Any:
        """Return vectors prepared as in the fit; rows are prepared when they are read."""
        return X if self.preparation is None else Prepared(X, self.preparation)

    def encode(self, texts: Sequence[str]) -> Any:
        """Embed texts as in the fit, without preparation.

        Examples
        --------
        >>> model.encode(["a cat", "a dog"]).shape
        (2, 256)
        """
        return self._documents.encode(texts)

    def assign(
        self,
        documents: Any,
        *,
        threshold: float | NDArray[np.float64] | None = None,
        level: int | None = None,
        engine: Engine | str | int | None = None,
        progress: Listener | None = None,
    ) -> Assignments:
        """Place documents in the topics.

        Parameters
        ----------
        documents : as `hierseed.fit` takes them
        threshold : stop each document at the deepest topic whose score reaches this; one for all
            levels, or one for each, as `thresholds` gives them
        level : go no deeper than this level; 1 is the highest
        engine : None or "threads", "cuda", a number of worker processes, or the address of a dask
            scheduler; the result is the same
        progress : called with each event of `hierseed.progress`

        Examples
        --------
        >>> model.assign({"e": "my dog"}).to_frame()["topic"].item()
        'Dogs'
        >>> model.assign(texts, threshold=0.99).coverage  # only the seeds remain
        0.5
        """
        listener = progress or warn_of_notes
        opened = self._documents.open(documents, listener)
        with open_job(self, self._documents, opened, engine, listener) as job:
            job = job.with_options(threshold=threshold, level=level)
            return assign_all(job, self.taxonomy_)

    def write_table(
        self,
        documents: Any,
        file: str | PathLike[str],
        *,
        threshold: float | NDArray[np.float64] | None = None,
        level: int | None = None,
        codes: bool = False,
        top: int | None = None,
        overwrite: bool = False,
        engine: Engine | str | int | None = None,
        progress: Listener | None = None,
    ) -> Counts:
        """Place documents and write the table of assignments, chunk by chunk.

        Memory does not grow with the number of documents, and the file appears when it is
        complete. Columns that a `Corpus` keeps are appended; `codes` appends the code of each
        topic. `top` writes the most probable topics of each document instead: id, rank, topic,
        probability.

        Parameters
        ----------
        file : a name without an extension is a folder of Parquet parts; unfinished ones resume
        overwrite : replace a folder of parts that another model or other options made
        engine : as in `assign`; the files have the same bytes

        Examples
        --------
        >>> counts = model.write_table(texts, "placed.csv")
        >>> counts.placed, counts.documents
        (4, 4)
        >>> pd.read_csv("placed.csv")["topic"].tolist()
        ['Cats', 'Dogs', 'Cats', 'Dogs']
        """
        listener = progress or warn_of_notes
        counts = Counts(self.taxonomy_)
        with open_output(self, Path(file), overwrite) as output:  # fail before the long step
            opened = self._documents.open(documents, listener)
            with open_job(self, self._documents, opened, engine, listener) as job:
                job = job.with_options(threshold=threshold, level=level, codes=codes, top=top)
                for found in output.write(job):
                    counts.include(found)
                    listener(Step("Placing", counts.documents, size_of(opened)))
        return counts

    def for_workers(self, folder: Path, trusted: str) -> Any:
        """The model in a folder, loaded by each worker; `trusted` names functions that may run."""
        where = folder.absolute()
        return LazyObject(_load_on_worker, where, file_sha256(where / FILE), trusted)

    def place(
        self,
        documents: Any,
        *,
        texts: Iterable[tuple[str, str]] | None = None,
        vectors: str | PathLike[str] | None = None,
        threshold: float | None = None,
        level: int | None = None,
        progress: Listener | None = None,
    ) -> PlacedDocuments:
        """Place documents and keep their vectors, for suggestions and a report.

        Parameters
        ----------
        texts : pairs of id and text, where `documents` are vectors
        vectors : folder for the vectors of other documents than the fit's; None: in memory

        Examples
        --------
        >>> placed = model.place(texts)
        >>> placed.assignments.labels.tolist(), placed.X.shape
        ([0, 1, 0, 1], (4, 256))
        """
        listener = progress or warn_of_notes
        opened = self._documents.open(documents, listener)
        rows = self._documents.vectors(opened, vectors, listener)
        parts: list[Assignments] = []
        placing = Placing(self, rows.X, threshold, level)
        for found in map(placing.assign, chunks_of_rows(rows.ids)):
            parts.append(found)
            listener(Step("Placing", sum(part.n_documents for part in parts), size_of(opened)))
        if texts is None:
            texts = opened if isinstance(opened, Corpus) else [(str(id), "") for id in rows.ids]
        placed = replace(Assignments.join(parts), ids=rows.ids)
        X = self.prepare(rows.X)
        return PlacedDocuments(self.estimator, X, placed, texts, Path(opened.name).stem)

    def save(self, folder: str | PathLike[str]) -> None:
        """Write a model folder: JSON and arrays, never a pickle. `hierseed.load` reads it.

        Examples
        --------
        >>> model.save("model")
        >>> hierseed.load("model").assign({"e": "my dog"}).to_frame()["topic"].item()
        'Dogs'
        """
        self.write(folder)
        if self._checkpoint is not None:
            self._checkpoint.remove()

    def write(self, folder: str | PathLike[str]) -> None:
        """Write a model folder, and leave the checkpoint of the fit."""
        target, documents = Path(folder), self._documents
        about = self.about | {"inputs": [_relative_to(target, file) for file in self.files]}
        if documents.store:
            about["vectors"] = _relative_to(target, documents.store)
        bundle = self.estimator.to_bundle()
        bundle.preparation = self.preparation
        bundle.arrays[SEED_VECTORS] = self.seeds.vectors
        bundle.text = {
            "embedder": documents.name,
            "fingerprint": documents.fingerprint,
            "seeds": self.seeds.topics,
            "about": about,
            "dtype": documents.dtype,
        }
        if len(self.rejected):
            bundle.text["rejected"] = self.rejected.topics
            bundle.arrays[REJECTED_VECTORS] = self.rejected.vectors
        write_bundle(bundle, folder, documents.embedder if documents.name else None)

    def __repr__(self) -> str:
        topics = amount(len(self.taxonomy_), "topic")
        made = self._documents.name or "vectors"
        return f"TextModel({type(self.estimator).__name__}, {topics}, {made})"

    def _repr_html_(self) -> str:
        return self.estimator._repr_html_()


def load(folder: str | PathLike[str], *, embedder: Any = None) -> TextModel:
    """Read a model folder that `TextModel.save` or an estimator's `save` wrote.

    Parameters
    ----------
    folder : also one of version 0.1 that holds HierSeed or UnfitHierSeed
    embedder : the embedder of the fit, named again; needed for a Python function that has not been
        used in this process, since a model must not choose which code runs

    Examples
    --------
    >>> import hierseed, tempfile
    >>> texts = ["the cat purrs", "the dog barks"]
    >>> model = hierseed.fit(texts, ["Cats", "Dogs"], {"Cats": [0], "Dogs": [1]},
    ...                      embedder="wordllama", method="unfit", other=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model")
    ...     hierseed.load(f"{folder}/model").assign(["my dog"]).to_frame()["topic"].item()
    'Dogs'
    """
    folder = Path(folder)
    bundle = read_bundle(folder)
    text = bundle.text
    model = TextModel(bundle.estimator(folder), bundle.preparation, about=text.get("about"))
    documents = model._documents
    model.folder = documents.folder = folder
    documents.named = embedder
    if text:
        with rebuilding(folder):
            model.seeds = SeedDocuments.from_saved(text["seeds"], bundle.arrays[SEED_VECTORS])
            if "rejected" in text:
                vectors = bundle.arrays[REJECTED_VECTORS]
                model.rejected = SeedDocuments.from_saved(text["rejected"], vectors)
            documents.name = str(text["embedder"])
            documents.fingerprint = str(text["fingerprint"])
            documents.dtype = str(np.dtype(text["dtype"]))
            model.files = [folder.parent / name for name in model.about.get("inputs", [])]
            if "vectors" in model.about:
                documents.store = folder.parent / model.about["vectors"]
    return model


def _load_on_worker(folder: Path, digest: str, trusted: str) -> TextModel:
    """Load a model on a worker; `trusted` names functions that the user allowed."""
    advice = "Keep it on a path that all workers and this machine see"
    if not folder.is_dir():
        raise ModelError(f"the worker on {gethostname()} can't see the model {folder}. {advice}")
    if file_sha256(folder / FILE) != digest:
        raise ModelError(f"the worker on {gethostname()} sees another model at {folder}. {advice}")
    allow_functions(trusted)
    return load(folder)


def _relative_to(model: Path, file: Path) -> str:
    """Path of a file relative to the model's parent, so that both can move together."""
    try:
        return os.path.relpath(file, model.absolute().parent)
    except ValueError:  # on another drive of Windows
        return str(file)
