"""Errors of a command: one message, and an exit code.

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
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click
import typer

from hierseed.errors import HierSeedError, explain_os_error

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
