"""Where a command may write: never over an input, nor over what a person filled in."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from hierseed.errors import CorpusError, SeedError


def refuse_inputs(output: Path, *inputs: Path, of: str = "this command") -> None:
    """Refuse an output that is an input, under its own name or through a link."""
    if output.exists() and any(file.exists() and output.samefile(file) for file in inputs):
        raise CorpusError(
            f"{output} is what {of} reads, and writing would replace it. "
            "Name another file with --output"
        )


def refuse_labelled(table: Path, *, but: Collection[str] = ()) -> None:
    """Refuse to replace a table in which topics are filled in, but for one with these columns."""
    from hierseed.io.columns import choose_column
    from hierseed.io.faults import Fault
    from hierseed.io.records import as_text, open_records

    try:
        records = open_records(table)
        if but and set(but) <= set(records.columns):
            return
        rows = records.rows([choose_column(records, "topic", "")])
        cells = [as_text(row.values[0]) or "" for row in rows if not isinstance(row, Fault)]
    except CorpusError:  # not there, or no table of ours
        return
    if filled := sum(bool(cell.strip()) for cell in cells):
        raise SeedError(
            f"{table} has topics filled in, in {filled:,} of {len(cells):,} rows, and they would "
            "be lost. Name another file with --output, and give this one to `hierseed fit --seeds`"
        )


def vectors_for(model: Path, source: Path) -> Path:
    """The folder for vectors of other documents than those of the fit, which keep their own."""
    return model.with_name(f"{model.name}.{source.stem}.vectors")
