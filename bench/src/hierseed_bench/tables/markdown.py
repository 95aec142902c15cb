"""A table as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """A title, a line that says how to read it, and cells that are already text."""

    title: str
    about: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Title, explanation and body."""
        return f"### {self.title}\n\n{self.about}\n\n{self.body()}\n"

    def body(self) -> str:
        """Rows in GitHub's form, columns lined up."""
        every = [self.header, *self.rows]
        widths = [max(len(row[i]) for row in every) for i in range(len(self.header))]

        def line(cells: Sequence[str]) -> str:
            return "| " + " | ".join(c.ljust(w) for c, w in zip(cells, widths)) + " |"

        rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
        return "\n".join([line(self.header), rule, *map(line, self.rows)])


def grid(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """Return the body of a table whose cells are any values."""
    cells = tuple(tuple(map(str, row)) for row in rows)
    return Table("", "", tuple(map(str, header)), cells).body()
