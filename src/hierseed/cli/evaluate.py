"""`hierseed evaluate`: a table of assignments against gold labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hierseed.cli.console import Console
from hierseed.cli.options import AsJson, Quiet, TaxonomyOption
from hierseed.progress import amount


def evaluate(
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="What `hierseed assign` wrote: id and topic.")
    ],
    gold: Annotated[
        Path,
        typer.Option(
            "--gold",
            "-g",
            metavar="FILE",
            help="Gold labels: id and topic, several rows for several topics; the topic None for "
            "a document that belongs to no listed topic.",
        ),
    ],
    taxonomy: TaxonomyOption,
    with_seeds: Annotated[
        bool,
        typer.Option("--with-seeds", help="Score seeds too; the method was given their topics."),
    ] = False,
    only_table: Annotated[
        bool,
        typer.Option(
            "--only-table",
            help="Leave out documents of --gold that TABLE lacks; otherwise they count as None.",
        ),
    ] = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Compare a table of assignments with gold labels.

    Two protocols, always both: `all` scores every document at every level, `paper` scores as
    the published evaluation did (see docs/evaluate.md). Seeds are left out.

    Example: hierseed evaluate placed.csv --gold gold.csv --taxonomy topics.txt
    """
    from hierseed.evaluate.protocol import to_text
    from hierseed.io.score_table import score_table
    from hierseed.taxonomy import Taxonomy

    console = Console(quiet=quiet, json=json)
    result = score_table(
        table, gold, Taxonomy.read(taxonomy), with_seeds=with_seeds, only_table=only_table
    )
    console.fact("Scored", amount(result.documents, "document"))
    if result.seeds_left_out:
        console.fact(
            "Left out", f"{amount(result.seeds_left_out, 'seed')} (--with-seeds keeps them)"
        )
    if result.without_gold:
        console.fact("Left out", f"{amount(result.without_gold, 'document')} without gold")
    if result.without_row:
        handling = "left out" if only_table else "counted as None (--only-table leaves them out)"
        console.note(f"{amount(result.without_row, 'gold document')} not in {table}: {handling}")
    if json:
        console.result(result.to_dict())
    else:
        print(to_text(result.scores), end="")
        console.fact("Columns", "placed: share of documents with a listed topic of that level;")
        console.fact("", "clusters: groups in the table, None and Other too; topics: in gold")
        if result.several:
            console.note(
                f"{amount(result.several, 'document')} with several topics: V shares a document "
                "among them, so that even gold against itself stays below 1 (docs/evaluate.md)"
            )
