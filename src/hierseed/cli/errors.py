"""Errors of a command: what it refuses to replace; one message, and an exit code.

Output never replaces an input, or labels that a person filled in.

0 success, 1 an error that the user can correct, 2 a wrong command line, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import functools
import inspect
import os
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import click
import typer

from hierseed.errors import CorpusError, HierSeedError, SeedError, explain_os_error

STOPPED = 130  # what shells use for a program that Ctrl-C ended


def guarded(command: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command so that expected errors end in a message, not a traceback."""

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        say = functools.partial(_say, command, options.get("json") or options.get("as_json"))
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("always", category=UserWarning)
                warnings.showwarning = functools.partial(_note, bool(options.get("quiet")))
                return function(*args, **options)
        except HierSeedError as fault:
            say(fault.worded(wording))
        except BrokenPipeError:  # `hierseed … | head` closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except OSError as fault:
            say(explain_os_error(fault))
        except MemoryError:
            say(
                "this computer has not enough memory. Close other programs, fit on a part of "
                "the corpus, or on more machines with --dask (docs/scale.md)"
            )
        except KeyboardInterrupt:
            say("stopped. No file is incomplete; run it again to resume")
            raise typer.Exit(STOPPED) from None
        raise typer.Exit(1)

    return run


def wording(name: str, value: str) -> str:
    """Word a parameter as an option; if this command lacks it, name a command that has it."""
    option = {"columns": "column", "levels": "level"}.get(name, name)
    flag = f"--{option.replace('_', '-')}"
    text = flag if value in ("", "True") else f"{flag} {shlex.quote(value)}"
    text += "=…" if name == "columns" else ""
    context = click.get_current_context(silent=True)
    if context is None or any(flag in option.opts for option in context.command.params):
        return text
    if name == "taxonomy_sheet":
        return "--sheet"  # convert has one file only
    for command in ("fit", "convert", "embed", "assign"):
        function = getattr(import_module(f"hierseed.cli.{command}"), command)
        if option in inspect.signature(function).parameters:
            return f"hierseed {command} {text}"
    return text


@contextmanager
def usage(option: str) -> Iterator[None]:
    """Turn an error of the library into a usage error."""
    try:
        yield
    except HierSeedError as fault:
        raise typer.BadParameter(fault.worded(wording), param_hint=option) from None


def refuse_inputs(output: Path, *inputs: Path, of: str = "this command") -> None:
    """Refuse an output that is an input, also through a link."""
    if output.exists() and any(file.exists() and output.samefile(file) for file in inputs):
        raise CorpusError(
            f"{output} is what {of} reads, and writing would replace it. "
            "Name another file with --output"
        )


def refuse_labelled(table: Path) -> None:
    """Refuse to replace a table in which topics are filled in."""
    from hierseed.io.records import as_text, choose_column, open_records
    from hierseed.io.records.rows import Fault

    try:
        records = open_records(table)
        rows = records.rows([choose_column(records, "topic", "")])
        cells = [as_text(row.values[0]) or "" for row in rows if not isinstance(row, Fault)]
    except CorpusError:  # missing, or not a table
        return
    if filled := sum(bool(cell.strip()) for cell in cells):
        raise SeedError(
            f"{table} has topics filled in, in {filled:,} of {len(cells):,} rows, and they would "
            "be lost. Name another file with --output, and give this one to `hierseed fit --seeds`"
        )


def refuse_changed(table: Path) -> None:
    """Refuse to replace a table that is not as we wrote it, unless it has no rows."""
    from hierseed.io.records import open_records
    from hierseed.io.tables import is_as_written

    if not table.exists() or is_as_written(table):
        return
    with suppress(CorpusError):
        records = open_records(table)
        if next(records.rows(records.columns[:1]), None) is None:
            return
    raise SeedError(
        f"{table} exists and was changed after hierseed wrote it: it may hold corrections. Name "
        "another file with --output, or replace it with --overwrite; `hierseed seeds` makes seeds "
        "of a corrected table"
    )


def refuse_other_model(output: Path, source: Path) -> None:
    """Refuse to replace a model of another corpus."""
    from hierseed.io.model_bundle import read_bundle

    if not output.exists():
        return
    try:
        corpus = read_bundle(output).text.get("about", {}).get("corpus")
    except HierSeedError:  # damaged: no model would be lost
        return
    if corpus and corpus != source.name:
        raise CorpusError(
            f"{output} is a model of another corpus, {corpus}, and would be replaced. Name another "
            "folder with --output, or say --overwrite"
        )


def _say(command: str, as_json: bool | None, message: str) -> None:
    import json

    from rich.console import Console
    from rich.text import Text

    # soft_wrap: a wrapped path can't be copied
    Console(stderr=True, soft_wrap=True, highlight=False).print(
        Text.assemble((f"hierseed {command}: ", "bold red"), message)
    )
    if as_json:
        print(json.dumps({"error": message}, ensure_ascii=False))


def _note(quiet: bool, message: Any, *_: Any, **__: Any) -> None:
    from hierseed.cli.console import Console
    from hierseed.progress import Note

    Console(quiet=quiet).note(Note.of(message).worded(wording))
