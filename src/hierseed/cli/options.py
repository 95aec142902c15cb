"""Options that several commands share, one by one and in groups, and what they stand for."""

from __future__ import annotations

import functools
import inspect
import shlex
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from hierseed.cli.console import refuse_inputs
from hierseed.errors import HierSeedError
from hierseed.open_gpu import begin_opening

if TYPE_CHECKING:
    from hierseed.cli.console import Console
    from hierseed.engines.choose import Engine
    from hierseed.io.corpus import Corpus
    from hierseed.io.seeds import SeedTable
    from hierseed.io.taxonomies import TaxonomyFile

reading_option = functools.partial(typer.Option, rich_help_panel="Reading the corpus")
engine_option = functools.partial(typer.Option, rich_help_panel="Engine")

Source = Annotated[
    Path,
    typer.Argument(
        metavar="CORPUS|VECTORS",
        help="The documents: a .csv, .tsv, .jsonl, .parquet or .xlsx file (text ones also as .gz), "
        "an SQLite or DuckDB database, a folder of .txt files, or vectors that `hierseed embed` "
        "made.",
    ),
]
KnownEmbedder = Annotated[
    str | None,
    typer.Option(
        metavar="function:MODULE:NAME",
        help="The Python function that the model was fitted with. It must be named again, because "
        "a model must not choose which code runs.",
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the output if it exists.")]
TaxonomyOption = Annotated[
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
        "topic, which is None where a document belongs to no listed topic. For --precision.",
    ),
]
Workers = Annotated[
    int | None,
    engine_option(
        min=1,
        metavar="N",
        help="Use this number of processes on this machine; the result is the same.",
    ),
]
Dask = Annotated[
    str | None,
    engine_option(
        metavar="ADDRESS",
        help="Use the workers of a dask scheduler: tcp://host:8786, or its scheduler file. "
        "All of them must see the folders of vectors, model and output; needs the extra "
        "'cluster'.",
    ),
]
Device = Annotated[
    Literal["cpu", "cuda"],
    engine_option(
        help="cuda: compute on the GPU, with the same labels; on the processor if there is no "
        "GPU; needs the extra 'gpu'."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON, for programs.")]


@dataclass(frozen=True)
class Reading:
    """How the corpus is read: a group of options."""

    id: Annotated[
        str | None,
        reading_option(
            metavar="COLUMN",
            help="Column with the ids, else 'id' (or that of the model's fit); '#' numbers "
            "the rows.",
        ),
    ] = None
    text: Annotated[
        list[str] | None,
        reading_option(
            metavar="COLUMN",
            help="Column with the texts, else 'text' (or those of the model's fit); repeatable: "
            "--text Title --text Abstract reads both as one text.",
        ),
    ] = None
    on_error: Annotated[
        Literal["stop", "skip"],
        reading_option(
            help="What to do with rows that can't be used: stop and list them all, or skip them "
            "and save them in a file next to the output."
        ),
    ] = "stop"
    plain_quotes: Annotated[
        bool,
        reading_option(
            "--plain-quotes",
            help="Read quotation marks in CSV or TSV as plain characters (many .tsv files).",
        ),
    ] = False
    encoding: Annotated[
        str | None,
        reading_option(
            metavar="NAME",
            help="Encoding of text files that are not UTF-8: cp1252 (Windows), utf-16, … or auto, "
            "which detects and prints it. Lines in UTF-8 are read as UTF-8.",
        ),
    ] = None
    sheet: Annotated[
        str | None,
        reading_option(
            metavar="NAME",
            help="Sheet of an Excel corpus, by name or number, if it is not the first.",
        ),
    ] = None
    html: Annotated[bool, reading_option("--html", help="The texts are HTML: remove the tags.")] = (
        False
    )
    table: Annotated[
        str | None,
        reading_option(
            metavar="NAME", help="Table or view of an SQLite or DuckDB corpus, if it has several."
        ),
    ] = None
    query: Annotated[
        str | None,
        reading_option(
            metavar="SQL",
            help="A SELECT in place of --table: --query 'select key as id, body as text "
            "from docs'.",
        ),
    ] = None

    @contextmanager
    def documents(
        self, source: Path, output: Path | None, console: Console, keep: Sequence[str] = ()
    ) -> Iterator[Corpus | Path]:
        """Give the corpus, or the path of vectors; skipped rows are saved next to the output."""
        from hierseed.io.documents import is_vectors

        if is_vectors(source):
            yield source
        else:
            with self.corpus(source, output, console, keep) as corpus:
                yield corpus

    @contextmanager
    def corpus(
        self, source: Path, output: Path | None, console: Console, keep: Sequence[str] = ()
    ) -> Iterator[Corpus]:
        """Give the corpus; skipped rows are saved next to the output."""
        from hierseed.io.corpus import Corpus
        from hierseed.io.records.rows import SkippedRows

        with ExitStack() as stack:
            skipped = SkippedRows.beside(output) if output is not None else None
            if skipped is not None:
                refuse_inputs(skipped.path, source)
                stack.enter_context(skipped)
            options = {name: value for name, value in vars(self).items() if name != "plain_quotes"}
            on_skip = skipped.write if skipped else None
            yield Corpus(
                source, on_skip=on_skip, quotes=not self.plain_quotes, keep=keep, **options
            )
        if skipped is not None and skipped.count:
            console.note(f"rows left out are in {skipped.path}")

    def options(self) -> str:
        """The same options for the next command, quoted for a shell."""
        options: list[str] = []
        for name, value in vars(self).items():
            flag = f"--{name.replace('_', '-')}"
            if value is True:
                options.append(flag)
            elif value and value != "stop":
                for one in value if isinstance(value, list) else [value]:
                    options += [flag, one]
        return "".join(f" {shlex.quote(option)}" for option in options)


@dataclass(frozen=True)
class InputOptions:
    """How taxonomy and seeds are read: a group of options."""

    topic: Annotated[
        str | None,
        reading_option(
            metavar="COLUMN",
            help="Column of the seeds with the topics, else 'topic', or the one that holds topics.",
        ),
    ] = None
    seed_id: Annotated[
        str | None,
        reading_option(
            metavar="COLUMN",
            help="Column of the seeds with the ids, else 'id', that of --id, or the one that "
            "holds ids of the corpus.",
        ),
    ] = None
    seed_sheet: Annotated[
        str | None,
        reading_option(
            metavar="NAME",
            help="Sheet of Excel seeds, if it is not the first; table of seeds in a database.",
        ),
    ] = None
    language: Annotated[
        str | None,
        reading_option(
            metavar="TAGS",
            help="SKOS: language of the names: 'en', 'de,en' (German, else English), 'fr,*'.",
        ),
    ] = None
    parent: Annotated[
        Literal["all", "first", "only"],
        reading_option(
            help="For a topic with several parents: keep all and use the first, keep only "
            "the first, or refuse the file."
        ),
    ] = "all"
    level: Annotated[
        list[str] | None,
        reading_option(
            metavar="HEADER", help="Tables: a level column of the taxonomy, once per level."
        ),
    ] = None
    column: Annotated[
        list[str] | None,
        reading_option(
            metavar="ROLE=HEADER",
            help="Tables: which column of the taxonomy is the name, code, parent, path or "
            "description.",
        ),
    ] = None
    taxonomy_sheet: Annotated[
        str | None,
        reading_option(metavar="NAME", help="Sheet of an Excel taxonomy, if it is not the first."),
    ] = None
    separator: Annotated[
        str | None,
        reading_option(
            metavar="TEXT", help="Paths: the separator of names in the taxonomy, if not ' > '."
        ),
    ] = None

    def taxonomy(self, path: Path, reading: Reading) -> TaxonomyFile:
        """The taxonomy file with its options; those of other formats are ignored."""
        from hierseed.io.taxonomies import TaxonomyFile

        options: dict[str, Any] = {
            "language": self.language,
            "parent": self.parent,
            "levels": self.level,
            "columns": column_roles(self.column),
            "sheet": self.taxonomy_sheet,
            "separator": self.separator,
            "encoding": reading.encoding,
        }
        return TaxonomyFile(path, {name: value for name, value in options.items() if value})

    def seeds(self, files: list[Path] | None, reading: Reading) -> list[SeedTable] | None:
        """The files of seeds with their columns; --id applies if a file has that column."""
        from hierseed.io.records import open_records
        from hierseed.io.seeds import SeedTable

        tables, id = [], reading.id
        for file in files or []:
            id_column, sheet = self.seed_id, _sheet_of(file, self.seed_sheet)
            with suppress(HierSeedError, OSError):  # reported later
                names = open_records(file, encoding="utf-8", sheet=sheet).columns
                has_id = id is not None and id.lower() in map(str.lower, names)
                id_column = self.seed_id or (id if has_id else None)
            tables.append(SeedTable(file, self.topic, id_column, None, reading.encoding, sheet))
        return tables or None


def column_roles(columns: list[str] | None) -> dict[str, str] | None:
    """Turn `name=Begriff` into a mapping."""
    pairs = [column.partition("=") for column in columns or []]
    if wrong := [role for role, sign, header in pairs if not (role and sign and header)]:
        raise typer.BadParameter(f"write ROLE=HEADER, as in name=Label, not {wrong[0]!r}")
    return {role: header for role, _, header in pairs} or None


def _sheet_of(file: Path, sheet: str | None) -> str | None:
    from hierseed.io.records.database import ENDINGS

    return sheet if file.suffix.lower() in (".xlsx", ".xlsm", *ENDINGS) else None


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
            "give one GPU, or the workers of --workers or --dask, not both", param_hint="--device"
        )
    if device.startswith("cuda"):
        begin_opening(device)
    from hierseed.engines.choose import Engine

    return Engine(workers, dask, None if device == "cpu" else device)


def need_both(precision: float | None, coded: Path | None) -> None:
    """Refuse a precision without a coded sample, and a sample without a precision."""
    if (precision is None) != (coded is None):
        raise typer.BadParameter(
            "--precision and --coded go together: --coded is a table of documents coded by hand",
            param_hint="--precision",
        )
