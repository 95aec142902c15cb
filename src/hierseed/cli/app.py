"""`hierseed`: find the command and run it.

A command `name` is the function `name` in `hierseed/cli/name.py`. Another distribution adds a
command with an entry point of the group `hierseed.commands`. Only the module of the command
is imported; the lines of the others in `--help` come from the table here.
"""

from __future__ import annotations

import atexit
import gc
import os
import shlex
import signal
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from io import TextIOWrapper
from typing import Any

import typer

from hierseed.cli.console import guarded
from hierseed.errors import HierSeedError
from hierseed.parametrized import leave_out_scikit_learn

GROUP = "hierseed.commands"  # entry points of other distributions
WORK, JUDGE, TOOLS = "The job", "Look and improve", "Tools"

COMMANDS = {  # name: panel, line in --help (the first line of the command's own help)
    "demo": (WORK, "Run the whole job on text that is on this computer; no download."),
    "check": (WORK, "Check taxonomy, seeds and corpus for every fault before the long step."),
    "embed": (WORK, "Embed the texts of a corpus; resumes where it was stopped."),
    "fit": (WORK, "Learn the topics from their seeds and the whole corpus."),
    "assign": (WORK, "Place documents in the topics of a model, as a table."),
    "evaluate": (JUDGE, "Compare a table of assignments with gold labels."),
    "suggest": (JUDGE, "List the documents that are most useful to label next."),
    "seeds": (JUDGE, "Take seeds from a table of assignments that you corrected."),
    "report": (JUDGE, "Write one page that shows what is in every topic."),
    "serve": (JUDGE, "Open the workbench in the browser."),
    "convert": (TOOLS, "Convert a taxonomy from one file format to another."),
    "embedders": (TOOLS, "List the embedders, and what each one needs."),
    "bench": (TOOLS, "Make the tables and figures of the paper, and ours."),
}
ELSEWHERE = {"bench": "hierseed-bench"}  # commands that another distribution brings

HELP = """Place a large corpus in your own taxonomy, from a few example documents per topic.

You bring three files:

[bold]taxonomy[/bold]   your topics, one below the other

[bold]corpus[/bold]     a table with the columns id and text, or a folder of .txt files

[bold]seeds[/bold]      a table of id and topic: a few documents that show each topic

Then two commands do the job:

[cyan]hierseed fit docs.csv --taxonomy topics.txt --seeds seeds.csv -o model[/cyan]

[cyan]hierseed assign model docs.csv -o placed.csv[/cyan]"""


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # tidy up as after Ctrl-C
    for stream in (sys.stdout, sys.stderr):  # Windows writes to a file or a pipe in a code page
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")
    leave_out_scikit_learn()
    make_app(_words())(prog_name="hierseed")


def run() -> None:
    """Entry point of the `hierseed` script: `main`, and an exit without finalizing the interpreter.

    Finalizing takes about a tenth of the time of a small fit, and frees only what the exit frees.
    """
    code = 0
    gc.set_threshold(100_000, 50, 50)  # imports make many objects and no garbage
    try:
        main()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        code = ended.code or 0
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(BrokenPipeError):  # the reader has closed the pipe
            stream.flush()
    os._exit(code)


def make_app(wanted: Collection[str] | None = None) -> typer.Typer:
    """Return the app with the commands in `wanted` ready to run (None: all of them)."""
    app = typer.Typer(
        help=HELP,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback()(_version_option)
    added = {entry.name: entry for entry in entry_points(group=GROUP)}
    lines = {name: (TOOLS, _summary(entry)) for name, entry in added.items()} | COMMANDS
    for name, (panel, line) in lines.items():
        if wanted is None or name in wanted:
            command = _command(name, added)
            if isinstance(command, typer.Typer):  # a command with commands of its own
                app.add_typer(command, name=name, rich_help_panel=panel)
            else:
                extra = {"ignore_unknown_options": True, "allow_extra_args": True}
                options = (
                    extra if name in ELSEWHERE else None
                )  # any arguments: print how to install it
                app.command(name, rich_help_panel=panel, context_settings=options)(
                    guarded(name, command)
                )
        else:
            app.command(name, rich_help_panel=panel, help=line)(_never_run)
    return app


def _command(name: str, added: Mapping[str, EntryPoint]) -> Callable[..., Any] | typer.Typer:
    found: Callable[..., Any] | typer.Typer
    if name in added:
        found = added[name].load()
    elif name in ELSEWHERE:
        found = _not_installed(name)
    else:
        found = getattr(import_module(f"hierseed.cli.{name}"), name)
    return found


def _not_installed(name: str) -> Callable[..., Any]:
    """A command whose distribution is not installed: prints how to install it."""

    def run() -> None:
        raise HierSeedError(
            f"this command is not installed. Install it with: pip install {ELSEWHERE[name]}"
        )

    run.__doc__ = f"{COMMANDS[name][1]} Install it with: pip install {ELSEWHERE[name]}"
    return run


def _summary(entry: EntryPoint) -> str:
    return entry.dist.metadata["Summary"] if entry.dist else ""


def _never_run() -> None:
    """Body of a command that is only listed."""


def _words() -> set[str]:
    """The words typed so far; a shell that completes a line hands them over in COMP_WORDS."""
    typed = os.environ.get("_TYPER_COMPLETE_ARGS") or os.environ.get("COMP_WORDS") or ""
    try:
        return {*sys.argv[1:], *shlex.split(typed)}
    except ValueError:  # an unclosed quote
        return {*sys.argv[1:], *typed.split()}


def _show_version(value: bool) -> None:
    if value:
        from hierseed import __version__

        typer.echo(f"hierseed {__version__}")
        raise typer.Exit


def _version_option(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    pass
