"""TextModel: a fitted estimator with the way from text to its vectors; `load` reads one.

The model prepares vectors (centring, unit length), the estimator never does: `TextModel` takes
texts, and vectors as the embedder makes them; an estimator takes vectors as it was fitted on.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import Assignments
from hierseed.embed.embedder import Embedder
from hierseed.embed.prepare import Preparation, Prepared
from hierseed.errors import CorpusError
from hierseed.estimators.base import SeededEstimator
from hierseed.evaluate import Scores, score, thresholds
from hierseed.io.assign_chunks import Chunk, Counts, chunks_of_vectors
from hierseed.io.atomic import atomic_file
from hierseed.io.checkpoint import Checkpoint
from hierseed.io.corpus import Corpus
from hierseed.io.document_embedder import DocumentEmbedder
from hierseed.io.documents import Documents, DocumentVectors
from hierseed.io.extra_columns import add_codes, add_columns
from hierseed.io.gold import gold_topics
from hierseed.io.model_bundle import SEED_VECTORS, read_bundle, rebuilding, write_bundle
from hierseed.io.seed_documents import SeedDocuments
from hierseed.io.tables import open_table
from hierseed.placed import PlacedDocuments
from hierseed.progress import Listener, Step, amount, warn_of_notes
from hierseed.proposals import Proposal, Proposals
from hierseed.report.page import render
from hierseed.suggestions import Suggestions
from hierseed.views import TopicViews


class TextModel(TopicViews):
    """A model that places texts. `hierseed.fit` makes one, `hierseed.load` reads one.

    Parameters
    ----------
    estimator : fitted on prepared vectors
    preparation : what was done to the vectors before the fit; None for nothing
    embedder : what made the vectors; None where that is not known
    seeds : documents that were seeds; they are marked in assignments
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
    >>> import hierseed
    >>> texts = {"a": "the cat purrs", "b": "the dog barks", "c": "a cat naps", "d": "a dog digs"}
    >>> model = hierseed.fit(texts, ["Cats", "Dogs"], {"Cats": ["a"], "Dogs": ["b"]},
    ...                      embedder="wordllama", method="unfit", other=False)
    >>> model.assign(texts).to_frame()[["id", "topic", "is_seed"]].values.tolist()
    [['a', 'Cats', True], ['b', 'Dogs', True], ['c', 'Cats', False], ['d', 'Dogs', False]]
    >>> model.evaluate(texts, {"c": "Cats", "d": "Dogs"}).all.mean.accuracy
    1.0
    """

    def __init__(
        self,
        estimator: SeededEstimator,
        preparation: Preparation | None = None,
        *,
        embedder: Embedder | None = None,
        seeds: SeedDocuments | None = None,
        about: dict[str, Any] | None = None,
        vectors: DocumentVectors | None = None,
        files: Sequence[Path] = (),
        checkpoint: Checkpoint | None = None,
    ) -> None:
        self.estimator = estimator
        self.preparation = preparation
        self.seeds = seeds or SeedDocuments()
        self.about = about or {}
        self.files = list(files)
        self.folder: Path | None = None
        self._documents = DocumentEmbedder(embedder, vectors, self.about.get("columns"))
        self._checkpoint = checkpoint

    @property
    def embedder(self) -> Embedder:
        """The embedder of the fit; one that gives other vectors now is refused."""
        return self._documents.embedder

    @property
    def knows_embedder(self) -> bool:
        """False for a model that was fitted on vectors of unknown origin."""
        return bool(self._documents.name)

    def prepare(self, X: Any) -> Any:
        """See vectors as the estimator saw them; rows are prepared when they are read."""
        return X if self.preparation is None else Prepared(X, self.preparation)

    def assign(
        self,
        documents: Any,
        *,
        threshold: float | NDArray[np.float64] | None = None,
        level: int | None = None,
        progress: Listener | None = None,
    ) -> Assignments:
        """Place documents in the topics.

        Parameters
        ----------
        documents : as `hierseed.fit` takes them
        threshold : stop each document at the deepest topic whose score reaches this; one for all
            levels, or one for each, as `thresholds` gives them
        level : go no deeper than this level; 1 is the highest
        progress : called with each event of `hierseed.progress`
        """
        listener = progress or warn_of_notes
        opened = self._documents.open(documents, listener)
        ids: list[str] = []
        parts = []
        chunks = self._documents.chunks(opened, listener)
        for chunk, found in self._assigned(chunks, threshold, level):
            parts.append(found)
            ids += chunk.ids
            listener(Step("Placing", len(ids), _size(opened)))
        return replace(Assignments.join(parts), ids=ids)

    def write_table(
        self,
        documents: Any,
        file: str | PathLike[str],
        *,
        threshold: float | NDArray[np.float64] | None = None,
        level: int | None = None,
        codes: bool = False,
        top: int | None = None,
        progress: Listener | None = None,
    ) -> Counts:
        """Place documents and write the table of assignments, chunk by chunk.

        Memory does not grow with the number of documents, and the file appears when it is
        complete. Columns that a `Corpus` keeps are appended; `codes` appends the code of each
        topic. `top` writes the most probable topics of each document instead: id, rank, topic,
        probability.
        """
        listener, file = progress or warn_of_notes, Path(file)
        counts = Counts(self.taxonomy_)
        with open_table(file, guard=True) as table:  # fails now rather than at the end
            opened = self._documents.open(documents, listener)
            extra = opened.kept if isinstance(opened, Corpus) else []
            # JSON, Excel and CSV may mix types in a column, Parquet may not
            as_text = file.suffix == ".parquet" and Path(opened.name).suffix != ".parquet"
            chunks = self._documents.chunks(opened, listener)
            for chunk, found in self._assigned(chunks, threshold, level):
                if top:
                    frame = found.top(top)
                    frame["id"] = np.asarray(chunk.ids)[frame["id"].to_numpy(dtype=np.intp)]
                else:
                    frame = found.to_frame(chunk.ids)
                    if codes:
                        frame = add_codes(frame, found)
                    if extra:
                        frame = add_columns(frame, found.row, extra, chunk.extra, text=as_text)
                table.write(frame)
                counts.add(found.labels)
                counts.rows += len(frame)
                named = sum(id in self.seeds.topics for id in chunk.ids)
                counts.not_seeds += named - int(found.is_seed.sum())
                listener(Step("Placing", counts.documents, _size(opened)))
        return counts

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
        """
        listener = progress or warn_of_notes
        opened = self._documents.open(documents, listener)
        rows = self._documents.vectors(opened, vectors, listener)
        parts: list[Assignments] = []
        for _, found in self._assigned(chunks_of_vectors(rows), threshold, level):
            parts.append(found)
            listener(Step("Placing", sum(part.n_documents for part in parts), _size(opened)))
        if texts is None:
            texts = opened if isinstance(opened, Corpus) else [(str(id), "") for id in rows.ids]
        placed = replace(Assignments.join(parts), ids=rows.ids)
        X = self.prepare(rows.X)
        return PlacedDocuments(self.estimator, X, placed, texts, Path(opened.name).stem)

    def suggest(
        self, documents: Any, n: int = 20, *, per_topic: int | None = None, **options: Any
    ) -> Suggestions:
        """Return up to n documents that are most useful to label next; options as of `place`."""
        return self.place(documents, **options).suggest(n, per_topic=per_topic)

    def propose_topics(
        self, documents: Any, n: int = 10, *, earlier: Sequence[Proposal] = (), **options: Any
    ) -> Proposals:
        """Return up to n topics that the taxonomy may lack; options as of `place`.

        Parameters
        ----------
        earlier : proposals of an earlier fit; the same group of documents keeps its id
        """
        return self.place(documents, **options).propose_topics(n, earlier=earlier)

    def report(
        self,
        documents: Any,
        file: str | PathLike[str],
        *,
        title: str | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Write one page that shows what is in every topic; return what it shows."""
        with atomic_file(file) as partial:  # fails now rather than at the end
            found = self.place(documents, **options).report(title, options.get("progress"))
            partial.write_text(render(found), encoding="utf-8", newline="\n")
        return found

    def evaluate(self, documents: Any, gold: Any, **options: Any) -> Scores:
        """Score the placement of documents against gold labels; seeds are left out.

        Parameters
        ----------
        gold : mapping of id to path or paths, DataFrame or file with the columns `id` and `topic`
        """
        found, truth, rows = self._coded(documents, gold, **options)
        ids = found.ids or ()
        listed = self.estimator.taxonomy
        return score(listed, found.levels[rows], [truth[ids[row]] for row in rows])

    def _coded(
        self, documents: Any, gold: Any, **options: Any
    ) -> tuple[Assignments, dict[str, list[int]], list[int]]:
        """Place documents; read gold labels; find the rows that have both and are no seeds."""
        found = self.assign(documents, **options)
        ids, listed = found.ids or (), self.estimator.taxonomy
        truth = gold_topics(gold, listed, set(ids).__contains__)
        rows = [row for row, id in enumerate(ids) if id in truth and not found.is_seed[row]]
        if not rows:
            raise CorpusError(
                f"none of {len(truth):,} documents with gold labels is among those given, seeds "
                "left out. Check that both use the same ids"
            )
        return found, truth, rows

    def thresholds(
        self, documents: Any, coded: Any, precision: float, **options: Any
    ) -> NDArray[np.float64]:
        """Score that a placement must reach at each level, for a precision that holds.

        Parameters
        ----------
        documents : that hold those coded by hand
        coded : documents coded by hand, drawn at random; as `gold` of `evaluate`
        precision : share of the placements kept that is to be right

        Returns
        -------
        array of a threshold for each level, for `assign` and `write_table`; above 1 where no
        score promises the precision
        """
        found, truth, rows = self._coded(documents, coded, **options)
        ids = found.ids or ()
        gold = [truth[ids[row]] for row in rows]
        scores = found.score[found.primary][rows]
        return thresholds(self.taxonomy_, found.levels[rows], scores, gold, precision)

    def save(self, folder: str | PathLike[str]) -> None:
        """Write a model folder: JSON and arrays, never a pickle. `hierseed.load` reads it."""
        target, documents = Path(folder), self._documents
        about = self.about | {"inputs": [_seen_from(target, file) for file in self.files]}
        if documents.store:
            about["vectors"] = _seen_from(target, documents.store)
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
        write_bundle(bundle, folder, documents.embedder if documents.name else None)
        if self._checkpoint is not None:
            self._checkpoint.remove()

    def _assigned(
        self,
        chunks: Generator[Chunk, None, None],
        threshold: float | NDArray[np.float64] | None,
        level: int | None,
    ) -> Iterator[tuple[Chunk, Assignments]]:
        """Prepare and place each chunk; seeds of the fit are marked."""
        with closing(chunks):
            for chunk in chunks:
                X = chunk.vectors
                if self.preparation is not None:
                    X = self.preparation.transform(X)
                found = self.estimator.assign(X, self.seeds.labels(chunk.ids, chunk.vectors))
                if threshold is not None:
                    found = found.confident(threshold)
                yield chunk, found if level is None else found.select(level)

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
            topics = {id: [int(t) for t in some] for id, some in text["seeds"].items()}
            model.seeds = SeedDocuments(topics, bundle.arrays[SEED_VECTORS])
            if len(topics) != len(model.seeds.vectors):
                raise ValueError(f"{len(topics)} seeds and {len(model.seeds.vectors)} vectors")
            documents.name, documents.fingerprint = text["embedder"], text["fingerprint"]
            documents.dtype = str(np.dtype(text["dtype"]))
            model.files = [folder.parent / name for name in model.about.get("inputs", [])]
            if "vectors" in model.about:
                documents.store = folder.parent / model.about["vectors"]
    return model


def _seen_from(model: Path, file: Path) -> str:
    """The way to a file from the folder that holds the model, so that both may move together."""
    try:
        return os.path.relpath(file, model.absolute().parent)
    except ValueError:  # on another drive of Windows
        return str(file)


def _size(opened: Documents) -> int:
    return len(opened) if isinstance(opened, Corpus) else len(opened.ids)
