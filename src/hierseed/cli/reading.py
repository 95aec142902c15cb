"""How the corpus is read: the options of the panel `Reading the corpus`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from hierseed.cli.console import Console
from hierseed.cli.outputs import refuse_inputs

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
