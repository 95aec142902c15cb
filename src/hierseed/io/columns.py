"""Find the columns to read: by name, or by content where a file uses other names."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from itertools import islice

from hierseed.errors import CorpusError, TaxonomyError, name_some, plain_text
from hierseed.io.faults import Fault
from hierseed.io.records import Records, as_text
from hierseed.io.topic_finder import TopicFinder

ROWS = 200  # examined to guess a column
MOST = 0.8  # share of the filled cells that must match
LONG = 25  # least average number of characters of a text
LONGER = 2.0  # times as long as the cells of any other column


def choose_columns(records: Records, wanted: Iterable[tuple[str, str]]) -> list[str]:
    """Return the columns of these names, each with advice; an error names all that are missing."""
    found, faults = [], []
    for name, advice in wanted:
        try:
            found.append(choose_column(records, name, advice))
        except (
            CorpusError
        ) as fault:  # strings: an error that is kept holds open files in its frames
            faults.append((fault.message, fault.advice))
    if len(faults) == 1:
        raise CorpusError(*faults[0])
    if faults:
        raise CorpusError(
            "", "\n".join(f"{plain_text(message)} {advice}" for message, advice in faults)
        )
    return found


def choose_column(records: Records, name: str, advice: str) -> str:
    """Return the column of that name, ignoring case; an error lists the columns."""
    columns = records.columns
    if columns.count(name) == 1:
        return name
    near = [column for column in columns if column.lower() == name.lower()]
    if len(near) == 1:
        return near[0]
    if near:
        raise CorpusError(
            f"{records.path} has {len(near)} columns named {name!r}. Rename all but one"
        )
    close = difflib.get_close_matches(name, columns, n=1)
    guess = f"; did you mean {close[0]!r}?" if close else "."
    raise CorpusError(
        f"{records.path} has no column {name!r}; its {len(columns):,} columns are "
        f"{name_some(columns, 12)}{guess}",
        f"{advice}{other_sheets(records)}",
    )


def other_sheets(records: Records) -> str:
    """Advice about the sheets of a workbook that are not read."""
    first, *others = getattr(records, "sheets", None) or [""]
    if not others:
        return ""
    return (
        f". Of this workbook only one sheet is read. Its sheets are {name_some([first, *others])}: "
        "name the right one with --sheet"
    )


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
