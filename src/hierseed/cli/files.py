"""Files of a command: how the corpus is read, and which output may be written.

Output never replaces an input, or labels that a person filled in.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from hierseed.cli.console import Console
from hierseed.errors import CorpusError, HierSeedError, SeedError

if TYPE_CHECKING:
    from hierseed.io.corpus import Corpus
    from hierseed.io.seeds import SeedTable
    from hierseed.io.taxonomies import TaxonomyFile


@dataclass(frozen=True)
class Reading:
    """Options of the command line for reading a corpus; None if not set."""

    id: str | None = None
    text: list[str] | None = None
    on_error: Literal["stop", "skip"] = "stop"
    plain_quotes: bool = False
    encoding: str | None = None
    sheet: str | None = None
    html: bool = False
    table: str | None = None
    query: str | None = None

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


def seed_tables(
    files: list[Path] | None,
    topic: str | None,
    seed_id: str | None,
    id: str | None,
    encoding: str | None,
    sheet: str | None,
) -> list[SeedTable] | None:
    """The files of seeds with their columns; --id applies if a file has that column."""
    from hierseed.io.records import open_records
    from hierseed.io.seeds import SeedTable

    tables = []
    for file in files or []:
        id_column, chosen = seed_id, _sheet_of(file, sheet)
        with suppress(HierSeedError, OSError):  # reported later
            names = open_records(file, encoding="utf-8", sheet=chosen).columns
            id_column = seed_id or (id if id and id.lower() in map(str.lower, names) else None)
        tables.append(SeedTable(file, topic, id_column, None, encoding, chosen))
    return tables or None


def taxonomy_file(path: Path, *, columns: list[str] | None, **options: Any) -> TaxonomyFile:
    """The taxonomy file with its options; those of other formats are ignored."""
    from hierseed.io.taxonomies import TaxonomyFile

    used = {name: value for name, value in options.items() if value}
    if roles := column_roles(columns):
        used["columns"] = roles
    return TaxonomyFile(path, used)


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
