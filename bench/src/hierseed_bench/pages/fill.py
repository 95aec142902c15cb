"""Fill the tables of docs/ and README.md from results: one grammar, one command.

A line `<!-- table NAME -->` is followed by the table of that name, down to `<!-- end -->`. What is
between them is replaced. Tables that no page shows, because
they are long, go to results/tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from hierseed.errors import CorpusError
from hierseed.files import atomic_file
from hierseed_bench.foreign import real_text
from hierseed_bench.foreign.table import promise_table
from hierseed_bench.foreign.table import tables as foreign_tables
from hierseed_bench.pages import cli, embedders, method, scale, suggest, systems
from hierseed_bench.pages.curves import FIGURES as CURVES
from hierseed_bench.repository import DOCS, RESULTS, ROOT
from hierseed_bench.runs.records import Records
from hierseed_bench.tables.figures import FIGURES
from hierseed_bench.tables.markdown import Table
from hierseed_bench.tables.tables import TABLES as RECORD_TABLES

BLOCK = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
PAGES = (systems, method, embedders, suggest, scale)
Make = Callable[[], str | Table | list[Table]]


def all_tables(results: Path = RESULTS) -> dict[str, Make]:
    """Return every table by name."""
    records = Records(results / "runs")
    made: dict[str, Make] = {name: partial(make, records) for name, make in RECORD_TABLES.items()}
    made["foreign"] = lambda: foreign_tables(Records(results / "foreign"))
    made["foreign-seeds"] = lambda: promise_table(Records(results / "foreign"))
    made["real-text"] = lambda: real_text.table(Records(results / "real_text"))
    for page in PAGES:
        made |= page.TABLES
    return made


def text_of(made: str | Table | list[Table]) -> str:
    """Return Markdown."""
    if isinstance(made, str):
        return f"{made}\n"
    if isinstance(made, Table):
        return made.markdown()
    return "\n".join(table.markdown() for table in made)


def fill(text: str, tables: dict[str, Make], faults: list[str] | None = None) -> str:
    """Replace the tables of a page by those that the results give now.

    A table that cannot be made stays as it is, and the reason is added to `faults`.
    """

    def fresh(match: re.Match[str]) -> str:
        name = match[2]
        if name not in tables:
            raise CorpusError(f"no table {name!r} on the page; there are {', '.join(tables)}")
        try:
            return f"{match[1]}\n{text_of(tables[name]())}\n{match[3]}"
        except CorpusError as fault:
            if faults is None:
                raise
            faults.append(f"table {name}: {fault}")
            return match[0]

    return BLOCK.sub(fresh, text)


def documents(results: Path = RESULTS, faults: list[str] | None = None) -> dict[Path, str]:
    """Return every file that is made from results, with the text that it should have."""
    faults = [] if faults is None else faults
    tables = all_tables(results)
    made: dict[Path, str] = {cli.FILE: cli.render()}
    shown: set[str] = set()
    for page in (ROOT / "README.md", *sorted(DOCS.rglob("*.md"))):
        text = page.read_text(encoding="utf-8")
        names = {match[2] for match in BLOCK.finditer(text)}
        if names:
            made[page] = fill(text, tables, faults)
            shown |= names
    for name in tables.keys() - shown:
        try:
            made[results / "tables" / f"{name}.md"] = text_of(tables[name]())
        except CorpusError as fault:
            faults.append(f"table {name}: {fault}")
    return made


def outdated(results: Path = RESULTS) -> list[Path]:
    """Return the files that differ from what the results give."""
    faults: list[str] = []
    made = documents(results, faults)
    if faults:
        raise CorpusError("; ".join(faults))
    return [
        file
        for file, text in made.items()
        if not file.is_file() or file.read_text(encoding="utf-8") != text
    ]


def write_documents(results: Path = RESULTS, figures: bool = True) -> list[str]:
    """Bring pages, tables and figures up to date; returns what could not be made."""
    faults: list[str] = []
    made = documents(results, faults)
    for file, text in made.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(file) as unfinished:
            unfinished.write_text(text, encoding="utf-8", newline="\n")
    failed = {fault.removeprefix("table ").partition(":")[0] for fault in faults}
    for file in (results / "tables").glob("*.md"):
        if file not in made and file.stem not in failed:  # a page shows it now, or it is gone
            file.unlink()
    records = Records(results / "runs")
    for name, draw in FIGURES.items() if figures else ():
        try:
            draw(records, results / f"figure_{name}.svg")
        except CorpusError as fault:  # nothing of that kind was run
            faults.append(f"figure {name}: {fault}")
    for name, draw_curves in CURVES.items() if figures else ():
        draw_curves(DOCS / "figures" / f"{name}.svg")
    return faults
