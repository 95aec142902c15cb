"""The formats by name, and which one a file is in."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import PurePath

from hierseed.io.taxonomies import (
    children,
    delimited,
    excel,
    json_tree,
    outline,
    paths,
    plain_list,
    skos_read,
    skos_write,
    yaml_tree,
)
from hierseed.io.taxonomies.source import Source
from hierseed.io.taxonomies.table import TABLE_OPTIONS
from hierseed.io.taxonomies.table_columns import Table, find_columns
from hierseed.io.workbook import OLD_EXCEL
from hierseed.names import SEPARATOR
from hierseed.taxonomy import Taxonomy


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


WHOLE = ("turtle", "rdf-xml", "json-ld", "json")  # formats that keep everything
_SKOS_READ, _SKOS_WRITE = ("language", "parent", "code"), ("language", "base", "notes")
_TURTLE, _XML, _JSONLD = (partial(skos_read.read, syntax=s) for s in ("turtle", "xml", "json-ld"))

FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format(
            "paths",
            "one path per line, A > B > C, with optional ids",
            (".txt", ".paths"),
            paths.read,
            paths.write,
            ("ids", "separator"),
            holds=("codes",),
        ),
        Format(
            "csv",
            "table with a parent column, one column per level, paths, or codes",
            (".csv",),
            delimited.read,
            delimited.write,
            ("delimiter", *TABLE_OPTIONS),
            ("layout", "renumber", "delimiter"),
        ),
        Format(
            "tsv",
            "the same table with tabs",
            (".tsv", ".tab"),
            delimited.read_tsv,
            delimited.write_tsv,
            TABLE_OPTIONS,
            ("layout", "renumber"),
        ),
        Format(
            "xlsx",
            "the same table in Excel",
            (".xlsx", ".xlsm"),
            excel.read,
            excel.write,
            ("sheet", *TABLE_OPTIONS),
            ("layout", "renumber"),
        ),
        Format(
            "turtle",
            "SKOS in Turtle",
            (".ttl", ".turtle", ".nt"),
            _TURTLE,
            skos_write.write_turtle,
            _SKOS_READ,
            _SKOS_WRITE,
        ),
        Format(
            "rdf-xml",
            "SKOS in RDF/XML",
            (".rdf", ".xml", ".owl", ".skos"),
            _XML,
            skos_write.write_xml,
            _SKOS_READ,
            _SKOS_WRITE,
        ),
        Format(
            "json-ld",
            "SKOS in JSON-LD",
            (".jsonld",),
            _JSONLD,
            skos_write.write_jsonld,
            _SKOS_READ,
            _SKOS_WRITE,
        ),
        Format(
            "json",
            "nested objects, records with children, flat records with parents",
            (".json",),
            json_tree.read,
            json_tree.write,
            ("lists", "parent"),
            ("layout",),
        ),
        Format(
            "yaml",
            "nested mappings and lists",
            (".yaml", ".yml"),
            yaml_tree.read,
            yaml_tree.write,
            ("lists",),
            ("layout",),
        ),
        Format(
            "outline",
            "one topic per line, children indented",
            (".outline",),
            outline.read,
            outline.write,
            holds=(),
        ),
        Format(
            "markdown",
            "nested lists, with or without headings",
            (".md", ".markdown"),
            outline.read_markdown,
            outline.write_markdown,
            holds=(),
        ),
        Format(
            "children",
            "parent, TAB, children",
            (".taxonomy",),
            children.read,
            children.write,
            ("root", "parent"),
            holds=(),
        ),
    )
}
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
    if any(line[0].isspace() for line in lines) or plain_list.has_bullets(lines):
        return "outline"
    if all(re.fullmatch(r"[^;]+;[A-Z]\d[\d.]*", line.strip()) for line in lines):
        return "csv"  # MeSH's own file: name;tree number
    return "paths"
