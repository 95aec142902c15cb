"""CSV and TSV: cells with their lines, and back."""

from __future__ import annotations

import csv
import io
import re
from typing import Unpack

from hierseed.errors import TaxonomyError
from hierseed.io.taxonomies.build import Source
from hierseed.io.taxonomies.table import TableOptions, read_table_layout, table_rows
from hierseed.io.taxonomies.table_columns import Table, without_titles
from hierseed.taxonomy import Taxonomy

DELIMITERS = ",;\t|"
TAB = "\t"


def read(
    source: Source, *, delimiter: str | None = None, **options: Unpack[TableOptions]
) -> Taxonomy:
    """Read a delimited table; comma, semicolon, tab or bar, by its header."""
    return read_table_layout(source, read_cells(source, delimiter), **options)


def read_tsv(source: Source, **options: Unpack[TableOptions]) -> Taxonomy:
    """Read a table whose cells are separated by tabs."""
    return read(source, delimiter=TAB, **options)


def read_cells(source: Source, delimiter: str | None = None) -> Table:
    """Split the text into a header and rows; a first line `sep=;` is Excel's hint."""
    text, skipped = source.text, 0
    if hint := re.match(r"sep=(.)\n", text):
        delimiter, text, skipped = delimiter or hint.group(1), text[hint.end() :], 1
    if delimiter is None:
        top = re.sub(r'"[^"]*"', "", next((x for x in text.split("\n") if x.strip()), ""))
        delimiter = max(DELIMITERS, key=top.count)
    if len(delimiter) != 1 or delimiter in '"\n\r ':
        raise TaxonomyError(f"the delimiter is {delimiter!r}; say one character, such as ';'")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[str, list[str]]] = []
    line = skipped + 1
    try:
        for cells in reader:
            where, line = f"line {line}", skipped + reader.line_num + 1
            if not any(cell.strip() for cell in cells):
                continue
            rows.append((where, cells))
    except csv.Error as fault:
        what = "a quote is opened and not closed" if "end of data" in str(fault) else str(fault)
        source.stop(f"line {line}", what)
    if not rows:
        source.stop("", "no rows in it")
    (top_line, header), body = without_titles(source, rows)
    table = Table(header, [], top_line)
    for where, cells in body:
        if any(cell.strip() for cell in cells[len(header) :]):
            source.fault(
                where,
                f"{len(cells)} cells under a header of {len(header)}; quote names that "
                f"contain {delimiter!r}",
            )
        else:
            table.rows.append((where, cells))
    return table


def write(
    taxonomy: Taxonomy, *, layout: str = "parent", delimiter: str = ",", renumber: bool = False
) -> str:
    """Write a table in a layout."""
    if len(delimiter) != 1 or delimiter in '"\n\r ':
        raise TaxonomyError(f"the delimiter is {delimiter!r}; say one character, such as ';'")
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows(
        table_rows(taxonomy, layout, renumber)
    )
    return out.getvalue()


def write_tsv(taxonomy: Taxonomy, *, layout: str = "parent", renumber: bool = False) -> str:
    """Write a table whose cells are separated by tabs."""
    return write(taxonomy, layout=layout, delimiter=TAB, renumber=renumber)
