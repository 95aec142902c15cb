"""A corpus as a model places it: what `report` and `suggest` both begin with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hierseed.cli.console import Bar, Console
from hierseed.cli.reading import Reading

if TYPE_CHECKING:
    from hierseed.assignments import Assignments
    from hierseed.io.corpus import Corpus
    from hierseed.io.saved import SavedModel

CHUNK = 16_384  # rows placed at once
EVERY = 1_000  # documents between two steps of the bar


@dataclass
class Placed:
    """Vectors as the model sees them, where they went, and the texts where there are any."""

    saved: SavedModel
    X: Any
    ids: Sequence[str]
    assignments: Assignments
    corpus: Corpus | None

    def documents(self, bar: Bar) -> Iterator[tuple[str, str]]:
        """(id, text) of each row, in order; the text is empty where only vectors were given."""
        found = self.corpus if self.corpus is not None else ((str(id), "") for id in self.ids)
        for row, (id, text) in enumerate(found):
            if row % EVERY == 0:
                bar.to(row)
            yield id, text

    def texts(self, rows: Iterable[int]) -> dict[int, str]:
        """Texts of a few rows, in one pass over the corpus."""
        wanted = set(rows)
        if self.corpus is None:
            return dict.fromkeys(wanted, "")
        return {row: doc.text for row, doc in enumerate(self.corpus) if row in wanted}


def place_corpus(
    model: Path, source: Path, output: Path | None, console: Console, reading: Reading
) -> Placed:
    """Open the model and the corpus (or vectors), and place every document."""
    from hierseed.assignments import Assignments
    from hierseed.cli.outputs import refuse_inputs
    from hierseed.cli.source import documents_for, read_corpus
    from hierseed.io.saved import read_saved
    from hierseed.io.vectors import is_vectors

    saved = read_saved(model)
    if output is not None:
        refuse_inputs(output, *saved.inputs, of="the fit of this model")
    corpus = None
    if not is_vectors(source):
        options = reading.like(saved, source, console).options()
        corpus = read_corpus(source, output, console, **options)
    documents = documents_for(saved, source, console, corpus)
    X = saved.prepare(documents.X)
    y = saved.seeds.labels(documents.ids, documents.X)
    parts = []
    with console.bar("Placing", len(y)) as bar:
        for start in range(0, len(y), CHUNK):
            rows = slice(start, start + CHUNK)
            parts.append(saved.estimator.assign(X[rows], y[rows]))
            bar.to(min(start + CHUNK, len(y)))
    return Placed(saved, X, documents.ids, Assignments.join(parts), corpus)
