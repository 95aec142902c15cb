"""Files of a command: how the corpus is read, and where output may be written.

Output never replaces an input, nor what a person filled in.
"""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hierseed.cli.console import Console
from hierseed.errors import CorpusError, SeedError

if TYPE_CHECKING:
    from hierseed.io.corpus import Corpus


@dataclass(frozen=True)
class Reading:
    """What was given on the command line; None for what was not."""

    id: str | None = None
    text: list[str] | None = None
    on_error: Literal["stop", "skip"] = "stop"
    plain_quotes: bool = False

    @contextmanager
    def documents(
        self, source: Path, output: Path | None, console: Console, keep: Sequence[str] = ()
    ) -> Iterator[Corpus | Path]:
        """Give the corpus, or the path of vectors; rows left out are kept beside the output."""
        from hierseed.io.documents import is_vectors

        if is_vectors(source):
            yield source
        else:
            with self.corpus(source, output, console, keep) as corpus:
                yield corpus

    @contextmanager
    def corpus(
        self, source: Path, output: Path | None, console: Console, keep: Sequence[str] = ()
    ) -> Iterator[Corpus]:
        """Give the corpus; rows left out are kept beside the output."""
        from hierseed.io.corpus import Corpus
        from hierseed.io.faults import SkippedRows

        with ExitStack() as stack:
            skipped = SkippedRows.beside(output) if output is not None else None
            if skipped is not None:
                refuse_inputs(skipped.path, source)
                stack.enter_context(skipped)
            yield Corpus(
                source,
                id=self.id,
                text=self.text,
                on_error=self.on_error,
                on_skip=skipped.write if skipped else None,
                quotes=not self.plain_quotes,
                keep=keep,
            )
        if skipped is not None and skipped.count:
            console.note(f"rows left out are in {skipped.path}")

    def words(self) -> str:
        """The same options for the next command, as a shell takes them."""
        words = ["--id", self.id] if self.id else []
        for column in self.text or []:
            words += ["--text", column]
        if self.on_error != "stop":
            words += ["--on-error", self.on_error]
        if self.plain_quotes:
            words.append("--plain-quotes")
        return "".join(f" {shlex.quote(word)}" for word in words)


def refuse_inputs(output: Path, *inputs: Path, of: str = "this command") -> None:
    """Refuse an output that is an input, under its own name or through a link."""
    if output.exists() and any(file.exists() and output.samefile(file) for file in inputs):
        raise CorpusError(
            f"{output} is what {of} reads, and writing would replace it. "
            "Name another file with --output"
        )


def refuse_labelled(table: Path, *, but: Collection[str] = ()) -> None:
    """Refuse to replace a table in which topics are filled in, but for one with these columns."""
    from hierseed.io.columns import choose_column
    from hierseed.io.faults import Fault
    from hierseed.io.records import as_text, open_records

    try:
        records = open_records(table)
        if but and set(but) <= set(records.columns):
            return
        rows = records.rows([choose_column(records, "topic", "")])
        cells = [as_text(row.values[0]) or "" for row in rows if not isinstance(row, Fault)]
    except CorpusError:  # not there, or no table of ours
        return
    if filled := sum(bool(cell.strip()) for cell in cells):
        raise SeedError(
            f"{table} has topics filled in, in {filled:,} of {len(cells):,} rows, and they would "
            "be lost. Name another file with --output, and give this one to `hierseed fit --seeds`"
        )


def vectors_for(model: Path, source: Path) -> Path:
    """The folder for vectors of other documents than those of the fit, which keep their own."""
    return model.with_name(f"{model.name}.{source.stem}.vectors")
