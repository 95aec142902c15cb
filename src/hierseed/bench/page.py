"""Keep the tables on a page of prose in step with the records.

A line `<!-- table NAME -->` is followed by the tables of that name, down to
`<!-- end -->`; what stands between is replaced, the prose around it is left alone.
"""

from __future__ import annotations

import re

from hierseed.bench.records import Records
from hierseed.bench.tables import TABLES
from hierseed.errors import CorpusError

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
