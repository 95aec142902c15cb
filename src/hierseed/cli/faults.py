"""What a command says when it can't go on: one clear message, and an exit code.

0 done, 1 a fault that the user can mend, 2 a slip in the command line, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

import typer

from hierseed.errors import HierSeedError

STOPPED = 130  # what shells use for a program that Ctrl-C ended


def guarded(command: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command so that expected faults end in a message and never in a traceback."""

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        say = functools.partial(_say, command, options.get("json") or options.get("as_json"))
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("always", category=UserWarning)
                warnings.showwarning = functools.partial(_note, bool(options.get("quiet")))
                return function(*args, **options)
        except HierSeedError as fault:
            say(str(fault))
        except BrokenPipeError:  # `hierseed … | head` has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except OSError as fault:
            say(explain(fault))
        except MemoryError:
            say("the memory of this computer is not enough. Close other programs")
        except KeyboardInterrupt:
            say("stopped. Nothing is half-written; run it again to go on")
            raise typer.Exit(STOPPED) from None
        raise typer.Exit(1)

    return run


def explain(fault: OSError) -> str:
    """Say which file and why, in the words of the operating system."""
    reason = fault.strerror or str(fault)
    if fault.filename is None:
        return f"{reason}. Free some space, or write to another disk" if _full(fault) else reason
    advice = ". Free some space, or write to another disk" if _full(fault) else ""
    return f"{fault.filename}: {reason}{advice}"


def _full(fault: OSError) -> bool:
    import errno

    return fault.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _say(command: str, as_json: bool | None, message: str) -> None:
    import json

    from rich.console import Console
    from rich.text import Text

    # soft_wrap: a path that is broken in two can't be copied
    Console(stderr=True, soft_wrap=True, highlight=False).print(
        Text.assemble((f"hierseed {command}: ", "bold red"), message)
    )
    if as_json:
        print(json.dumps({"error": message}, ensure_ascii=False))


def _note(quiet: bool, message: Any, *_: Any, **__: Any) -> None:
    from hierseed.cli.console import Console

    Console(quiet=quiet).note(str(message))
