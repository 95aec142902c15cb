"""Seeds from a table of assignments that a person corrected."""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from hierseed.errors import SeedError, name_some
from hierseed.io.records import as_text, open_records
from hierseed.io.records.rows import Fault

if TYPE_CHECKING:
    import pandas as pd

LEVEL = re.compile(r"level_(\d+)")
NOT_CHECKED = {"", "0", "no", "n", "false", "nein", "non"}


@dataclass(frozen=True)
class Corrected:
    """Seeds found in a table.

    Attributes
    ----------
    table : the columns id and topic
    changed : rows whose topic a person changed
    checked : rows that are marked as checked
    cleared : rows that were checked or changed and have no topic
    """

    table: pd.DataFrame
    changed: int
    checked: int
    cleared: int


def read_corrected(
    file: str | PathLike[str], *, checked: str | None = None, sheet: str | None = None
) -> Corrected:
    """Find the rows of a table that a person changed or marked as checked.

    A topic was changed if it is not the deepest of the columns `level_1` … `level_N`, which hold
    the path that `hierseed assign` gave.

    Parameters
    ----------
    file : a table of `hierseed assign`
    checked : column that marks checked rows; "checked" if the table has one
    sheet : of an Excel workbook, by name or number
    """
    records = open_records(file, sheet=sheet)
    by_lower = {name.lower(): name for name in records.columns}
    levels = sorted(
        (name for name in records.columns if LEVEL.fullmatch(name)),
        key=lambda name: int(name.removeprefix("level_")),
    )
    mark = by_lower.get((checked or "checked").lower())
    missing = [name for name in ("id", "topic") if name not in by_lower]
    if missing or (not levels and mark is None) or (checked and mark is None):
        raise SeedError(
            f"{file} is no table of `hierseed assign`: it has the columns "
            f"{name_some(records.columns, 12)}.",
            "Give a table with id, topic and level_1 …, or name the column of checked rows with "
            "{checked}",
        )
    names = [by_lower["id"], by_lower["topic"], *([mark] if mark else []), *levels]
    found, counts = [], {"changed": 0, "checked": 0, "cleared": 0}
    for row in records.rows(names):
        if isinstance(row, Fault):
            raise SeedError(f"{row}. Correct the table first")
        cells = [(as_text(value) or "").strip() for value in row.values]
        id, topic, others = cells[0], cells[1], cells[2:]
        is_checked = mark is not None and others.pop(0).lower() not in NOT_CHECKED
        assigned = next((cell for cell in reversed(others) if cell), "")
        is_changed = bool(levels) and topic != assigned
        counts["changed"] += is_changed
        counts["checked"] += is_checked
        if is_checked or is_changed:
            counts["cleared"] += not topic
            if topic:
                found.append((id, topic))
    import pandas as pd  # slow to import, and not needed by a fit

    return Corrected(pd.DataFrame(found, columns=["id", "topic"]), **counts)
