"""Place documents in chunks, in this process or on workers: one table, or a folder of parts."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from itertools import chain, groupby, islice
from operator import itemgetter
from os import PathLike
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hierseed.assignments import Assignments, Names
from hierseed.core.blocks import check_finite
from hierseed.embed.prepare import Prepared
from hierseed.engines.choose import Engine, OpenEngine
from hierseed.errors import ModelError
from hierseed.io.corpus import Corpus
from hierseed.io.document_embedder import DocumentEmbedder
from hierseed.io.documents import (
    CHUNK,
    CHUNK_ROWS,
    Chunk,
    Counts,
    Documents,
    DocumentVectors,
    Tally,
    chunks_of_rows,
    count_by_topic,
    size_of,
)
from hierseed.io.parts import (
    ROWS,
    TEXTS,
    Entry,
    ParquetPart,
    Parts,
    check_part,
    check_parts,
    open_parts,
    part_file,
)  # fmt: skip
from hierseed.io.tables import Table, add_columns, open_table
from hierseed.progress import Listener, Step

if TYPE_CHECKING:
    import pandas as pd


class Part(NamedTuple):
    """Documents of one part of a folder, with known vectors.

    `known` is the entry of the part in the manifest, None if it is incomplete.
    """

    number: int
    ids: Sequence[str]
    start: int
    known: Entry | None


@dataclass(frozen=True)
class Placing:
    """How documents are placed, and the columns of the table.

    Parameters
    ----------
    model : a TextModel, or one that workers load (see `LazyObject`)
    X : known vectors of the documents, as the embedder made them
    threshold, level, codes, top : as in `TextModel.write_table`
    extra : names of further columns; `extra_as_text` for formats with one type per column
    folder, chunk_rows : of the parts, for `write_part`
    device : of torch, that scores are computed on; None: the processor
    """

    model: Any
    X: Any = None
    threshold: float | NDArray[np.float64] | None = None
    level: int | None = None
    codes: bool = False
    top: int | None = None
    extra: Sequence[str] = ()
    extra_as_text: bool = False
    folder: Path | None = None
    chunk_rows: int = CHUNK_ROWS
    device: str | None = None

    def assign(self, chunk: Chunk) -> Assignments:
        """Embed, prepare and place documents, with the seeds and rejections of the fit."""
        model, vectors = self.model, self._vectors(chunk)
        seeds, rejected = model.seeds, model.rejected
        found = model.estimator.assign(
            self._ready(vectors),
            seeds.labels(chunk.ids, vectors),
            rejected=rejected.labels(chunk.ids, vectors) if len(rejected) else None,
        )
        if self.threshold is not None:
            found = found.confident(self.threshold)
        return cast(Assignments, found if self.level is None else found.select(self.level))

    def _ready(self, vectors: Any) -> Any:
        """Vectors as the estimator takes them, on the device if there is one."""
        preparation = self.model.preparation
        if self.device is None:
            return vectors if preparation is None else preparation.transform(vectors)
        from hierseed.engines.torch import TorchBlocks

        X = vectors if preparation is None else Prepared(vectors, preparation)
        blocks = TorchBlocks(X, self.device)
        check_finite(blocks)
        return blocks

    def assign_without_names(self, chunk: Chunk) -> Assignments:
        """The same without the taxonomy, which the calling process has."""
        return replace(self.assign(chunk), taxonomy=cast(Any, None))

    def frame(self, chunk: Chunk) -> tuple[pd.DataFrame, Tally]:
        """Rows of the table, and counts of documents by topic."""
        found = self.assign(chunk)
        import pandas as pd  # slow to import, and not needed by a fit

        frame = pd.DataFrame(
            {name: np.asarray(column) for name, column in self._columns(chunk, found).items()}
        )
        if self.extra:
            frame = add_columns(frame, found.row, self.extra, chunk.extra, text=self.extra_as_text)
        return frame, self._tally(chunk, found, len(frame))

    def write_part(self, part: Part) -> Entry:
        """Write a part of the folder unless it is complete; return its entry in the manifest."""
        assert self.folder
        file, read = part_file(self.folder, part.number), hashlib.sha256()
        chunks = list(chunks_of_rows(part.ids, self.chunk_rows, part.start))
        if part.known is not None:
            for chunk in chunks:
                read.update(np.ascontiguousarray(self._vectors(chunk)).data)
            return check_part(file, part.known, read.hexdigest())
        counts = Counts(self.model.taxonomy_)
        with ParquetPart(file) as table:
            for chunk in chunks:
                vectors = np.ascontiguousarray(self._vectors(chunk))
                read.update(vectors.data)
                chunk = chunk._replace(vectors=vectors)
                found = self.assign(chunk)
                counts.include(self._tally(chunk, found, table.write(self._columns(chunk, found))))
        return table.entry(read.hexdigest(), counts.to_tally())

    def options(self) -> dict[str, Any]:
        """All that the table depends on besides model and documents, as JSON types."""
        named = {name: getattr(self, name) for name in ("level", "codes", "top")}
        threshold = None if self.threshold is None else np.asarray(self.threshold).tolist()
        return named | {"threshold": threshold, "extra": list(self.extra)}

    def _vectors(self, chunk: Chunk) -> Any:
        if chunk.vectors is not None:
            return chunk.vectors
        if chunk.texts:
            return self.model.encode(chunk.texts)
        return self.X[chunk.start : chunk.start + len(chunk.ids)]

    def _columns(self, chunk: Chunk, found: Assignments) -> dict[str, Any]:
        if self.top:
            return found.top_columns(self.top, chunk.ids)
        columns = found.columns(chunk.ids)
        if self.codes:
            columns["code"] = Names(found.topic, [*found.taxonomy.codes, ""])
        return columns

    def _tally(self, chunk: Chunk, found: Assignments, rows: int) -> Tally:
        named = len(self.model.seeds.rows(chunk.ids))
        more = {"rows": rows, "not_seeds": named - int(found.is_seed.sum())}
        return count_by_topic(found.taxonomy, found.labels) | more


@dataclass(frozen=True)
class PlacingJob:
    """Documents to place, the engine that runs, and how they are placed."""

    placing: Placing
    running: OpenEngine
    documents: DocumentEmbedder
    opened: Documents
    listener: Listener

    def with_options(self, **options: Any) -> PlacingJob:
        """The same job with other options of `Placing`."""
        return replace(self, placing=replace(self.placing, **options))

    def chunks(self) -> closing[Generator[Chunk, None, None]]:
        """The documents in chunks, closed when the block ends."""
        return closing(self.documents.chunks(self.opened, self.listener))


@contextmanager
def open_job(
    model: Any,
    documents: DocumentEmbedder,
    opened: Documents,
    engine: Engine | str | int | None,
    listener: Listener,
) -> Iterator[PlacingJob]:
    """Open the engine; its workers load the model and open the vectors."""
    with Engine.of(engine).open(listener) as running, ExitStack() as stack:
        X = opened.X if isinstance(opened, DocumentVectors) else None
        if running.workers is None:
            placing = Placing(model, X, device=running.device)
            yield PlacingJob(placing, running, documents, opened, listener)
            return
        folder = model.folder
        if folder is None and not running.is_local:
            raise ModelError(
                "the workers of a cluster load the model from its folder, and this model has "
                "none. Save it where all of them see it, and load it from there"
            )
        if folder is None:
            folder = Path(stack.enter_context(TemporaryDirectory())) / "model"
            model.write(folder)
        trusted = ""
        if X is None and model.knows_embedder:
            trusted = model.embedder.name  # raises if the user must name a function first
        shared = model.for_workers(folder, trusted)
        placing = Placing(shared, None if X is None else running.on_disk(X))
        yield PlacingJob(placing, running, documents, opened, listener)


def assign_all(job: PlacingJob, taxonomy: Any) -> Assignments:
    """Place all documents, in memory."""
    opened = job.opened
    ids: list[str] = []

    def noted(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            ids.extend(chunk.ids if isinstance(opened, Corpus) else ())
            yield _without_texts(chunk)

    parts: list[Assignments] = []
    done = 0
    with job.chunks() as chunks:
        for found in job.running.map(job.placing.assign_without_names, noted(chunks)):
            parts.append(found)
            done += found.n_documents
            job.listener(Step("Placing", done, size_of(opened)))
    every = ids if isinstance(opened, Corpus) else opened.ids
    return replace(Assignments.join(parts), taxonomy=taxonomy, ids=every)


def is_parts(path: str | PathLike[str]) -> bool:
    """True for an existing folder, or a name without an extension."""
    return Path(path).is_dir() or not Path(path).suffix


@contextmanager
def open_output(model: Any, file: Path, overwrite: bool) -> Iterator[PlacedTable | PlacedParts]:
    """Open a table for documents that a model places: a file, or a folder of parts."""
    if is_parts(file):
        check_parts(file, overwrite)
        yield PlacedParts(file, digest_of(model), overwrite)
        return
    with open_table(file, guard=True) as table:
        yield PlacedTable(file, table)


class PlacedTable:
    """A table in one file, written by this process."""

    def __init__(self, file: Path, table: Table) -> None:
        self._file, self._table = file, table

    def write(self, job: PlacingJob) -> Iterator[Tally]:
        """Write chunk by chunk; yield the counts of each."""
        # JSON, Excel and CSV may mix types in a column, Parquet may not
        mixed = self._file.suffix == ".parquet" and Path(job.opened.name).suffix != ".parquet"
        job = job.with_options(extra=_extra(job.opened), extra_as_text=mixed)
        with job.chunks() as chunks:
            for frame, found in job.running.map(job.placing.frame, map(_without_texts, chunks)):
                self._table.write(frame)
                yield found


class PlacedParts:
    """A folder of Parquet parts.

    Workers write the parts of vectors. Parts of texts are written here: the texts pass through this
    process anyway, and embedding takes longer than writing.
    """

    def __init__(self, folder: Path, model: str, overwrite: bool) -> None:
        self._folder, self._model, self._overwrite = folder, model, overwrite

    def write(self, job: PlacingJob) -> Iterator[Tally]:
        """Write the missing parts; yield the counts of each part."""
        job = job.with_options(
            extra=_extra(job.opened), extra_as_text=True,
            folder=self._folder.absolute(), chunk_rows=CHUNK_ROWS,
        )  # fmt: skip
        content = {"model": self._model, **job.placing.options()}
        with open_parts(self._folder, content, self._overwrite) as parts:
            if isinstance(job.opened, DocumentVectors):
                yield from self._rows(job, job.opened.ids, parts)
                return
            with job.chunks() as chunks:
                yield from self._texts(job, chunks, parts)

    def _rows(self, job: PlacingJob, ids: Sequence[str], parts: Parts) -> Iterator[Tally]:
        starts = range(0, len(ids), ROWS)
        tasks = (
            Part(number, ids[start : start + ROWS], start, parts.entries.get(number))
            for number, start in enumerate(starts)
        )
        for number, entry in enumerate(job.running.map(job.placing.write_part, tasks)):
            parts.add(number, entry)
            yield entry["counts"]
        parts.finish(len(starts))

    def _texts(self, job: PlacingJob, chunks: Iterator[Chunk], parts: Parts) -> Iterator[Tally]:
        kept: list[Tally] = []
        digests: list[Any] = []  # of the documents of each part
        numbers: deque[int] = deque()  # part of each chunk that is being placed

        def missing() -> Iterator[Chunk]:
            """Chunks of missing parts; all chunks are read for their digests."""
            while first := next(chunks, None):
                number = len(digests)
                digests.append(hashlib.sha256())
                for chunk in chain([first], islice(chunks, TEXTS // CHUNK - 1)):
                    rows = [list(chunk.ids), list(chunk.texts), chunk.extra]
                    digests[number].update(json.dumps(rows, default=str).encode())
                    if number not in parts.entries:
                        numbers.append(number)
                        yield _without_texts(chunk)
                if known := parts.entries.get(number):
                    read = digests[number].hexdigest()
                    kept.append(check_part(part_file(self._folder, number), known, read)["counts"])

        frames = job.running.map(job.placing.frame, missing())
        placed = ((numbers.popleft(), *one) for one in frames)
        for number, some in groupby(placed, key=itemgetter(0)):
            counts = Counts(job.placing.model.taxonomy_)
            with ParquetPart(part_file(self._folder, number)) as table:
                for _, frame, found in some:
                    table.write_frame(frame)
                    counts.include(found)
            entry = table.entry(digests[number].hexdigest(), counts.to_tally())
            parts.add(number, entry)
            yield entry["counts"]
        yield from kept
        parts.finish(len(digests))


def digest_of(model: Any) -> str:
    """Digest of all that placements depend on."""
    from hierseed import __version__

    bundle, digest = model.estimator.to_bundle(), hashlib.sha256(__version__.encode())
    preparation, taxonomy = model.preparation, model.taxonomy_
    plain = [
        bundle.kind, taxonomy.paths, taxonomy.codes, bundle.header["params"], model.seeds.topics,
        model.rejected.topics, preparation and preparation.header,
    ]  # fmt: skip
    digest.update(json.dumps(plain, default=str).encode())
    arrays = bundle.arrays | (preparation.arrays if preparation else {})
    arrays["seeds"], arrays["rejected"] = model.seeds.vectors, model.rejected.vectors
    for name in sorted(arrays):
        digest.update(name.encode() + np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def _extra(opened: Documents) -> list[str]:
    return opened.kept if isinstance(opened, Corpus) else []


def _without_texts(chunk: Chunk) -> Chunk:
    """Drop the texts if the vectors are known."""
    return chunk if chunk.vectors is None else chunk._replace(texts=())
