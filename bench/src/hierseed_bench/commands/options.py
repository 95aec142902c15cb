"""Options that several commands share, and what stands behind them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hierseed.errors import ParameterError
from hierseed.estimators.parameters import parse_settings

if TYPE_CHECKING:
    from hierseed_bench.runs.records import Records

RESULTS = Path("results")

Results = Annotated[
    Path, typer.Option("--results", metavar="FOLDER", help="Where records and tables are kept.")
]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Runs at the same time.")]
Again = Annotated[bool, typer.Option("--again", help="Make runs again that are on disk already.")]
Draws = Annotated[int, typer.Option("--draws", min=1, help="Draws of the seeds.")]
Seeds = Annotated[int, typer.Option("--seeds", min=0, help="Seed documents a topic.")]
Limit = Annotated[int, typer.Option("--limit", min=0, help="Use at most N documents; 0 for all.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the method."),
]
AllowDirty = Annotated[
    bool, typer.Option("--allow-dirty", help="Make records from source with uncommitted changes.")
]


def parameters(option: list[str] | None) -> tuple[tuple[str, Any], ...]:
    """Read `--set`; a fault there is one of the command line."""
    try:
        return tuple(sorted(parse_settings(option or []).items()))
    except ParameterError as fault:
        raise typer.BadParameter(str(fault), param_hint="--set") from None


def refuse_unknown(names: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse a name that is not known, as a fault of the command line."""
    wrong = [name for name in names if name not in known]
    if wrong:
        raise typer.BadParameter(f"no {what} {wrong[0]!r}; there are {', '.join(known)}")


def open_records(results: Path) -> Records:
    """Return the records of plain runs."""
    from hierseed_bench.runs.records import Records

    return Records(results / "runs")
