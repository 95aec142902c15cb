"""Columns that go by other names, told by what is in them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

from hierseed.errors import TaxonomyError
from hierseed.io.faults import Fault
from hierseed.io.records import Records, as_text
from hierseed.io.topics import TopicFinder

ROWS = 200  # looked at
MOST = 0.8  # share of the filled cells that must be of a kind
LONG = 25  # letters that a text has on average, at least
LONGER = 2.0  # times as long as the cells of any other column


def guess_text(records: Records) -> str | None:
    """The column whose cells are by far the longest."""
    lengths = {
        name: sum(map(len, cells)) / len(cells) for name, cells in _cells(records).items() if cells
    }
    ranked = sorted(lengths, key=lambda name: -lengths[name])
    if not ranked or lengths[ranked[0]] < LONG:
        return None
    if len(ranked) > 1 and lengths[ranked[0]] < LONGER * lengths[ranked[1]]:
        return None
    return ranked[0]


def guess_id(records: Records, holds: Callable[[str], bool] | None = None) -> str | None:
    """The column of ids: those of the documents, or the only one whose cells all differ."""
    cells = _cells(records)
    if holds is not None:
        return _best({name: [holds(cell) for cell in some] for name, some in cells.items()})
    most = max((len(some) for some in cells.values()), default=0)
    unique = [
        name
        for name, some in cells.items()
        if len(some) == most == len(set(some)) and max(map(len, some), default=99) < LONG
    ]
    return unique[0] if len(unique) == 1 and most > 1 else None


def guess_topic(records: Records, finder: TopicFinder) -> str | None:
    """The column whose cells are topics."""
    return _best(
        {name: [_is_topic(finder, cell) for cell in some] for name, some in _cells(records).items()}
    )


def _best(found: dict[str, list[bool]]) -> str | None:
    """The only column with the largest share, if that is most of its cells."""
    shares = {name: sum(some) / len(some) for name, some in found.items() if some}
    best = max(shares.values(), default=0.0)
    names = [name for name, share in shares.items() if share == best]
    return names[0] if best >= MOST and len(names) == 1 else None


def _is_topic(finder: TopicFinder, cell: str) -> bool:
    try:
        finder.find(cell)
    except TaxonomyError:
        return False
    return True


def _cells(records: Records) -> dict[str, list[str]]:
    """Filled cells of the first rows, by column; a name used twice is left out."""
    names = [name for name in records.columns if name and records.columns.count(name) == 1]
    cells: dict[str, list[str]] = {name: [] for name in names}
    for row in islice(records.rows(names), ROWS):
        if not isinstance(row, Fault):
            for name, value in zip(names, row.values):
                if text := (as_text(value) or "").strip():
                    cells[name].append(text)
    return cells
