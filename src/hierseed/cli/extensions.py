"""Commands of other distributions: entry points of the group `hierseed.commands`."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

import typer

from hierseed.cli.faults import guarded
from hierseed.errors import HierSeedError

GROUP = "hierseed.commands"
KNOWN = {"bench": "hierseed-bench"}  # command: the distribution that brings it


def add_extensions(app: typer.Typer, panel: str) -> None:
    """Add every installed command; one that is known but absent says how to install it."""
    installed = {entry.name: entry for entry in entry_points(group=GROUP)}
    for name, entry in sorted(installed.items()):
        add_command(app, name, entry.load(), panel)
    for name in KNOWN.keys() - installed.keys():
        any_words = {"ignore_unknown_options": True, "allow_extra_args": True}
        app.command(name, hidden=True, context_settings=any_words)(guarded(name, _absent(name)))


def add_command(
    app: typer.Typer, name: str, command: Callable[..., Any] | typer.Typer, panel: str
) -> None:
    """Add a function, or a group with commands of its own."""
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name, rich_help_panel=panel)
    else:
        app.command(name, rich_help_panel=panel)(guarded(name, command))


def _absent(name: str) -> Callable[[], None]:
    distribution = KNOWN[name]

    def say() -> None:
        raise HierSeedError(
            f"this command belongs to {distribution}, which is not installed. Install it with: "
            f"pip install {distribution} (in a clone: pip install -e ./{name})"
        )

    say.__doc__ = f"Not installed: pip install {distribution}."
    return say
