"""Options that several commands share, one by one and in groups."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from hierseed.open_gpu import begin_opening

if TYPE_CHECKING:
    from hierseed.engines.choose import Engine

READING, ENGINE = "Reading the corpus", "Engine"  # panels in --help

Source = Annotated[
    Path,
    typer.Argument(
        metavar="CORPUS|VECTORS",
        help="The documents: a .csv, .tsv, .jsonl, .parquet or .xlsx file (text ones also as .gz), "
        "an SQLite or DuckDB database, a folder of .txt files, or vectors that `hierseed embed` "
        "made.",
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
        "and save them in a file next to the output.",
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
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Encoding of text files that are not UTF-8: cp1252 (Windows), utf-16, … or auto, "
        "which detects and prints it. Lines in UTF-8 are read as UTF-8.",
        rich_help_panel=READING,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet",
        metavar="NAME",
        help="Sheet of an Excel corpus, by name or number, if it is not the first.",
        rich_help_panel=READING,
    ),
]
Table = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="NAME",
        help="Table or view of an SQLite or DuckDB corpus, if it has several.",
        rich_help_panel=READING,
    ),
]
Query = Annotated[
    str | None,
    typer.Option(
        "--query",
        metavar="SQL",
        help="A SELECT in place of --table: --query 'select key as id, body as text from docs'.",
        rich_help_panel=READING,
    ),
]
Html = Annotated[
    bool,
    typer.Option("--html", help="The texts are HTML: remove the tags.", rich_help_panel=READING),
]
KnownEmbedder = Annotated[
    str | None,
    typer.Option(
        "--embedder",
        metavar="function:MODULE:NAME",
        help="The Python function that the model was fitted with. It must be named again, because "
        "a model must not choose which code runs.",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it exists.")]
TopicColumn = Annotated[
    str | None,
    typer.Option(
        "--topic",
        metavar="COLUMN",
        help="Column of the seeds with the topics, else 'topic', or the one that holds topics.",
        rich_help_panel=READING,
    ),
]
SeedIdColumn = Annotated[
    str | None,
    typer.Option(
        "--seed-id",
        metavar="COLUMN",
        help="Column of the seeds with the ids, else 'id', that of --id, or the one that holds ids "
        "of the corpus.",
        rich_help_panel=READING,
    ),
]
SeedSheet = Annotated[
    str | None,
    typer.Option(
        "--seed-sheet",
        metavar="NAME",
        help="Sheet of Excel seeds, if it is not the first; table of seeds in a database.",
        rich_help_panel=READING,
    ),
]
TaxonomySheet = Annotated[
    str | None,
    typer.Option(
        "--taxonomy-sheet",
        metavar="NAME",
        help="Sheet of an Excel taxonomy, if it is not the first.",
        rich_help_panel=READING,
    ),
]
Language = Annotated[
    str | None,
    typer.Option(
        metavar="TAGS",
        help="SKOS: language of the names: 'en', 'de,en' (German, else English), 'fr,*'.",
        rich_help_panel=READING,
    ),
]
Parent = Annotated[
    Literal["all", "first", "only"],
    typer.Option(
        help="For a topic with several parents: keep all and use the first, keep only the first, "
        "or refuse the file.",
        rich_help_panel=READING,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        metavar="TEXT",
        help="Paths: the separator of names in the taxonomy, if not ' > '.",
        rich_help_panel=READING,
    ),
]
LevelColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--level",
        metavar="HEADER",
        help="Tables: a level column of the taxonomy, once per level.",
        rich_help_panel=READING,
    ),
]
TaxonomyColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--column",
        metavar="ROLE=HEADER",
        help="Tables: which column of the taxonomy is the name, code, parent, path or description.",
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
        help="Your examples: a table with the columns id and topic, or text and topic; repeatable.",
    ),
]
Rejected = Annotated[
    list[Path] | None,
    typer.Option(
        "--rejected",
        metavar="FILE",
        help="Documents that do not belong to a topic: a table with the columns id and topic. They "
        "are placed neither there nor below it.",
    ),
]
Precision = Annotated[
    float | None,
    typer.Option(
        min=0.0,
        max=1.0,
        help="Keep placements so that this share of them is right, measured on the sample of "
        "--coded; the others stop at a higher level or become None.",
    ),
]
Coded = Annotated[
    Path | None,
    typer.Option(
        metavar="TABLE",
        help="Documents of the corpus, drawn at random and coded by hand: columns id and "
        "topic. For --precision.",
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        metavar="N",
        help="Use this number of processes on this machine; the result is the same.",
        rich_help_panel=ENGINE,
    ),
]
Dask = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Use the workers of a dask scheduler: tcp://host:8786, or its scheduler file. "
        "All of them must see the folders of vectors, model and output; needs the extra "
        "'cluster'.",
        rich_help_panel=ENGINE,
    ),
]
Device = Annotated[
    Literal["cpu", "cuda"],
    typer.Option(
        help="cuda: compute on the GPU, with the same labels; on the processor if there is no "
        "GPU; needs the extra 'gpu'.",
        rich_help_panel=ENGINE,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Replace parameters of a command that are groups (dataclasses of options) by their options."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        if name not in groups:
            parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
            continue
        parameters += [
            inspect.Parameter(field.name, parameter.KEYWORD_ONLY, default=field.default)
            for field in fields(groups[name])
        ]
        hints |= get_type_hints(groups[name], include_extras=True)

    @functools.wraps(command)
    def run(**options: Any) -> None:
        filled = {
            name: kind(**{field.name: options.pop(field.name) for field in fields(kind)})
            for name, kind in groups.items()
        }
        command(**options, **filled)

    del run.__wrapped__
    run.__annotations__ = {one.name: hints[one.name] for one in parameters}
    signature = inspect.Signature([one.replace(annotation=hints[one.name]) for one in parameters])
    run.__signature__ = signature  # type: ignore[attr-defined]
    return run


def engine_of(workers: int | None, dask: str | None, device: str = "cpu") -> Engine:
    """The engine of the command line options; a GPU is opened from now on, in the background."""
    if workers and dask:
        raise typer.BadParameter(
            "the workers of --dask are those of its scheduler; leave --workers out",
            param_hint="--workers",
        )
    if device != "cpu" and (workers or dask):
        raise typer.BadParameter(
            "give one GPU, or the workers of --workers or --dask, not both",
            param_hint="--device",
        )
    if device.startswith("cuda"):
        begin_opening(device)
    from hierseed.engines.choose import Engine

    return Engine(workers, dask, None if device == "cpu" else device)


def need_both(precision: float | None, coded: Path | None) -> None:
    """Refuse a precision without a coded sample, and a sample without a precision."""
    if (precision is None) != (coded is None):
        raise typer.BadParameter("--precision and --coded go together", param_hint="--precision")
