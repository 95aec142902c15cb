"""Finding the column that is meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from hierseed.errors import CorpusError, name_some, plain_text
from hierseed.io.records import Records


def choose_columns(records: Records, wanted: Iterable[tuple[str, str]]) -> list[str]:
    """Return the columns of these names, each with an advice; all that lack are named at once."""
    found, faults = [], []
    for name, advice in wanted:
        try:
            found.append(choose_column(records, name, advice))
        except CorpusError as fault:  # kept as texts: a kept error holds open files in its frames
            faults.append((fault.message, fault.advice))
    if len(faults) == 1:
        raise CorpusError(*faults[0])
    if faults:
        raise CorpusError(
            "", "\n".join(f"{plain_text(message)} {advice}" for message, advice in faults)
        )
    return found


def choose_column(records: Records, name: str, advice: str) -> str:
    """Return the column of that name, capitals aside; else say which there are."""
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
    """Where a column may be that is missed: in a sheet that is not read."""
    first, *others = getattr(records, "sheets", None) or [""]
    if not others:
        return ""
    return (
        f". Of this workbook only one sheet is read; it has {name_some([first, *others])}: name "
        "the right one with --sheet"
    )
