"""`hierseed assign`: documents of any number through a model, into a table."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierseed.cli.console import Console, amount, duration, quote
from hierseed.cli.options import (
    AsJson,
    IdColumn,
    OnError,
    PlainQuotes,
    Quiet,
    Source,
    TextColumns,
)
from hierseed.cli.reading import Reading
from hierseed.cli.summary import Summary
from hierseed.errors import CorpusError

if TYPE_CHECKING:
    from hierseed.io.place import Chunk
    from hierseed.io.saved import SavedModel


def assign(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="The folder that `hierseed fit` saved.")
    ],
    source: Source,
    output: Annotated[
        Path,
        typer.Option(
            "--output",
            "-o",
            metavar="TABLE",
            help="The table to write: .csv .parquet .jsonl .xlsx.",
        ),
    ],
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Stop higher up where the score of a deeper topic is below this: a document "
            "that is surely Health and perhaps Mental health stays in Health; one that is sure of "
            "no topic at all becomes None.",
        ),
    ] = None,
    level: Annotated[
        int | None, typer.Option(min=1, help="Go no deeper than this level; 1 is the highest.")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A further column of the corpus to carry into the table, such as a date, or the "
            "text; repeatable, '*' for all.",
        ),
    ] = None,
    codes: Annotated[
        bool,
        typer.Option("--codes", help="Add the column code: the code of the topic."),
    ] = False,
    id: IdColumn = None,
    text: TextColumns = None,
    on_error: OnError = "stop",
    plain_quotes: PlainQuotes = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Place documents in the topics of a model, as a table.

    The table has one row for each document (or more, where a document belongs to several
    topics): id, topic, level_1 … level_N, distance, score, runner_up, is_other, is_none,
    is_seed, and then what --codes and --keep ask for. Documents are read and written a few
    thousand at a time, so any number of them fits; the table appears under its name only when
    it is complete.

    Example: hierseed assign model docs.csv -o placed.xlsx
    """
    from hierseed.cli.outputs import refuse_inputs, refuse_labelled
    from hierseed.io.keep import add_codes, keep_columns
    from hierseed.io.place import place
    from hierseed.io.saved import read_saved
    from hierseed.io.tables import open_table

    console = Console(quiet=quiet, json=json)
    refuse_inputs(output, source)
    refuse_labelled(output, but=("distance", "is_seed"))  # an earlier table of this command
    rows = strangers = 0
    with ExitStack() as stack:
        table = stack.enter_context(open_table(output))  # fails now rather than at the end
        saved = read_saved(model)
        refuse_inputs(output, *saved.inputs, of="the fit of this model")
        if level and level > saved.taxonomy.tree.height:
            raise typer.BadParameter(
                f"the taxonomy of {model} has {amount(saved.taxonomy.tree.height, 'level')}",
                param_hint="--level",
            )
        if codes and not any(saved.taxonomy.codes):
            raise typer.BadParameter(f"the taxonomy of {model} has no codes", param_hint="--codes")
        reading = Reading(id, text, on_error, plain_quotes)
        chunks, n, kept = _chunks(saved, source, output, console, reading, keep or [])
        # JSON, Excel and CSV may mix types in a column, and Parquet may not
        as_text = output.suffix == ".parquet" and source.suffix != ".parquet"
        summary = Summary(saved.taxonomy)
        bar = stack.enter_context(console.bar("Placing", n))
        for chunk in chunks:
            found = place(saved, chunk, threshold=threshold, level=level)
            frame = found.to_frame(chunk.ids)
            if codes:
                frame = add_codes(frame, found)
            table.write(keep_columns(frame, found.row, kept, chunk.kept, text=as_text))
            summary.add(found.labels)
            rows += len(found)
            strangers += sum(id in saved.seeds.topics for id in chunk.ids) - int(
                found.is_seed.sum()
            )
            bar.to(summary.documents)
        seconds = bar.seconds
    if strangers:
        console.note(
            f"{amount(strangers, 'document')} with the id of a seed but another text: placed like "
            "any other, not as a seed"
        )
    words = f"{quote(model)} {quote(source)}{reading.words()}"
    _tell(console, summary, rows, words, output, seconds)


def _chunks(
    saved: SavedModel,
    source: Path,
    output: Path,
    console: Console,
    reading: Reading,
    keep: list[str],
) -> tuple[Iterator[Chunk], int, list[str]]:
    """The documents in chunks, their number, and the columns that go along."""
    from hierseed.cli.source import kept_vectors, read_corpus
    from hierseed.io.place import chunks_of_text, chunks_of_vectors
    from hierseed.io.vectors import is_vectors, open_vectors

    if is_vectors(source):
        if keep:
            raise CorpusError(
                f"{source} holds vectors, which have no columns to keep. Give the corpus instead: "
                "vectors that `hierseed fit` left beside the model are found by themselves"
            )
        n = len(open_vectors(source).ids)
        console.fact("Vectors", f"{source.name}, {amount(n, 'document')}")
        return chunks_of_vectors(saved, source), n, []
    kept = kept_vectors(saved)
    if kept is None:
        saved.embedder  # noqa: B018 - refused now, where the model knows none
    options = reading.like(saved, source, console).options()
    corpus = read_corpus(source, output, console, **options, keep=keep)
    if kept:
        console.fact("Vectors", f"those in {kept.folder.name} serve for documents of the fit")
    console.fact("Embedder", f"{saved.embedder_name}, as in the fit")
    return chunks_of_text(saved, corpus, kept=kept), len(corpus), corpus.kept


def _tell(
    console: Console, summary: Summary, rows: int, words: str, output: Path, seconds: float
) -> None:
    summary.tell(console)
    rate = f"{summary.documents / max(seconds, 1e-9):,.0f} documents a second"
    console.fact("Time", f"{duration(seconds)} ({rate})")
    console.fact("Table", f"{output}, {amount(rows, 'row')}", "green")
    console.next(
        f"hierseed suggest {words} -o to_label.csv",
        f"hierseed report {words} -o report.html",
    )
    if console.json:
        more = {"rows": rows, "seconds": round(seconds, 3)}
        console.result({"table": output, **summary.facts(), **more})
