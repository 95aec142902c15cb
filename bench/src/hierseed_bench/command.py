"""`hierseed bench`: the paper's experiments and ours, as commands."""

from __future__ import annotations

from collections.abc import Callable

import typer

from hierseed.cli.console import guarded
from hierseed_bench.commands import make, show

bench = typer.Typer(
    help="Make the tables and figures of the paper, and ours.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
COMMANDS: dict[str, Callable[..., None]] = {
    "run": make.run,
    "all": make.all_,
    "quick": make.quick,
    "foreign": make.foreign,
    "real-text": make.real_text,
    "merge": make.merge,
    "table": show.table,
    "figure": show.figure,
    "docs": show.docs,
    "check": show.check,
    "errors": show.errors,
    "methods": show.methods,
    "data": show.data,
}
for _name, _command in COMMANDS.items():
    bench.command(_name)(guarded(f"bench {_name}", _command))
