"""A corpus read as a stream: checked once as a whole, then iterated in order."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import CorpusError
from hierseed.io.html_text import strip_html
from hierseed.io.records import (
    Records,
    as_text,
    choose_columns,
    describe,
    guess_id,
    guess_text,
    open_records,
    warn_of_guess,
)
from hierseed.io.records.frames import open_frame
from hierseed.io.records.rows import Fault, Faults
from hierseed.io.text_folder import TextFolder
from hierseed.progress import Listener, Step

DEFAULT_COLUMNS: dict[str, Any] = {"id": "id", "text": ["text"]}
ROW_NUMBER = "#"  # as the name of the id column: number the rows instead
EVERY_COLUMN = "*"  # as the name of a column to keep: all but the ids
JOINT = "\n\n"  # between texts of several columns
REPEATED = "id occurs twice"
EVERY = 20_000  # documents between two calls of `progress`


class Document(NamedTuple):
    """One text and its id."""

    id: str
    text: str


@dataclass
class Survey:
    """Results of one pass over the whole corpus."""

    n_documents: int = 0
    n_characters: int = 0
    faults: Faults = field(default_factory=Faults)
    first_ids: list[str] = field(default_factory=list)
    hashes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # of all ids
    repeated: frozenset[int] = frozenset()  # hashes that occur more than once

    def holds(self, id: str) -> bool:
        """False where no document has this id. Compares hashes; a collision is possible."""
        at = int(np.searchsorted(self.hashes, hash(id)))
        return at < len(self.hashes) and int(self.hashes[at]) == hash(id)


class Corpus:
    """Documents of a file (CSV, TSV, JSONL, Parquet, Excel, SQLite, DuckDB), folder or data frame.

    The first use reads everything once to find every fault, before the first document is
    returned. Memory does not grow with the corpus beyond 8 bytes a document.

    Parameters
    ----------
    source : the file or folder, or a data frame or data set
    id, text : names of the columns, "id" and "text" unless given; `id="#"` numbers the rows from
        1, and several columns of text are joined in that order, with a blank line between
    on_error : "stop" raises all faults at once; "skip" leaves invalid rows out
    on_skip : called with each fault, so that skipped rows can be saved
    quotes : False if quotation marks in CSV or TSV have no special meaning
    keep : further columns that `rows` gives with each document; `"*"` is all but the ids
    encoding : of lines that are not UTF-8; "auto" detects it
    sheet : of an Excel workbook, by name or number from 1
    table, query : of an SQLite or DuckDB file: the name of a table, or a SELECT in its place
    html : True if texts are HTML; tags are removed
    """

    def __init__(
        self,
        source: Any,
        *,
        id: str | None = None,
        text: str | Sequence[str] | None = None,
        on_error: Literal["stop", "skip"] = "stop",
        on_skip: Callable[[Fault], object] | None = None,
        quotes: bool = True,
        keep: Sequence[str] = (),
        encoding: str | None = None,
        sheet: str | None = None,
        table: str | None = None,
        query: str | None = None,
        html: bool = False,
    ) -> None:
        self.is_file = isinstance(source, str | PathLike)
        self._source: Records | Path = (
            Path(source) if self.is_file else open_frame("documents", source) or source
        )
        self.path = self._source if isinstance(self._source, Path) else self._source.path
        self.on_error = on_error
        self.on_skip = on_skip
        self._id, self._text = id, [text] if isinstance(text, str) else text
        self._format: dict[str, Any] = {
            "quotes": quotes, "encoding": encoding, "sheet": sheet, "table": table, "query": query
        }  # fmt: skip
        self._keep, self._html = keep, html
        self._keeps_rows = on_error == "skip" and on_skip is not None
        self._survey: Survey | None = None

    def use_columns(self, columns: Mapping[str, Any] | None) -> bool:
        """Use the `columns` of an earlier job where none are named and the file has them.

        Returns whether that changed anything.
        """
        if not columns or columns == DEFAULT_COLUMNS or (self._id and self._text):
            return False
        there = {ROW_NUMBER, *(name.lower() for name in self._records.columns)}
        before = self.columns
        if not self._id and columns["id"].lower() in there:
            self._id = columns["id"]
        if not self._text and there.issuperset(name.lower() for name in columns["text"]):
            self._text = columns["text"]
        return self.columns != before

    @property
    def columns(self) -> dict[str, Any]:
        """Names of the columns of ids and texts."""
        texts = list(dict.fromkeys(self._text or self._guessed["text"]))
        return {"id": self._id or self._guessed["id"], "text": texts}

    @cached_property
    def _guessed(self) -> dict[str, Any]:
        """The usual columns; if the file lacks one, the column with such content."""
        found = dict(DEFAULT_COLUMNS)
        there = [name.lower() for name in self._records.columns]
        if not self._id and "id" not in there and (name := guess_id(self._records)):
            found["id"] = name
            warn_of_guess(self.name, f"ids are in {name!r}", "id")
        if not self._text and "text" not in there and (name := guess_text(self._records)):
            found["text"] = [name]
            warn_of_guess(self.name, f"texts are in {name!r}", "text")
        return found

    @property
    def kept(self) -> list[str]:
        """Further columns that `rows` gives."""
        return self._chosen[self._n_leading :]

    @property
    def _n_texts(self) -> int:
        return len(self.columns["text"])

    @property
    def _n_leading(self) -> int:
        """Number of columns of text and id; further columns follow."""
        return self._n_texts + (self.columns["id"] != ROW_NUMBER)

    @cached_property
    def _records(self) -> Records:
        if not isinstance(self._source, Path):
            return self._source
        if self.path.is_dir():
            return TextFolder(self.path)
        return open_records(self.path, **self._format)

    @cached_property
    def _chosen(self) -> list[str]:
        """Columns to read: texts, id, then those to keep."""
        id, keep = self.columns["id"], self._keep
        wanted = [(name, "Name the column with {text}") for name in self.columns["text"]]
        if id != ROW_NUMBER:
            wanted.append(
                (id, f"Name the column with {{id}}, or number the rows with {{id:{ROW_NUMBER}}}")
            )
        if EVERY_COLUMN in keep:
            there = self._records.columns
            keep = [name for name in there if name.lower() not in ("", id.lower())]
            keep = [name for name in keep if there.count(name) == 1]  # a repeated name is ambiguous
        wanted += [(name, "Name a column of the file with {keep}") for name in keep]
        found = choose_columns(self._records, wanted)
        return [*found[: self._n_leading], *dict.fromkeys(found[self._n_leading :])]

    def __len__(self) -> int:
        return self.survey().n_documents

    def __iter__(self) -> Iterator[Document]:
        return (document for document, _ in self.rows())

    def rows(self) -> Iterator[tuple[Document, list[Any]]]:
        """Documents, each with its values in the columns `kept`."""
        survey = self.survey()
        self.refuse_faults()
        for found in self._read(survey.repeated):
            if not isinstance(found, Fault):
                yield found

    def texts(self) -> Iterator[str]:
        """The texts alone, in order."""
        return (document.text for document in self)

    def survey(self, progress: Callable[[int], object] | None = None) -> Survey:
        """Read everything once and keep the result; `progress` gets the documents so far."""
        if self._survey is None:
            self._survey = self._take_survey(progress)
        return self._survey

    @property
    def name(self) -> str:
        """Name of the file, folder or object."""
        return self.path.name or self.path.resolve().name

    def read(self, listener: Listener) -> Survey:
        """Read everything once, with progress."""
        survey = self.survey(lambda done: listener(Step("Reading", done)))
        listener(Step("Reading", survey.n_documents, survey.n_documents))
        return survey

    def describe(self) -> str:
        """Name and size."""
        survey, name = self.survey(), self.name
        mean = survey.n_characters / max(survey.n_documents, 1)
        s = "" if survey.n_documents == 1 else "s"
        return f"{name}, {survey.n_documents:,} document{s}, {mean:,.0f} characters each on average"

    def refuse_faults(self) -> None:
        """Raise all faults unless they are skipped; raise if no document is left."""
        survey = self.survey()
        unit = self._records.unit
        if survey.faults and self.on_error == "stop":
            count = f"{len(survey.faults):,} {unit}{'s' if len(survey.faults) > 1 else ''}"
            advice = "Correct them, or leave them out with {on_error:skip}"
            survey.faults.refuse(CorpusError, f"{count} of {self.path}", advice)
        if survey.n_documents == 0:
            lost = f":{survey.faults.describe()}\n" if survey.faults else "."
            raise CorpusError(
                f"{self.path} has no document that can be used{lost}",
                "Check that {text} names the column of texts",
            )

    def _take_survey(self, progress: Callable[[int], object] | None) -> Survey:
        survey = Survey()
        hashes = array("q")
        for found in self._read(frozenset()):
            if isinstance(found, Fault):
                self._note(survey, found)
                continue
            document = found[0]
            survey.n_documents += 1
            survey.n_characters += len(document.text)
            hashes.append(hash(document.id))
            if len(survey.first_ids) < 3:
                survey.first_ids.append(document.id)
            if progress and survey.n_documents % EVERY == 0:
                progress(survey.n_documents)
        survey.hashes = values = np.sort(np.array(hashes, dtype=np.int64))
        survey.repeated = frozenset(values[1:][values[1:] == values[:-1]].tolist())
        if survey.repeated:  # rare: read again to find the ids and their lines
            survey.n_documents = survey.n_characters = 0
            for found in self._read(survey.repeated):
                if not isinstance(found, Fault):
                    survey.n_documents += 1
                    survey.n_characters += len(found[0].text)
                elif found.kind == REPEATED:
                    self._note(survey, found)
        return survey

    def _note(self, survey: Survey, fault: Fault) -> None:
        survey.faults.add(fault)
        if self.on_skip and self._keeps_rows:
            self.on_skip(fault)

    def _read(self, repeated: frozenset[int]) -> Iterator[tuple[Document, list[Any]] | Fault]:
        """Yield every row as a document or a fault; ids in `repeated` are compared in full."""
        name = self.path.name
        first_line: dict[str, int] = {}
        texts, leading = self._n_texts, self._n_leading
        for number, row in enumerate(self._records.rows(self._chosen), start=1):
            if isinstance(row, Fault):
                yield row
                continue
            line, values = row.line, row.values
            text = _joined(values[:texts])
            if self._html and text:
                text = strip_html(text)
            id = (as_text(values[texts]) or "").strip() if leading > texts else str(number)
            if text is None:
                wrong = next(value for value in values if as_text(value) is None)
                fault = "the text is not a string", describe(wrong)
            elif not id:
                fault = "no id", ""
            elif not text.strip():
                fault = "empty text", f"id {id!r}"
            elif hash(id) in repeated and first_line.setdefault(id, line) != line:
                place = f"{id!r} is already on {self._records.unit} {first_line[id]:,}"
                fault = REPEATED, place
            else:
                yield Document(id, text), values[leading:]
                continue
            whole = row.whole() if self._keeps_rows else ""
            yield Fault(row.file or name, 0 if row.file else line, *fault, whole)


def _joined(values: list[Any]) -> str | None:
    """The text of a row; None where a column has something else."""
    if len(values) == 1:
        return as_text(values[0])
    parts = [as_text(value) for value in values]
    if None in parts:
        return None
    return JOINT.join(part for part in parts if part and part.strip())
