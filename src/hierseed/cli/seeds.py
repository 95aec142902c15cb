"""`hierseed seeds`: from a corrected table of assignments to a file of seeds."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hierseed.cli.console import Console, quote
from hierseed.cli.options import AsJson, Overwrite, Quiet
from hierseed.errors import SeedError
from hierseed.progress import amount


def seeds(
    table: Annotated[
        Path,
        typer.Argument(metavar="TABLE", help="A table of `hierseed assign` that you corrected."),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="The seeds to write: .csv .xlsx …"),
    ],
    checked: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column that marks rows which are right as they are, else 'checked'.",
        ),
    ] = None,
    sheet: Annotated[
        str | None, typer.Option(metavar="NAME", help="Sheet of an Excel table.")
    ] = None,
    overwrite: Overwrite = False,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Take seeds from a table of assignments that you corrected.

    Rows count whose topic you changed, and rows that you marked in a column 'checked' (anything but
    empty, 0, no or false). The table itself is only read.

    Example: hierseed seeds placed.xlsx -o more_seeds.csv
    """
    from hierseed.io.corrected_table import read_corrected
    from hierseed.io.tables import write_table

    if output.exists() and not overwrite:
        raise SeedError(
            f"{output} is there already. Name another file with --output, or replace it with "
            "--overwrite"
        )
    found = read_corrected(table, checked=checked, sheet=sheet)
    if found.table.empty:
        raise SeedError(
            f"{table} has no row that was changed or marked as checked. Change topics, or fill in "
            "a column 'checked'"
        )
    write_table(found.table, output)
    with Console(quiet=quiet, json=json) as console:
        said = f"{found.changed:,} with another topic, {found.checked:,} marked as checked"
        console.fact("Rows", said)
        if found.cleared:
            console.note(f"{amount(found.cleared, 'row')} without a topic: no seeds")
        console.fact("Seeds", f"{output}, {amount(len(found.table), 'seed')}", "green")
        console.next(
            f"hierseed fit CORPUS --taxonomy FILE --seeds FILE --seeds {quote(output)} -o M"
        )
        if console.json:
            counts = {"changed": found.changed, "checked": found.checked, "cleared": found.cleared}
            console.result({"seeds": output, "rows": len(found.table), **counts})
