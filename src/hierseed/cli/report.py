"""`hierseed report`: one page that shows what is in every topic."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hierseed.cli.console import Console, refuse_inputs
from hierseed.cli.options import AsJson, KnownEmbedder, Quiet, Reading, Source, with_groups
from hierseed.progress import amount


@with_groups
def report(
    *,
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
    embedder: KnownEmbedder = None,
    reading: Reading,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Write one page that shows what is in every topic.

    The page opens in any browser, on any computer, without a network: the tree with its counts,
    the share of Other and None, a map, and for every topic its central and borderline
    documents, its distinctive words, and its rival topics.

    The page contains excerpts of your documents: share it only as you would the corpus.

    Example: hierseed report model docs.csv -o report.html
    """
    from hierseed.io.document_embedder import vectors_folder
    from hierseed.io.documents import is_vectors
    from hierseed.text_model import load

    if output.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(
            f"{output} is to be a page: end its name in .html", param_hint="--output / -o"
        )
    refuse_inputs(output, source)
    fitted = load(model, embedder=embedder)
    refuse_inputs(output, *fitted.files, of="the fit of this model")
    with Console(quiet=quiet, json=json) as console:
        if is_vectors(source):
            console.note("vectors have no texts: the page shows ids only. Give the corpus instead")
        with reading.documents(source, output, console) as documents:
            found = fitted.report(
                documents,
                output,
                title=title or source.stem,
                vectors=vectors_folder(model, source),
                progress=console.listen,
            )
        size = output.stat().st_size
        console.fact(
            "Page", f"{output}, {amount(found['n'], 'document')}, {size / 1e6:.1f} MB", "green"
        )
        if json:
            facts = {key: found[key] for key in ("n", "none", "other", "seeds")}
            console.result({"page": output, "bytes": size} | facts)
