"""Write docs/cli.md from the help of the commands: `hierseed bench docs`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import typer
import typer.models

from hierseed.cli.app import COMMANDS
from hierseed_bench.command import bench
from hierseed_bench.repository import DOCS

FILE = DOCS / "cli.md"
INFO = (typer.models.OptionInfo, typer.models.ArgumentInfo)

INTRO = """# The command line

This page is the help of each command, as `hierseed COMMAND --help` prints it. It is written by
`hierseed bench docs`.

Every command ends with exit code 0 on success, 1 with one message when something in your files must
be corrected, 2 for a wrong command line, and 130 after Ctrl-C. Results go to standard output,
progress and messages to standard error. `--quiet` prints only errors, `--json` prints the result
for programs. A file or folder appears under its name only when it is complete: Ctrl-C, a full disk
or a power failure leave the old one unchanged.

`hierseed --install-completion` makes the Tab key complete commands and options in your shell.
"""


def render() -> str:
    """Return the whole page."""
    functions = {name: _function(name) for name in COMMANDS if find_spec(f"hierseed.cli.{name}")}
    functions["bench"] = bench
    lines = {name: line for name, (_, line) in COMMANDS.items()}
    lines["bench"] += " Needs `pip install hierseed-bench`."
    listed = [f"| [`{name}`](#hierseed-{name}) | {lines[name]} |" for name in functions]
    parts = [INTRO, "| command | what it does |\n|---|---|\n" + "\n".join(listed) + "\n"]
    parts += ["\n".join(_section(name, function)) for name, function in functions.items()]
    return "\n".join(parts)


def _section(name: str, function: Any) -> Iterator[str]:
    if not isinstance(function, typer.Typer):
        yield from _command(name, function)
        return
    yield f"## hierseed {name}\n\n{function.info.help}\n"
    for inner in function.registered_commands:
        callback = inner.callback
        if callback is not None:
            yield from _command(f"{name} {inner.name or callback.__name__}", callback, "###")


def _command(name: str, function: Callable[..., Any], mark: str = "##") -> Iterator[str]:
    every = [_read(parameter) for parameter in _parameters(function)]
    needed = [each.spelling for each in every if each.is_argument]
    needed += [each.short for each in every if each.required and not each.is_argument]
    options = ["[OPTIONS]"] if any(not each.required for each in every) else []
    yield f"{mark} hierseed {name}\n"
    yield f"```text\nhierseed {' '.join([name, *needed, *options])}\n```\n"
    yield inspect.cleandoc(function.__doc__ or "") + "\n"
    yield "| | |\n|---|---|"
    for each in every:
        yield f"| `{each.spelling.replace('|', chr(92) + '|')}` | {each.meaning} |"
    yield ""


class Shown(NamedTuple):
    """One argument or option as the page shows it."""

    spelling: str
    short: str
    meaning: str
    required: bool
    is_argument: bool


def _parameters(function: Callable[..., Any]) -> list[tuple[str, Any, Any, Any]]:
    """Name, type, typer's information and default of each parameter."""
    hints = get_type_hints(function, include_extras=True)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        kind, default = hints[name], parameter.default
        info = next((x for x in getattr(kind, "__metadata__", ()) if isinstance(x, INFO)), None)
        if info is None:  # written as a default: `name: bool = typer.Option(False, …)`
            info, default = default, default.default
            default = inspect.Parameter.empty if default is ... else default
        found.append((name, getattr(kind, "__origin__", kind), info, default))
    return found


def _read(parameter: tuple[str, Any, Any, Any]) -> Shown:
    name, kind, info, default = parameter
    is_argument = isinstance(info, typer.models.ArgumentInfo)
    # inside Annotated, typer takes the first spelling for a default and keeps it there
    spelled = [info.default, *(info.param_decls or [])]
    names = [x for x in spelled if isinstance(x, str) and x.startswith("-")]
    flag = kind is bool
    if not names:
        names.append(f"--{name.replace('_', '-')}")
    if flag and len(names) == 1 and default is True:
        names.append(f"--no-{name.replace('_', '-')}")
    value = info.metavar or _choices(kind) or ("NUMBER" if _is_number(kind) else "VALUE")
    if is_argument:
        value = info.metavar or name.upper()
    spelling = value if is_argument else ", ".join(names) + ("" if flag else f" {value}")
    required = default is inspect.Parameter.empty
    meaning = " ".join((info.help or "").split())
    if not required and not flag and default not in (None, ""):
        meaning += f" Default: `{default}`."
    return Shown(spelling, f"{names[0]} {value}", meaning, required, is_argument)


def _choices(kind: Any) -> str:
    literal = next((k for k in (kind, *get_args(kind)) if get_origin(k) is Literal), None)
    return "|".join(map(str, get_args(literal))) if literal else ""


def _is_number(kind: Any) -> bool:
    return bool({int, float}.intersection((kind, *get_args(kind))))


def _function(name: str) -> Any:
    function = getattr(import_module(f"hierseed.cli.{name}"), name)
    return function
