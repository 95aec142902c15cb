"""Place a chunk of documents: what one process does in a loop, and workers side by side."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hierseed.assignments import Assignments, Names
from hierseed.io.assign_chunks import CHUNK_ROWS, Chunk, Counts, Tally, chunks_of_rows, tally
from hierseed.io.extra_columns import add_columns
from hierseed.io.parts import Entry, ParquetPart, check_part, part_file


class Part(NamedTuple):
    """Documents of one part of a folder, whose vectors are there already.

    `known` is what the manifest says of the part, None where it was not finished.
    """

    number: int
    ids: Sequence[str]
    start: int
    known: Entry | None


@dataclass(frozen=True)
class Placing:
    """How documents are placed, and what is shown of them.

    Parameters
    ----------
    model : a TextModel, or one that workers load (see `Saved`)
    X : vectors of the documents where they are there already, as the embedder made them
    threshold, level, codes, top : as in `TextModel.write_table`
    extra : names of further columns; `extra_as_text` where a column has one type
    folder, chunk_rows : of the parts, for `write_part`
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

    def assign(self, chunk: Chunk) -> Assignments:
        """Embed, prepare and place documents; seeds and rejections of the fit hold."""
        model, vectors = self.model, self._vectors(chunk)
        X = vectors if model.preparation is None else model.preparation.transform(vectors)
        seeds, rejected = model.seeds, model.rejected
        found = model.estimator.assign(
            X,
            seeds.labels(chunk.ids, vectors),
            rejected=rejected.labels(chunk.ids, vectors) if len(rejected) else None,
        )
        if self.threshold is not None:
            found = found.confident(self.threshold)
        return cast(Assignments, found if self.level is None else found.select(self.level))

    def assign_without_names(self, chunk: Chunk) -> Assignments:
        """The same without the taxonomy, which the process that asks has already."""
        return replace(self.assign(chunk), taxonomy=cast(Any, None))

    def frame(self, chunk: Chunk) -> tuple[pd.DataFrame, Tally]:
        """Rows of the table, and how many documents went where."""
        found = self.assign(chunk)
        frame = pd.DataFrame(
            {name: np.asarray(column) for name, column in self._columns(chunk, found).items()}
        )
        if self.extra:
            frame = add_columns(frame, found.row, self.extra, chunk.extra, text=self.extra_as_text)
        return frame, self._tally(chunk, found, len(frame))

    def write_part(self, part: Part) -> Entry:
        """Write a part of the folder, unless it is there; return its line of the manifest."""
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
        """All that the table depends on beside model and documents; plain types, for JSON."""
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
        return tally(found.taxonomy, found.labels) | more
