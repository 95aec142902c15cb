"""How the corpus is read: what was said on the command line, else what the model remembers."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hierseed.cli.console import Console

if TYPE_CHECKING:
    from hierseed.io.saved import SavedModel


@dataclass(frozen=True)
class Reading:
    """The options of the panel `Reading the corpus`; None is what was not given."""

    id: str | None = None
    text: list[str] | None = None
    on_error: Literal["stop", "skip"] = "stop"
    plain_quotes: bool = False

    @property
    def columns(self) -> dict[str, Any]:
        """The columns meant, as a model remembers them."""
        return {"id": self.id or "id", "text": self.text or ["text"]}

    def options(self) -> dict[str, Any]:
        """What `Corpus` is told."""
        return {**self.columns, "on_error": self.on_error, "quotes": not self.plain_quotes}

    def like(self, model: SavedModel, source: Path, console: Console) -> Reading:
        """Take over the columns of the fit that were not named now, where the file has them."""
        from hierseed.io.corpus import ROW_NUMBER, columns_of

        known = model.about.get("columns")
        if not known or known == Reading().columns or (self.id and self.text):
            return self
        there = {ROW_NUMBER, *(name.lower() for name in columns_of(source, not self.plain_quotes))}
        id, text = self.id, self.text
        if not id and known["id"].lower() in there:
            id = known["id"]
        if not text and there.issuperset(name.lower() for name in known["text"]):
            text = known["text"]
        found = Reading(id, text, self.on_error, self.plain_quotes)
        if found != self:
            meant = found.columns
            ids = "rows are numbered" if meant["id"] == ROW_NUMBER else f"id in {meant['id']}"
            texts = " and ".join(meant["text"])
            console.fact("Columns", f"{ids}, text in {texts}, as in the fit")
        return found

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
