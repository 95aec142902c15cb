"""`hierseed suggest`: the documents that are most useful to label next."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hierseed.cli.console import Console, refuse_changed, refuse_inputs, refuse_labelled
from hierseed.cli.options import (
    AsJson,
    KnownEmbedder,
    Overwrite,
    Quiet,
    Reading,
    Source,
    with_groups,
)
from hierseed.progress import amount

if TYPE_CHECKING:
    import pandas as pd

EXCERPT = 200  # characters of a document that are shown
SHOWN = 3  # documents of a proposed topic that are shown


@with_groups
def suggest(
    *,
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="The folder that `hierseed fit` saved.")
    ],
    source: Source,
    number: Annotated[
        int, typer.Option("--number", "-n", min=1, help="How many documents to suggest.")
    ] = 20,
    per_topic: Annotated[
        int | None, typer.Option(min=1, help="At most N from one topic; a few unless given.")
    ] = None,
    topics: Annotated[
        bool,
        typer.Option(
            "--topics",
            help="Propose topics that the taxonomy may lack instead: groups among documents that "
            "belong to no listed topic.",
        ),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="TABLE",
            help="Write a table (.csv .xlsx …) with an empty column 'topic': fill it in, and it "
            "is a file of seeds.",
        ),
    ] = None,
    embedder: KnownEmbedder = None,
    reading: Reading,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """List the documents that are most useful to label next.

    Documents between two topics, far from all topics, or in a group that no topic explains. Each
    one represents many similar documents, and no two are alike. The most useful come first.
    Label them, add them to your seeds, and fit again.

    Example: hierseed suggest model docs.csv -n 30 -o to_label.xlsx
    """
    from hierseed.io.document_embedder import vectors_folder
    from hierseed.placed import NONE_REJECTED
    from hierseed.text_model import load

    fitted = load(model, embedder=embedder)
    if output is not None:
        refuse_inputs(output, source)
        refuse_inputs(output, *fitted.files, of="the fit of this model")
        if not overwrite:
            refuse_labelled(output)
            refuse_changed(output)
    with Console(quiet=quiet, json=json) as console:
        with reading.documents(source, output, console) as documents:
            placed = fitted.place(
                documents, vectors=vectors_folder(model, source), progress=console.listen
            )
            if topics:
                proposals = placed.propose_topics(number)
                if proposals and not placed.rejects:
                    console.note(NONE_REJECTED)
                table = proposals.to_frame()
                shown = [one.rows[:SHOWN].tolist() for one in proposals]
                texts = placed.texts(row for rows in shown for row in rows)
                table["texts"] = [[texts[row] for row in rows] for rows in shown]
                _report_topics(console, table, output)
                return
            found = placed.suggest(number, per_topic=per_topic)
            listed = found.to_frame()
            texts = placed.texts(found.row.tolist())
            listed["text"] = [texts[row] for row in found.row.tolist()]
        _report(console, listed, output)


def _report_topics(console: Console, table: pd.DataFrame, output: Path | None) -> None:
    from hierseed.io.tables import write_table

    texts = table.pop("texts")
    if output is not None:
        write_table(table, output)
        console.fact("Table", f"{output}, {amount(len(table), 'proposed topic')}", "green")
    elif console.json:
        console.result(table.to_dict("records"))
    elif table.empty:
        console.note("too few documents belong to no listed topic: nothing to propose")
    else:
        _show_topics(table, texts, console)


def _show_topics(table: pd.DataFrame, texts: Iterable[list[str]], console: Console) -> None:
    """Print words, size and place of each proposal, and its most central documents."""
    from rich.padding import Padding
    from rich.text import Text

    from hierseed.report.gather import shorten

    for number, (record, some) in enumerate(zip(table.to_dict("records"), texts), start=1):
        where = f"below {record['parent']}" if record["parent"] else "on level 1"
        near = f"{record['sure']:.0%} nearer to each other than to any listed topic"
        size = f"{amount(record['documents'], 'document')}, {near}; {where}"
        console.out.print(
            Text.assemble((f"{number:>3}  ", "dim"), (record["words"] or record["id"], "bold")),
        )
        console.out.print(Padding(Text(size, "cyan"), (0, 0, 0, 5)))
        for text in some:
            console.out.print(Padding(Text(f"- {shorten(text, EXCERPT)}"), (0, 0, 0, 5)))
        console.out.print(Padding(Text(f"ids: {record['central']}", "dim"), (0, 0, 0, 5)))
        console.out.print()


def _report(console: Console, table: pd.DataFrame, output: Path | None) -> None:
    from hierseed.io.tables import write_table

    if output is not None:
        table.insert(1, "topic", "")
        write_table(table, output)
        console.fact("Table", f"{output}, {amount(len(table), 'document')} to label", "green")
    elif console.json:
        console.result(table.to_dict("records"))
    else:
        _show(table, console)


def _show(table: pd.DataFrame, console: Console) -> None:
    """Print id, reason and beginning of each document."""
    from rich.padding import Padding
    from rich.text import Text

    from hierseed.report.gather import shorten

    if table.empty:
        console.note("every document is labelled already")
    for number, record in enumerate(table.to_dict("records"), start=1):
        head = Text.assemble((f"{number:>3}  ", "dim"), (str(record["id"]), "bold"))
        console.out.print(head)
        console.out.print(Padding(Text(str(record["reason"]), "cyan"), (0, 0, 0, 5)))
        if excerpt := shorten(str(record["text"]), EXCERPT):
            console.out.print(Padding(Text(excerpt), (0, 0, 0, 5)))
        console.out.print()
