"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

READING = "Reading the corpus"  # panel in --help

Source = Annotated[
    Path,
    typer.Argument(
        metavar="CORPUS|VECTORS",
        help="The documents: a .csv, .tsv, .jsonl, .parquet or .xlsx file (text ones also as .gz), "
        "a folder of .txt files, or vectors that `hierseed embed` made.",
    ),
]
IdColumn = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="Column with the ids, else 'id' (or that of the model's fit); '#' numbers the rows.",
        rich_help_panel=READING,
    ),
]
TextColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--text",
        metavar="COLUMN",
        help="Column with the texts, else 'text' (or those of the model's fit); repeatable: "
        "--text Title --text Abstract reads both as one text.",
        rich_help_panel=READING,
    ),
]
OnError = Annotated[
    Literal["stop", "skip"],
    typer.Option(
        help="What to do with rows that can't be used: stop and list them all, or skip them "
        "and keep them in a file beside the output.",
        rich_help_panel=READING,
    ),
]
PlainQuotes = Annotated[
    bool,
    typer.Option(
        "--plain-quotes",
        help="Read quotation marks in CSV or TSV as plain characters (many .tsv files).",
        rich_help_panel=READING,
    ),
]
TaxonomyFile = Annotated[
    Path,
    typer.Option(
        "--taxonomy",
        "-t",
        metavar="FILE",
        help="Your topics: lines of 'A > B > C', an indented outline, SKOS, CSV, Excel, YAML …",
    ),
]
SeedFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--seeds",
        "-s",
        metavar="FILE",
        help="Your examples: a table with the columns id and topic, or text and topic; "
        "repeatable, all files count together.",
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]
