"""`hierseed convert`: a taxonomy from one file format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from hierseed.cli.console import Console
from hierseed.cli.options import AsJson, Quiet, column_roles
from hierseed.errors import TaxonomyError
from hierseed.progress import amount

NAMES = "paths, csv, tsv, xlsx, turtle, rdf-xml, json-ld, json, yaml, outline, markdown, children"


def convert(
    source: Annotated[Path, typer.Argument(metavar="T1", help="The taxonomy file to read.")],
    target: Annotated[Path, typer.Argument(metavar="T2", help="The taxonomy file to write.")],
    from_format: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FORMAT", help=f"Format of T1, if it is guessed wrong: {NAMES}."
        ),
    ] = None,
    to_format: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="FORMAT", help="Format of T2, if it does not follow from its extension."
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(
            metavar="TAGS",
            help="SKOS: language of the names: 'en', 'de,en' (German, else English), 'fr,*'.",
        ),
    ] = None,
    parent: Annotated[
        Literal["all", "first", "only"],
        typer.Option(
            help="For a topic with several parents: keep all and use the first, keep only the "
            "first, or refuse the file."
        ),
    ] = "all",
    layout: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Layout of T2. Tables: parent, levels, path, codes. JSON: records, nested, "
            "corpus. YAML: nested, records.",
        ),
    ] = None,
    renumber: Annotated[
        bool, typer.Option("--renumber", help="With --layout codes: make new codes 1, 1.1, 1.2.")
    ] = False,
    column: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROLE=HEADER",
            help="Tables: which column of T1 is the name, code, parent, path or description.",
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option(metavar="HEADER", help="Tables: a level column of T1, once per level."),
    ] = None,
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="Excel: the sheet of T1, if not the first.")
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Encoding of T1, if it is not UTF-8; auto detects it."),
    ] = None,
    digits: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Code tables: digits that a child adds (2 where 105 belongs to 1)."
        ),
    ] = None,
    separator: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="Paths: separator of the names in T1, if not ' > '."),
    ] = None,
    lists: Annotated[
        Literal["topics", "words"],
        typer.Option(help="YAML, JSON: what lists hold. In quanteda dictionaries it is words."),
    ] = "topics",
    code: Annotated[
        Literal["notation", "uri"],
        typer.Option(help="SKOS: what becomes the code of a topic: its notation or its address."),
    ] = "notation",
    others: Annotated[
        bool, typer.Option("--others", help="Keep the Other topics that a fit added.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace T2 if it exists.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Convert a taxonomy from one file format to another.

    Formats are recognised by file extension and content: .txt (one path a line,
    A > B > C), .csv, .tsv, .xlsx, .ttl, .rdf, .jsonld, .json, .yaml, .outline (indented), .md,
    .taxonomy (parent, tab, children).
    """
    from hierseed.io.taxonomies import (
        FORMATS,
        format_of_ending,
        format_of_file,
        read_taxonomy,
        write_taxonomy,
    )

    into = FORMATS.get(to_format or format_of_ending(target) or "")
    console = Console(quiet=quiet, json=as_json)
    reading: dict[str, Any] = {
        "language": language,
        "parent": parent if parent != "all" else None,
        "columns": column_roles(column),
        "levels": level or None,
        "sheet": sheet,
        "encoding": encoding,
        "digits": digits,
        "separator": separator,
        "lists": lists if lists != "topics" else None,
        "code": code if code != "notation" else None,
    }
    writing: dict[str, Any] = {"layout": layout, "renumber": renumber or None}
    if language and into and "language" in into.write_options:
        writing["language"] = language.split(",")[0].strip("* ") or None
        known = FORMATS.get(from_format or format_of_file(source))
        if known and "language" not in known.read_options:
            del reading["language"]
    if target.exists() and not overwrite:
        raise TaxonomyError(f"{target} exists. Name another file, or replace it with --overwrite")
    taxonomy = read_taxonomy(source, from_format, **_given(reading))
    written = taxonomy if others else taxonomy.without_others()
    write_taxonomy(taxonomy, target, to_format, others=others, **_given(writing))
    assert into is not None  # else write_taxonomy has said so
    lost = into.loses(written, layout)
    levels = written.tree.height
    if as_json:
        console.result(
            {
                "target": str(target),
                "format": into.name,
                "topics": len(written),
                "levels": levels,
                "lost": lost,
            }
        )
        return
    console.fact(
        "Wrote",
        f"{target}: {amount(len(written), 'topic')} on {amount(levels, 'level')} ({into.title})",
    )
    for what, count in lost.items():
        kept = amount(count, what.removesuffix("s"))
        console.note(f"{kept} can't be stored in this format; .json and .csv keep them")


def _given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
