"""`hierseed assign`: place any number of documents with a model, and write a table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierseed.cli.console import Console, quote, refuse_changed, refuse_inputs
from hierseed.cli.options import (
    AsJson,
    Coded,
    Dask,
    Device,
    KnownEmbedder,
    Overwrite,
    Precision,
    Quiet,
    Reading,
    Source,
    Workers,
    engine_of,
    need_both,
    with_groups,
)
from hierseed.errors import CorpusError
from hierseed.progress import amount, duration

if TYPE_CHECKING:
    from hierseed.io.documents import Counts


@with_groups
def assign(
    *,
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
            help="The table to write: .csv .parquet .jsonl .xlsx; a name without an ending is a "
            "folder of Parquet parts, which resumes where it was stopped.",
        ),
    ],
    threshold: Annotated[
        float | None,
        typer.Option(
            min=0.0,
            max=1.0,
            help="Place a document at the deepest topic whose score reaches this: one that is "
            "surely Health and perhaps Mental health stays in Health; one that reaches it nowhere "
            "becomes None.",
        ),
    ] = None,
    level: Annotated[
        int | None, typer.Option(min=1, help="Go no deeper than this level; 1 is the highest.")
    ] = None,
    precision: Precision = None,
    coded: Coded = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="A column of the corpus to copy into the table, such as a date or the text; "
            "repeatable, '*' for all.",
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=5,
            help="Write the most probable topics of each document instead, up to this number: "
            "id, rank, topic, probability.",
        ),
    ] = None,
    codes: Annotated[
        bool, typer.Option("--codes", help="Add the column code: the code of the topic.")
    ] = False,
    embedder: KnownEmbedder = None,
    reading: Reading,
    overwrite: Overwrite = False,
    workers: Workers = None,
    dask: Dask = None,
    device: Device = "cpu",
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Place documents in the topics of a model, as a table.

    The table has one row for each document (or more, where a document belongs to several
    topics): id, topic, level_1 … level_N, distance, score, belongs, runner_up, is_other, is_none,
    is_seed, then the columns of --codes and --keep. Documents are read and written a few thousand
    at a time, so memory does not limit their number. The table appears under its name when it is
    complete. With a name that has no ending, a folder of Parquet parts is written: run a command
    that was stopped again, and it writes the parts that are missing.

    Example: hierseed assign model docs.csv -o placed.xlsx
    """
    engine = engine_of(workers, dask, device)
    from hierseed.io.documents import is_vectors
    from hierseed.text_model import load

    refuse_inputs(output, source)
    if not overwrite and output.is_file():
        refuse_changed(output)
    engine.check()
    fitted = load(model, embedder=embedder)
    refuse_inputs(output, *fitted.files, of="the fit of this model")
    height = fitted.taxonomy_.tree.height
    if level and level > height:
        raise typer.BadParameter(
            f"the taxonomy of {model} has {amount(height, 'level')}", param_hint="--level"
        )
    if codes and not any(fitted.taxonomy_.codes):
        raise typer.BadParameter(f"the taxonomy of {model} has no codes", param_hint="--codes")
    if top and (codes or keep or threshold is not None or level):
        raise typer.BadParameter(
            "the table of --top has no columns for --codes and --keep, and lists topics of every "
            "level and score: leave --codes, --keep, --threshold and --level out",
            param_hint="--top",
        )
    if keep and is_vectors(source):
        raise CorpusError(
            f"{source} holds vectors, which have no columns to keep. Give the corpus instead: "
            "vectors that `hierseed fit` wrote next to the model are found"
        )
    need_both(precision, coded)
    if precision is not None and threshold is not None:
        raise typer.BadParameter("give --threshold or --precision", param_hint="--threshold")
    with Console(quiet=quiet, json=json) as console:
        started = time.perf_counter()
        least: Any = threshold
        if precision is not None:
            with reading.documents(source, output, console) as documents:
                least = fitted.thresholds(
                    documents, coded, precision, engine=engine, progress=console.listen
                )
            console.thresholds(least)
        with reading.documents(source, output, console, keep or []) as documents:
            counts = fitted.write_table(
                documents,
                output,
                threshold=least,
                level=level,
                codes=codes,
                top=top,
                overwrite=overwrite,
                engine=engine,
                progress=console.listen,
            )
        seconds = time.perf_counter() - started
        words = f"{quote(model)} {quote(source)}{reading.options()}"
        _report(console, counts, words, output, seconds)


def _report(console: Console, counts: Counts, words: str, output: Path, seconds: float) -> None:
    if counts.not_seeds:
        console.note(
            f"{amount(counts.not_seeds, 'document')} with the id of a seed but another text: "
            "placed like any other, not as a seed"
        )
    console.counts(counts)
    rate = amount(round(counts.documents / max(seconds, 1e-9)), "document")
    console.fact("Time", f"{duration(seconds)} ({rate} per second)")
    console.fact("Table", f"{output}, {amount(counts.rows, 'row')}", "green")
    console.next(
        f"hierseed suggest {words} -o to_label.csv", f"hierseed report {words} -o report.html"
    )
    if console.json:
        more = {"rows": counts.rows, "seconds": round(seconds, 3)}
        console.result({"table": output, **counts.to_dict(), **more})
