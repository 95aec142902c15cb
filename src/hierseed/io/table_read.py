"""Tables of placed documents, gold or suggestions back into a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any

import pandas as pd

from hierseed.errors import CorpusError
from hierseed.io.columns import choose_column
from hierseed.io.faults import Fault, Faults
from hierseed.io.records import as_text, open_records

NUMBERS = ("distance", "score")
FLAGS = ("is_other", "is_none", "is_seed")
TRUE, FALSE = {"true", "1", "1.0"}, {"false", "0", "0.0", ""}


def read_table(file: str | PathLike[str], *, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Read .csv, .tsv, .jsonl (also .gz), .parquet or .xlsx with the types of the contract.

    Ids and topics are texts, whatever they look like ("007" stays "007"), `distance` and `score`
    are numbers, `is_other`, `is_none` and `is_seed` are truth values. `columns` names those
    wanted; a missing one is an error that lists the others.
    """
    records = open_records(file)
    advice = "Name a column that the table has"
    wanted = columns if columns is not None else records.columns
    chosen = [choose_column(records, name, advice) for name in wanted]
    faults = Faults()
    cells: list[list[Any]] = [[] for _ in chosen]
    for row in records.rows(chosen):
        if isinstance(row, Fault):
            faults.add(row)
            continue
        for name, values, value in zip(chosen, cells, row.values):
            try:
                values.append(_typed(name, value))
            except ValueError as fault:
                faults.add(Fault(records.path.name, row.line, f"{fault} in the column {name!r}"))
                values.append(None)
    if faults:
        raise CorpusError(f"{len(faults):,} rows of {file} can't be used: {faults.describe()}")
    return pd.DataFrame(dict(zip(wanted, cells)), columns=list(wanted))


def _typed(name: str, value: Any) -> Any:
    """Give a cell the type of its column."""
    if name in FLAGS and isinstance(value, bool):
        return value
    text = as_text(value)
    if text is None:
        text = str(value)  # a list, or a truth value in a column of texts: shown as it is
    if name in FLAGS:
        word = text.strip().lower()
        if word not in TRUE | FALSE:
            raise ValueError("neither true nor false")
        return word in TRUE
    if name in NUMBERS:
        if isinstance(value, int | float):
            return float(value)
        try:
            return float(text) if text.strip() else float("nan")
        except ValueError:
            raise ValueError("no number") from None
    return text
