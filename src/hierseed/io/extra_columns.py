"""Extra columns of a table of assignments: columns of the corpus, codes of topics."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from hierseed.assignments import Assignments
from hierseed.io.records import as_text

PREFIX = "corpus_"  # before the name of an extra column that the table has itself


def add_columns(
    frame: pd.DataFrame,
    rows: Sequence[int] | np.ndarray[Any, Any],
    names: Sequence[str],
    kept: Sequence[Sequence[Any]],
    *,
    text: bool = False,
) -> pd.DataFrame:
    """Append the columns `names`, whose values of document i are `kept[i]`, to a table.

    `rows` is the document of each row of the table. Values stay what they are, or become
    `text` where the file to be written wants one type a column.
    """
    columns = {}
    for j, name in enumerate(names):
        while name in frame.columns or name in columns:
            name = PREFIX + name
        values = [plain_value(row[j]) for row in kept]
        if text:
            values = [None if value is None else as_text(value) or str(value) for value in values]
        # of no type: a column of numbers with a gap would turn 7 into 7.0
        columns[name] = np.array([*values, None], dtype=object)[np.asarray(rows, dtype=np.intp)]
    return frame.assign(**columns)


def add_codes(frame: pd.DataFrame, found: Assignments) -> pd.DataFrame:
    """Append the code of each row's topic; empty for None and for Other topics."""
    codes = np.array([*found.taxonomy.codes, ""], dtype=object)
    return frame.assign(code=codes[found.topic])


def plain_value(value: Any) -> Any:
    """A text, a number, yes or no, or None; all else as text."""
    if isinstance(value, str):  # half a surrogate pair, which JSON can name, fits in no file
        return value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    if value is None or isinstance(value, bool | int | float):
        return value if value == value else None  # NaN differs from itself
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value).removesuffix(" 00:00:00")  # Excel knows a date as its midnight
