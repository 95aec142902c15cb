"""`hierseed report`: one page that shows what is in every topic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hierseed.cli.console import Console, amount
from hierseed.cli.options import AsJson, IdColumn, OnError, PlainQuotes, Quiet, Source, TextColumns
from hierseed.cli.reading import Reading


def report(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="The folder that `hierseed fit` saved.")
    ],
    source: Source,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="The page to write, .html.")
    ] = Path("report.html"),
    title: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT", help="Title of the page; the name of the corpus unless given."
        ),
    ] = None,
    id: IdColumn = None,
    text: TextColumns = None,
    on_error: OnError = "stop",
    plain_quotes: PlainQuotes = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Write one page that shows what is in every topic.

    The page opens in any browser, on any computer, without a network: the tree with its counts,
    the share of Other and None, a map, and for every topic its central and borderline
    documents, the words that set it apart, and the topics it competes with.

    The page holds excerpts of your documents: pass it on as you would the corpus.

    Example: hierseed report model docs.csv -o report.html
    """
    from hierseed.cli.outputs import refuse_inputs
    from hierseed.cli.placed import place_corpus
    from hierseed.io.atomic import atomic_file
    from hierseed.report.gather import gather
    from hierseed.report.page import render

    if output.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(
            f"{output} is to be a page: end its name in .html", param_hint="--output / -o"
        )
    refuse_inputs(output, source)
    console = Console(quiet=quiet, json=json)
    with atomic_file(output) as partial:  # fails now rather than at the end
        reading = Reading(id, text, on_error, plain_quotes)
        placed = place_corpus(model, source, output, console, reading)
        if placed.corpus is None:
            console.note("vectors have no texts: the page shows ids only. Give the corpus instead")
        with console.bar("Gathering", len(placed.ids)) as bar:
            found = gather(
                placed.saved.estimator,
                placed.X,
                placed.documents(bar),
                title=title or source.stem,
                assignments=placed.assignments,
            )
        page = render(found)
        partial.write_text(page, encoding="utf-8")
    size = output.stat().st_size
    console.fact(
        "Page", f"{output}, {amount(found['n'], 'document')}, {size / 1e6:.1f} MB", "green"
    )
    if json:
        console.result(
            {"page": output, "bytes": size}
            | {key: found[key] for key in ("n", "none", "other", "seeds")}
        )
