"""Output of a command: facts, notes, progress bars and errors on stderr; its exit code.

Results go to stdout. Where stderr is not a terminal, a line every ten seconds replaces the bar.
Output never replaces an input, or labels that a person filled in.

0 success, 1 an error that the user can correct, 2 a wrong command line, 130 stopped by Ctrl-C.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click
import typer
from rich.console import Console as Terminal
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from hierseed.errors import CorpusError, HierSeedError, SeedError, explain_os_error
from hierseed.progress import Event, Fact, Note, Step, amount

if TYPE_CHECKING:
    from hierseed.io.documents import Counts

LABEL = 11  # columns for the name of a fact
LOG_INTERVAL = 10.0  # seconds between lines of progress in a log
STOPPED = 130  # what shells use for a program that Ctrl-C ended


class Console:
    """Prints for one command; leaving the block removes the progress bar.

    Parameters
    ----------
    quiet : print nothing but errors
    json : print results as JSON, and nothing else on stdout
    """

    def __init__(self, *, quiet: bool = False, json: bool = False) -> None:
        self.json = json
        self.quiet = quiet
        self.terminal = Terminal(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self.out = Terminal(highlight=False)
        self._step = ""
        self._bar: Bar | None = None
        self._bars = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *fault: object) -> None:
        self._end_bar()

    def listen(self, event: Event) -> None:
        """Print an event of the library; steps become bars."""
        if isinstance(event, Step):
            if event.name != self._step:
                self._end_bar()
                self._step = event.name
                bar = self.bar(event.name, event.total, event.unit)
                self._bar = self._bars.enter_context(bar)
            if self._bar:
                self._bar.to(event.done)
            return
        self._end_bar()
        if isinstance(event, Fact):
            self.fact(event.label, event.text)
        elif isinstance(event, Note):
            self.note(event.worded(wording))

    def _end_bar(self) -> None:
        self._bars.close()
        self._step, self._bar = "", None

    def thresholds(self, found: Iterable[float]) -> None:
        """Print the threshold of each level; above 1 no score is enough."""
        shown = [f"{each:.2f}" if each <= 1 else "none is enough" for each in found]
        self.fact("Thresholds", ", ".join(shown))

    def fact(self, label: str, text: str, style: str = "") -> None:
        """Print a label and a text; on a terminal a long text is wrapped next to the label."""
        if self.terminal.is_terminal:
            row = Table.grid(padding=(0, 0))
            row.add_column(width=LABEL, style="bold")
            row.add_column(style=style or "default", overflow="fold")
            row.add_row(label, Text(text))
            self.terminal.print(row)
        else:
            self.terminal.print(Text(f"{label:<{LABEL}}{text}"))

    def chart(self, label: str, counts: Mapping[str, int], shown: int = 12) -> None:
        """Print counts as bars, the largest first; the smallest ones are summed."""
        ranked = sorted(counts.items(), key=lambda item: -item[1])
        if len(ranked) > shown:
            others = sum(count for _, count in ranked[shown - 1 :])
            ranked = [*ranked[: shown - 1], (f"{len(ranked) - shown + 1} more", others)]
        longest = max((len(name) for name, _ in ranked), default=0)
        most = max((count for _, count in ranked), default=0) or 1
        for i, (name, count) in enumerate(ranked):
            bar = "█" * round(24 * count / most) or ("▏" if count else "")
            head = f"{label if i == 0 else '':<{LABEL}}"
            width = min(longest, 36)
            self.terminal.print(
                Text.assemble(
                    (head, "bold"),
                    f"{name[:width]:<{width}} ",
                    (bar, "cyan"),
                    (f" {count:,}", "default"),
                )
            )

    def counts(self, counts: Counts) -> None:
        """Print where documents were placed."""
        self.chart("Topics", counts.names())
        share = counts.placed / counts.documents
        self.fact(
            "Placed",
            f"{counts.placed:,} of {amount(counts.documents, 'document')} ({share:.1%}), "
            f"{counts.in_other:,} of them in an Other topic; "
            f"{counts.documents - counts.placed:,} in none",
        )

    def note(self, text: str) -> None:
        """Print a note."""
        self.fact("Note", text, "yellow")

    def next(self, *commands: str) -> None:
        """Print the commands that usually come next, unless the output is JSON."""
        if not self.json:
            for label, command in zip_longest(["Next"], commands, fillvalue=""):
                self.fact(label, command, "cyan")

    def fault(self, text: str, label: str = "Fault") -> None:
        """Print an error, even if quiet."""
        self.terminal.quiet = False
        self.fact(label, text, "red")
        self.terminal.quiet = self.quiet

    def result(self, payload: Any) -> None:
        """Print a result as JSON on stdout."""
        print(json.dumps(payload, ensure_ascii=False, indent=2, default=_plain))

    @contextmanager
    def bar(self, label: str, total: int | None = None, unit: str = "documents") -> Iterator[Bar]:
        """Show a progress bar with rate and time left until the block ends, on a terminal."""
        columns: list[ProgressColumn] = [
            TextColumn(f"[bold]{label:<{LABEL - 1}}"),
            BarColumn(bar_width=32, complete_style="cyan", finished_style="cyan"),
            TextColumn("{task.completed:,.0f}" + (f" of {total:,}" if total is not None else "")),
            TextColumn(unit),
            _RateColumn(),
            *([TimeRemainingColumn(compact=True), TextColumn("left")] if total else []),
        ]
        hidden = self.quiet or not self.terminal.is_terminal
        with Progress(*columns, console=self.terminal, transient=True, disable=hidden) as progress:
            task = progress.add_task(label, total=total)
            yield Bar(progress, task, self._log(label, total, unit))

    def _log(self, label: str, total: int | None, unit: str) -> Callable[[int], None]:
        """Return a function that prints progress at intervals if stderr is not a terminal."""
        last = time.monotonic()

        def log(done: int) -> None:
            nonlocal last
            if not self.terminal.is_terminal and time.monotonic() - last >= LOG_INTERVAL:
                last = time.monotonic()
                of = f" of {total:,}" if total is not None else ""
                self.fact(label, f"{done:,}{of} {unit}")

        return log


class Bar:
    """A progress bar and its time."""

    def __init__(self, progress: Progress, task: Any, log: Callable[[int], None]) -> None:
        self._log = log
        self._progress = progress
        self._task = task
        self._started = time.perf_counter()

    def to(self, done: int) -> None:
        """Set the progress."""
        self._progress.update(self._task, completed=done)
        self._log(done)

    @property
    def seconds(self) -> float:
        """Seconds since the bar was created."""
        return time.perf_counter() - self._started


class _RateColumn(ProgressColumn):
    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f}/s" if speed else "", style="cyan")


def quote(path: Path) -> str:
    """The path, quoted for a shell."""
    return shlex.quote(str(path))


def _plain(value: Any) -> Any:
    """Turn paths and numpy values into JSON types."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def guarded(command: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a command so that expected errors end in a message, not a traceback."""

    @functools.wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        as_json = options.get("json") or options.get("as_json")
        fail = functools.partial(_print_error, command, as_json)
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("always", category=UserWarning)
                warnings.showwarning = functools.partial(_note, bool(options.get("quiet")))
                return function(*args, **options)
        except HierSeedError as fault:
            fail(fault.worded(wording))
        except BrokenPipeError:  # `hierseed … | head` closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None
        except OSError as fault:
            fail(explain_os_error(fault))
        except MemoryError:
            fail(
                "this computer has not enough memory. Close other programs, fit on a part of "
                "the corpus, or on more machines with --dask (docs/scale.md)"
            )
        except KeyboardInterrupt:
            fail("stopped. No file is incomplete; run it again to resume")
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


def _print_error(command: str, as_json: bool | None, message: str) -> None:
    # soft_wrap: a wrapped path can't be copied
    Terminal(stderr=True, soft_wrap=True, highlight=False).print(
        Text.assemble((f"hierseed {command}: ", "bold red"), message)
    )
    if as_json:
        print(json.dumps({"error": message}, ensure_ascii=False))


def _note(quiet: bool, message: Any, *_: Any, **__: Any) -> None:
    Console(quiet=quiet).note(Note.of(message).worded(wording))
