"""Keep the tables on a page of prose in step with the records.

A line `<!-- table NAME -->` is followed by the tables of that name, down to
`<!-- end -->`; what stands between is replaced, the prose around it is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from hierseed.errors import CorpusError
from hierseed.io.atomic import atomic_file
from hierseed_bench.runs.records import Records
from hierseed_bench.tables.figures import FIGURES
from hierseed_bench.tables.tables import TABLES

BLOCK = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill(text: str, records: Records) -> str:
    """Replace the tables of a page by those that the records give now."""

    def make(match: re.Match[str]) -> str:
        name = match.group(2)
        if name not in TABLES:
            raise CorpusError(f"no table {name!r} on the page; there are {', '.join(TABLES)}")
        tables = "\n".join(table.markdown() for table in TABLES[name](records))
        return f"{match.group(1)}\n{tables}\n{match.group(3)}"

    return BLOCK.sub(make, text)


def write_all(records: Records, folder: Path, pages: Iterable[Path]) -> list[str]:
    """Write every table and figure, and bring pages up to date; returns what could not be made."""
    faults = []
    for name, make in TABLES.items():
        text = "\n".join(table.markdown() for table in make(records))
        (folder / f"table_{name}.md").write_text(text, encoding="utf-8")
    for page in pages:
        if page.is_file():
            filled = fill(page.read_text(encoding="utf-8"), records)
            with atomic_file(page) as partial:
                partial.write_text(filled, encoding="utf-8")
    for name, draw in FIGURES.items():
        try:
            draw(records, folder / f"figure_{name}.svg")
        except CorpusError as fault:  # nothing of that kind was run
            faults.append(f"figure {name}: {fault}")
    return faults
