"""Place all documents, in this process or on workers: as one table, or as a folder of parts."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import chain, groupby, islice
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from hierseed.assignments import Assignments
from hierseed.engines.choose import Engine, OpenEngine
from hierseed.errors import ModelError
from hierseed.io.assign_chunks import CHUNK, CHUNK_ROWS, Chunk, Counts, Tally
from hierseed.io.corpus import Corpus
from hierseed.io.document_embedder import DocumentEmbedder
from hierseed.io.documents import Documents, DocumentVectors, size_of
from hierseed.io.parts import (
    ROWS,
    TEXTS,
    ParquetPart,
    Parts,
    check_part,
    check_parts,
    is_parts,
    open_parts,
    part_file,
)  # fmt: skip
from hierseed.io.placing import Part, Placing
from hierseed.io.tables import Table, open_table
from hierseed.progress import Listener, Step


@contextmanager
def place_on(
    model: Any, opened: Documents, engine: Engine | str | int | None, listener: Listener
) -> Iterator[tuple[Placing, OpenEngine]]:
    """Open the engine, and let its workers find the model and the vectors."""
    with Engine.of(engine).open(listener) as running, ExitStack() as stack:
        X = opened.X if isinstance(opened, DocumentVectors) else None
        if running.workers is None:
            yield Placing(model, X), running
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
            trusted = model.embedder.name  # raises where the user has not named a function
        shared = model.elsewhere(folder, trusted)
        yield Placing(shared, None if X is None else running.on_disk(X)), running


def assign_all(
    placing: Placing,
    running: OpenEngine,
    documents: DocumentEmbedder,
    opened: Documents,
    listener: Listener,
    taxonomy: Any,
) -> Assignments:
    """Place all documents, in memory."""
    ids: list[str] = []

    def noted(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            ids.extend(chunk.ids if isinstance(opened, Corpus) else ())
            yield _to_send(chunk)

    parts: list[Assignments] = []
    done = 0
    with closing(documents.chunks(opened, listener)) as chunks:
        for found in running.map(placing.assign_without_names, noted(chunks)):
            parts.append(found)
            done += found.n_documents
            listener(Step("Placing", done, size_of(opened)))
    given = ids if isinstance(opened, Corpus) else opened.ids
    return replace(Assignments.join(parts), taxonomy=taxonomy, ids=given)


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

    def write(
        self,
        placing: Placing,
        running: OpenEngine,
        documents: DocumentEmbedder,
        opened: Documents,
        listener: Listener,
    ) -> Iterator[Tally]:
        """Write chunk by chunk; yield what each holds."""
        # JSON, Excel and CSV may mix types in a column, Parquet may not
        mixed = self._file.suffix == ".parquet" and Path(opened.name).suffix != ".parquet"
        placing = replace(placing, extra=_extra(opened), extra_as_text=mixed)
        with closing(documents.chunks(opened, listener)) as chunks:
            for frame, found in running.map(placing.frame, map(_to_send, chunks)):
                self._table.write(frame)
                yield found


class PlacedParts:
    """A folder of Parquet parts.

    Workers write the parts of vectors. Those of texts are written here: the texts pass through
    this process anyhow, and take longer to embed than their table to write.
    """

    def __init__(self, folder: Path, model: str, overwrite: bool) -> None:
        self._folder, self._model, self._overwrite = folder, model, overwrite

    def write(
        self,
        placing: Placing,
        running: OpenEngine,
        documents: DocumentEmbedder,
        opened: Documents,
        listener: Listener,
    ) -> Iterator[Tally]:
        """Write the parts that are missing; yield what each holds."""
        placing = replace(
            placing, extra=_extra(opened), extra_as_text=True,
            folder=self._folder.absolute(), chunk_rows=CHUNK_ROWS,
        )  # fmt: skip
        job = {"model": self._model, **placing.options()}
        with open_parts(self._folder, job, self._overwrite) as parts, ExitStack() as stack:
            if isinstance(opened, DocumentVectors):
                made = self._rows(placing, running, opened, parts)
            else:
                chunks = stack.enter_context(closing(documents.chunks(opened, listener)))
                made = self._texts(placing, running, chunks, parts)
            yield from made

    def _rows(
        self, placing: Placing, running: OpenEngine, opened: DocumentVectors, parts: Parts
    ) -> Iterator[Tally]:
        starts = range(0, len(opened.ids), ROWS)
        tasks = (
            Part(number, opened.ids[start : start + ROWS], start, parts.entries.get(number))
            for number, start in enumerate(starts)
        )
        for number, entry in enumerate(running.map(placing.write_part, tasks)):
            parts.add(number, entry)
            yield entry["counts"]
        parts.finish(len(starts))

    def _texts(
        self, placing: Placing, running: OpenEngine, chunks: Iterator[Chunk], parts: Parts
    ) -> Iterator[Tally]:
        kept: list[Tally] = []
        digests: list[Any] = []  # of the documents of each part
        numbers: deque[int] = deque()  # part of each chunk that is being placed

        def missing() -> Iterator[Chunk]:
            """Chunks of parts that are not there yet; all are read for their digests."""
            while first := next(chunks, None):
                number = len(digests)
                digests.append(hashlib.sha256())
                for chunk in chain([first], islice(chunks, TEXTS // CHUNK - 1)):
                    rows = [list(chunk.ids), list(chunk.texts), chunk.extra]
                    digests[number].update(json.dumps(rows, default=str).encode())
                    if number not in parts.entries:
                        numbers.append(number)
                        yield _to_send(chunk)
                if known := parts.entries.get(number):
                    read = digests[number].hexdigest()
                    kept.append(check_part(part_file(self._folder, number), known, read)["counts"])

        placed = ((numbers.popleft(), *one) for one in running.map(placing.frame, missing()))
        for number, some in groupby(placed, key=itemgetter(0)):
            counts = Counts(placing.model.taxonomy_)
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


def _to_send(chunk: Chunk) -> Chunk:
    """Leave the texts out where the vectors are known."""
    return chunk if chunk.vectors is None else chunk._replace(texts=())
