"""Taxonomy files: the formats by name, which one a file is in, reading and writing.

Each format family has one module with the same anatomy: `read(source, **options)` gives a
`Taxonomy` or raises one error with every fault and its place; `write(taxonomy, **options)`
gives the text of a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from os import PathLike, fspath
from pathlib import Path, PurePath
from typing import Any

from hierseed.errors import TaxonomyError
from hierseed.files import atomic_file
from hierseed.io.records.excel import OLD_EXCEL
from hierseed.io.taxonomies import (
    children,
    delimited,
    excel,
    json_tree,
    outline,
    paths,
    skos,
    yaml_tree,
)
from hierseed.io.taxonomies.build import Source, tidy, tidy_description
from hierseed.io.taxonomies.table import TABLE_OPTIONS
from hierseed.io.taxonomies.table_columns import Table, find_columns
from hierseed.taxonomy import Taxonomy
from hierseed.topics import SEPARATOR

__all__ = [
    "FORMATS",
    "Format",
    "TaxonomyFile",
    "format_of_ending",
    "format_of_file",
    "read_taxonomy",
    "write_taxonomy",
]
WHOLE = ("turtle", "rdf-xml", "json-ld", "json")  # formats that keep everything
_SKOS_READ, _SKOS_WRITE = ("language", "parent", "code"), ("language", "base", "notes")


@dataclass(frozen=True)
class TaxonomyFile:
    """A taxonomy file, and how it is read: `TaxonomyFile("t.ttl", {"language": "de"})`."""

    path: Path
    options: Mapping[str, Any] = field(default_factory=dict)

    def read(self) -> Taxonomy:
        """Read the taxonomy; options of other formats are left out."""
        known = FORMATS[format_of_file(self.path, self.options.get("encoding"))].read_options
        given = {
            name: value
            for name, value in self.options.items()
            if name == "encoding" or name in known
        }
        return read_taxonomy(self.path, **given)


def read_taxonomy(
    file: str | PathLike[str],
    format: str | None = None,
    *,
    encoding: str | None = None,
    **options: Any,
) -> Taxonomy:
    """Read a taxonomy; the format is guessed from ending and content unless it is named.

    Parameters
    ----------
    file : the file to read
    format : one of FORMATS
    encoding : of a text that is not UTF-8; "auto" finds out
    options : what the format takes, listed as `FORMATS[format].read_options`; `language` and
        `parent="first"` for SKOS, `columns`, `levels`, `sheet` for tables, and so on

    Raises
    ------
    TaxonomyError with every fault found, each with its line, cell or address
    """
    source = Source.open(file, encoding)
    chosen = _format(format or guess_format(source))
    _check_options(chosen, options, chosen.read_options, "reading")
    return chosen.read(source, **options)


def format_of_file(file: str | PathLike[str], encoding: str | None = None) -> str:
    """Name the format of a file, as `read_taxonomy` guesses it."""
    return guess_format(Source.open(file, encoding))


def write_taxonomy(
    taxonomy: Taxonomy,
    file: str | PathLike[str],
    format: str | None = None,
    *,
    others: bool = False,
    **options: Any,
) -> None:
    """Write a taxonomy in the format of the file's ending, or in the one named.

    The file appears whole or not at all. Other topics are left out unless `others` is set.
    `options` are those of `FORMATS[format].write_options`.
    """
    name = format or format_of_ending(file)
    if name is None:
        raise TaxonomyError(
            f"no format for the ending of {fspath(file)!r}; name one: {', '.join(FORMATS)}"
        )
    chosen = _format(name)
    _check_options(chosen, options, chosen.write_options, "writing")
    content = chosen.write(_writable(taxonomy, others), **options)
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        with atomic_file(file) as partial:
            partial.write_bytes(data)
    except OSError as fault:
        reason = fault.strerror or str(fault)
        raise TaxonomyError(f"can't write the taxonomy {fspath(file)}: {reason}") from fault


def _format(name: str) -> Format:
    if name not in FORMATS:
        raise TaxonomyError(f"no taxonomy format {name!r}; say one of {', '.join(FORMATS)}")
    return FORMATS[name]


def _check_options(
    chosen: Format, options: dict[str, Any], known: Sequence[str], doing: str
) -> None:
    if unknown := [option for option in options if option not in known]:
        takes = ", ".join(known) or "none"
        raise TaxonomyError(
            f"{doing} {chosen.name} takes no option {', '.join(unknown)}; it takes: {takes}"
        )


def _writable(taxonomy: Taxonomy, others: bool) -> Taxonomy:
    """Leave Other topics out, and what no file can hold out of codes and descriptions."""
    kept = taxonomy if others else taxonomy.without_others()
    codes = [tidy(code) for code in kept.codes]
    texts = [tidy_description(text) for text in kept.descriptions]
    if tuple(codes) == kept.codes and tuple(texts) == kept.descriptions:
        return kept
    return Taxonomy(
        kept.names, kept.tree.parent, codes=codes, descriptions=texts, is_other=kept.is_other,
        more_parents=kept.more_parents, addresses=kept.addresses, vocabulary=kept.vocabulary,
        log=kept.log,
    )  # fmt: skip


@dataclass(frozen=True)
class Format:
    """One file format: how to read and write it, and the options that each of them takes."""

    name: str
    title: str
    endings: tuple[str, ...]
    read: Callable[..., Taxonomy]
    write: Callable[..., str | bytes]
    read_options: tuple[str, ...] = ()
    write_options: tuple[str, ...] = ()
    holds: tuple[str, ...] = ("codes", "descriptions")

    def loses(self, taxonomy: Taxonomy, layout: str | None = None) -> dict[str, int]:
        """Count the codes and descriptions that a file of this format can't keep."""
        holds = () if layout == "nested" else self.holds
        counts = {
            "codes": sum(map(bool, taxonomy.codes)),
            "descriptions": sum(map(bool, taxonomy.descriptions)),
            "further parents": sum(map(len, taxonomy.more_parents)),
            "addresses": sum(map(bool, taxonomy.addresses)),
        }
        if self.name in WHOLE and layout in (None, "records"):
            return {}
        return {what: count for what, count in counts.items() if count and what not in holds}


_TURTLE, _XML, _JSONLD = (partial(skos.read, syntax=s) for s in ("turtle", "xml", "json-ld"))

# fmt: off
FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("paths", "one path per line, A > B > C, with optional ids", (".txt", ".paths"),
               paths.read, paths.write, ("ids", "separator"), holds=("codes",)),
        Format("csv", "table with a parent column, one column per level, paths, or codes",
               (".csv",), delimited.read, delimited.write,
               ("delimiter", *TABLE_OPTIONS), ("layout", "renumber", "delimiter")),
        Format("tsv", "the same table with tabs", (".tsv", ".tab"),
               delimited.read_tsv, delimited.write_tsv, TABLE_OPTIONS, ("layout", "renumber")),
        Format("xlsx", "the same table in Excel", (".xlsx", ".xlsm"), excel.read, excel.write,
               ("sheet", *TABLE_OPTIONS), ("layout", "renumber")),
        Format("turtle", "SKOS in Turtle", (".ttl", ".turtle", ".nt"),
               _TURTLE, skos.write_turtle, _SKOS_READ, _SKOS_WRITE),
        Format("rdf-xml", "SKOS in RDF/XML", (".rdf", ".xml", ".owl", ".skos"),
               _XML, skos.write_xml, _SKOS_READ, _SKOS_WRITE),
        Format("json-ld", "SKOS in JSON-LD", (".jsonld",),
               _JSONLD, skos.write_jsonld, _SKOS_READ, _SKOS_WRITE),
        Format("json", "nested objects, records with children, flat records with parents",
               (".json",), json_tree.read, json_tree.write, ("lists", "parent"), ("layout",)),
        Format("yaml", "nested mappings and lists", (".yaml", ".yml"),
               yaml_tree.read, yaml_tree.write, ("lists",), ("layout",)),
        Format("outline", "one topic per line, children indented", (".outline",),
               outline.read, outline.write, holds=()),
        Format("markdown", "nested lists, with or without headings", (".md", ".markdown"),
               outline.read_markdown, outline.write_markdown, holds=()),
        Format("children", "parent, TAB, children", (".taxonomy",),
               children.read, children.write, ("root", "parent"), holds=()),
    )
}
# fmt: on
_ENDINGS = {ending: form.name for form in FORMATS.values() for ending in form.endings}


def format_of_ending(file: str | PathLike[str]) -> str | None:
    """Return the format of a file extension."""
    return _ENDINGS.get(PurePath(file).suffix.casefold())


def guess_format(source: Source) -> str:
    """Name the format of a file from its ending; plain or unknown endings from the content."""
    named = format_of_ending(source.name)
    if named == "json" and re.search(r'"@(context|graph|id)"\s*:', source.text):
        return "json-ld"
    if named not in (None, "paths"):
        return str(named)
    if source.data.startswith((b"PK\x03\x04", OLD_EXCEL)):
        return "xlsx"
    text = source.text.lstrip()
    if text.startswith(("<?xml", "<rdf:", "<!DOCTYPE")):
        return "rdf-xml"
    if re.match(r"(?i)(#[^\n]*\n|\s)*(@prefix|@base|prefix|base)\s+\S*\s*<", text):
        return "turtle"
    if re.match(r'[\[{]\s*["\[{\]}]', text):
        return "json-ld" if re.search(r'"@(context|graph|id)"\s*:', text) else "json"
    return _guess_from_lines(source)


def _guess_from_lines(source: Source) -> str:
    lines = [line for line in source.lines if paths.is_content(line)]
    if not lines or any(map(paths.is_settled, source.lines)):
        return "paths"
    if any("\t" in line.strip() for line in lines):
        top = Table(lines[0].split("\t"), [])
        found = find_columns(source, top, None)
        return "tsv" if "name" in found or "path" in found else "children"
    if all(outline.BULLET.match(line.lstrip()) for line in lines):
        return "markdown"
    if any(SEPARATOR in line for line in lines):
        return "paths"
    if any(line[0].isspace() for line in lines) or paths.has_bullets(lines):
        return "outline"
    if all(re.fullmatch(r"[^;]+;[A-Z]\d[\d.]*", line.strip()) for line in lines):
        return "csv"  # MeSH's own file: name;tree number
    return "paths"
