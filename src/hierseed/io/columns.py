"""Find the columns to read: by name, or by content where a file uses other names."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Callable, Iterable
from itertools import islice
from typing import NoReturn

from hierseed.errors import (
    CorpusError,
    HierSeedWarning,
    TaxonomyError,
    name_some,
    plain_text,
)
from hierseed.io.faults import Fault
from hierseed.io.records import Records, as_text
from hierseed.io.topic_finder import TopicFinder

ROWS = 200  # examined to guess a column
MOST = 0.8  # share of the filled cells that must match
LONG = 25  # least average number of characters of a text
LONGER = 2.0  # times as long as the cells of any other column


def choose_columns(
    records: Records, wanted: Iterable[tuple[str, str]], *, sheet: str = "sheet"
) -> list[str]:
    """Return the columns of these names, each with advice; an error names all that are missing.

    `sheet` is the parameter that names the sheet of a workbook.
    """
    found, faults = [], []
    for name, advice in wanted:
        try:
            found.append(choose_column(records, name, advice, sheet=sheet))
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


def choose_column(records: Records, name: str, advice: str, *, sheet: str = "sheet") -> str:
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
        f"{advice}{other_sheets(records, sheet)}",
    )


def other_sheets(records: Records, parameter: str) -> str:
    """Advice about the sheets of a workbook that are not read; `parameter` names one."""
    first, *others = getattr(records, "sheets", None) or [""]
    if not others:
        return ""
    names = plain_text(name_some([first, *others]))
    return (
        f". Of this workbook only one sheet is read. Its sheets are {names}: "
        f"name the right one with {{{parameter}}}"
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
    if len(unique) != 1 or most < 2:
        return None
    name = unique[0]
    alike = [_shape(cell) == _shape(name) for cell in cells[name]]
    if any(map(str.isdigit, name)) and sum(alike) >= MOST * len(alike):
        _refuse_data(records, name, "id,text")
    return name


def guess_topic(records: Records, finder: TopicFinder) -> str | None:
    """The column whose cells are topics; of columns for several levels the deepest."""
    found = {
        name: [_levels(finder, cell) for cell in some] for name, some in _cells(records).items()
    }
    known = {name: [level > 0 for level in levels] for name, levels in found.items()}
    name = _best(known, {name: sum(levels) for name, levels in found.items()})
    if name is not None and _levels(finder, name):
        _refuse_data(records, name, "id,topic")
    return name


def _refuse_data(records: Records, cell: str, names: str) -> NoReturn:
    raise CorpusError(
        f"{records.path}: the first row has data, such as {cell!r}, in place of the names of "
        f"columns. Add a first row, such as {names}"
    )


def _shape(text: str) -> str:
    """`cat12` as `a0`: letters and digits by kind, runs as one."""
    return re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", text))


def _best(found: dict[str, list[bool]], depth: dict[str, int] | None = None) -> str | None:
    """The only column with the largest share, if that is most of its cells; `depth` breaks ties."""
    ranks = {
        name: (sum(some) / len(some), depth[name] if depth else 0)
        for name, some in found.items()
        if some
    }
    best = max(ranks.values(), default=(0.0, 0))
    names = [name for name, rank in ranks.items() if rank == best]
    return names[0] if best[0] >= MOST and len(names) == 1 else None


def _levels(finder: TopicFinder, cell: str) -> int:
    """The deepest level among the topics of a cell, 0 if one is unknown."""
    try:
        topics = finder.find_all(cell)
    except TaxonomyError:
        return 0
    return max(int(finder.taxonomy.tree.level[topic]) for topic in topics)


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


def warn_of_guess(file: str, what: str, parameter: str) -> None:
    """Warn that a column was found by its content."""
    warning = HierSeedWarning(
        f"{file}: {what}, guessed from the content.",
        f"If that is wrong, name the column with {{{parameter}}}",
    )
    warnings.warn(warning, stacklevel=3)
