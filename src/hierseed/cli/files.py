"""Files of a command: how the corpus is read, and which output may be written.

Output never replaces an input, or labels that a person filled in.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hierseed.cli.console import Console
from hierseed.cli.options import (
    Encoding,
    Html,
    IdColumn,
    Language,
    LevelColumns,
    OnError,
    Parent,
    PlainQuotes,
    Query,
    SeedIdColumn,
    SeedSheet,
    Separator,
    Sheet,
    Table,
    TaxonomyColumns,
    TaxonomySheet,
    TextColumns,
    TopicColumn,
)
from hierseed.errors import CorpusError, HierSeedError, SeedError

if TYPE_CHECKING:
    from hierseed.io.corpus import Corpus
    from hierseed.io.seeds import SeedTable
    from hierseed.io.taxonomies import TaxonomyFile


@dataclass(frozen=True)
class Reading:
    """How the corpus is read: a group of options."""

    id: IdColumn = None
    text: TextColumns = None
    on_error: OnError = "stop"
    plain_quotes: PlainQuotes = False
    encoding: Encoding = None
    sheet: Sheet = None
    html: Html = False
    table: Table = None
    query: Query = None

    @contextmanager
    def documents(
        self, source: Path, output: Path | None, console: Console, keep: Sequence[str] = ()
    ) -> Iterator[Corpus | Path]:
        """Give the corpus, or the path of vectors; skipped rows are saved next to the output."""
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
        """Give the corpus; skipped rows are saved next to the output."""
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
                encoding=self.encoding,
                sheet=self.sheet,
                html=self.html,
                table=self.table,
                query=self.query,
            )
        if skipped is not None and skipped.count:
            console.note(f"rows left out are in {skipped.path}")

    def options(self) -> str:
        """The same options for the next command, quoted for a shell."""
        options = ["--id", self.id] if self.id else []
        for column in self.text or []:
            options += ["--text", column]
        if self.on_error != "stop":
            options += ["--on-error", self.on_error]
        if self.plain_quotes:
            options.append("--plain-quotes")
        if self.encoding:
            options += ["--encoding", self.encoding]
        if self.sheet:
            options += ["--sheet", self.sheet]
        if self.html:
            options.append("--html")
        if self.table:
            options += ["--table", self.table]
        if self.query:
            options += ["--query", self.query]
        return "".join(f" {shlex.quote(option)}" for option in options)


@dataclass(frozen=True)
class InputOptions:
    """How taxonomy and seeds are read: a group of options."""

    topic: TopicColumn = None
    seed_id: SeedIdColumn = None
    seed_sheet: SeedSheet = None
    language: Language = None
    parent: Parent = "all"
    level: LevelColumns = None
    column: TaxonomyColumns = None
    taxonomy_sheet: TaxonomySheet = None
    separator: Separator = None

    def taxonomy(self, path: Path, reading: Reading) -> TaxonomyFile:
        """The taxonomy file with its options; those of other formats are ignored."""
        from hierseed.io.taxonomies import TaxonomyFile

        options: dict[str, Any] = {
            "language": self.language,
            "parent": self.parent,
            "levels": self.level,
            "columns": column_roles(self.column),
            "sheet": self.taxonomy_sheet,
            "separator": self.separator,
            "encoding": reading.encoding,
        }
        return TaxonomyFile(path, {name: value for name, value in options.items() if value})

    def seeds(self, files: list[Path] | None, reading: Reading) -> list[SeedTable] | None:
        """The files of seeds with their columns; --id applies if a file has that column."""
        from hierseed.io.records import open_records
        from hierseed.io.seeds import SeedTable

        tables, id = [], reading.id
        for file in files or []:
            id_column, sheet = self.seed_id, _sheet_of(file, self.seed_sheet)
            with suppress(HierSeedError, OSError):  # reported later
                names = open_records(file, encoding="utf-8", sheet=sheet).columns
                has_id = id is not None and id.lower() in map(str.lower, names)
                id_column = self.seed_id or (id if has_id else None)
            tables.append(SeedTable(file, self.topic, id_column, None, reading.encoding, sheet))
        return tables or None


def refuse_inputs(output: Path, *inputs: Path, of: str = "this command") -> None:
    """Refuse an output that is an input, also through a link."""
    if output.exists() and any(file.exists() and output.samefile(file) for file in inputs):
        raise CorpusError(
            f"{output} is what {of} reads, and writing would replace it. "
            "Name another file with --output"
        )


def refuse_labelled(table: Path) -> None:
    """Refuse to replace a table in which topics are filled in."""
    from hierseed.io.columns import choose_column
    from hierseed.io.faults import Fault
    from hierseed.io.records import as_text, open_records

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


def column_roles(columns: list[str] | None) -> dict[str, str] | None:
    """Turn `name=Begriff` into a mapping."""
    pairs = [column.partition("=") for column in columns or []]
    if wrong := [role for role, sign, header in pairs if not (role and sign and header)]:
        raise typer.BadParameter(f"write ROLE=HEADER, as in name=Label, not {wrong[0]!r}")
    return {role: header for role, _, header in pairs} or None


def _sheet_of(file: Path, sheet: str | None) -> str | None:
    from hierseed.io.records.database import ENDINGS

    return sheet if file.suffix.lower() in (".xlsx", ".xlsm", *ENDINGS) else None


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


def vectors_for(model: Path, source: Path) -> Path:
    """The folder for vectors of documents other than those of the fit."""
    return model.with_name(f"{model.name}.{source.stem}.vectors")
