"""A corpus on disk, read as a stream: checked once from end to end, then handed out in order."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import CorpusError
from hierseed.io.columns import choose_columns
from hierseed.io.faults import Fault, Faults
from hierseed.io.folder import TextFolder
from hierseed.io.records import Records, as_text, describe, open_records

ROW_NUMBER = "#"  # as the name of the id column: number the rows instead
EVERY_COLUMN = "*"  # as the name of a column to keep: all but the ids
BETWEEN = "\n\n"  # texts of several columns
REPEATED = "id stands twice"
EVERY = 20_000  # documents between two calls of `progress`


class Document(NamedTuple):
    """One text and the name it goes by."""

    id: str
    text: str


@dataclass
class Survey:
    """What one reading of the whole corpus told."""

    n_documents: int = 0
    n_characters: int = 0
    faults: Faults = field(default_factory=Faults)
    first_ids: list[str] = field(default_factory=list)
    hashes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # of all ids
    repeated: frozenset[int] = frozenset()  # hashes of ids that may stand twice

    def holds(self, id: str) -> bool:
        """False where no document has this id; told by hashes, so a slip is thinkable."""
        at = int(np.searchsorted(self.hashes, hash(id)))
        return at < len(self.hashes) and int(self.hashes[at]) == hash(id)


class Corpus:
    """Documents of a CSV, TSV, JSONL, Parquet or Excel file, or of a folder of .txt files.

    The first use reads the file once to find every fault; only then are documents
    handed out. Memory does not grow with the corpus beyond 8 bytes a document.

    Parameters
    ----------
    path : the file or folder
    id, text : names of the columns; `id="#"` numbers the rows from 1, and of several columns of
        text those that are filled are joined, in the order given, with a blank line between
    on_error : "stop" refuses a corpus with faults, all told at once; "skip" leaves rows out
    on_skip : called with each fault, so that the rows left out can be kept
    quotes : False where quotation marks in CSV or TSV are letters like any other
    keep : further columns that `rows` gives with each document; `"*"` is all but the ids
    """

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        id: str = "id",
        text: str | Sequence[str] = "text",
        on_error: Literal["stop", "skip"] = "stop",
        on_skip: Callable[[Fault], object] | None = None,
        quotes: bool = True,
        keep: Sequence[str] = (),
    ) -> None:
        self.path = Path(path)
        self.on_error = on_error
        self.on_skip = on_skip
        self._keeps_rows = on_error == "skip" and on_skip is not None
        self._records = _open(self.path, quotes)
        texts = [text] if isinstance(text, str) else dict.fromkeys(text)
        wanted = [(name, "Name the column with --text") for name in texts]
        self._texts = len(wanted)
        if id != ROW_NUMBER:
            advice = f"Name the column with --id, or number the rows with --id '{ROW_NUMBER}'"
            wanted.append((id, advice))
        self._own = len(wanted)
        if EVERY_COLUMN in keep:
            there = self._records.columns
            keep = [name for name in there if name.lower() not in ("", id.lower())]
            keep = [name for name in keep if there.count(name) == 1]  # of twins none is meant
        wanted += [(name, "Name a column that is there with --keep") for name in keep]
        self._columns = choose_columns(self._records, wanted)
        self.kept = list(dict.fromkeys(self._columns[self._own :]))
        self._columns[self._own :] = self.kept
        self._survey: Survey | None = None

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

    def batches(self, size: int) -> Iterator[list[Document]]:
        """Documents in lists of `size`, the last one shorter."""
        documents = iter(self)
        while batch := list(islice(documents, size)):
            yield batch

    def texts(self) -> Iterator[str]:
        """The texts alone, in order."""
        return (document.text for document in self)

    def survey(self, progress: Callable[[int], object] | None = None) -> Survey:
        """Read everything once; the answer is kept. `progress` is told the documents so far."""
        if self._survey is None:
            self._survey = self._take_survey(progress)
        return self._survey

    def describe(self) -> str:
        """Name and size."""
        survey, name = self.survey(), self.path.name or self.path.resolve().name
        mean = survey.n_characters / max(survey.n_documents, 1)
        s = "" if survey.n_documents == 1 else "s"
        return f"{name}, {survey.n_documents:,} document{s}, {mean:,.0f} letters each on average"

    def refuse_faults(self) -> None:
        """Raise with all faults where they are not to be skipped, or nothing is left."""
        survey = self.survey()
        unit = self._records.unit
        if survey.faults and self.on_error == "stop":
            count = f"{len(survey.faults):,} {unit}{'s' if len(survey.faults) > 1 else ''}"
            raise CorpusError(
                f"{count} of {self.path} can't be used:{survey.faults.describe()}\n"
                "Mend them, or leave them out with --on-error skip"
            )
        if survey.n_documents == 0:
            lost = f":{survey.faults.describe()}" if survey.faults else ""
            raise CorpusError(f"{self.path} has no document that can be used{lost}")

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
        if survey.repeated:  # rare: read again to see which ids they are, and where
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
        """Every row as a document or a fault; ids that may repeat are compared in full."""
        name = self.path.name
        first_seen: dict[str, int] = {}
        for number, row in enumerate(self._records.rows(self._columns), start=1):
            if isinstance(row, Fault):
                yield row
                continue
            line, values = row.line, row.values
            text = self._text(values)
            own_id = self._own > self._texts
            id = (as_text(values[self._texts]) or "").strip() if own_id else str(number)
            if text is None:
                wrong = next(value for value in values if as_text(value) is None)
                fault = "the text is no text", describe(wrong)
            elif not id:
                fault = "no id", ""
            elif not text.strip():
                fault = "empty text", f"id {id!r}"
            elif hash(id) in repeated and first_seen.setdefault(id, line) != line:
                place = f"{id!r} stands on {self._records.unit} {first_seen[id]:,} already"
                fault = REPEATED, place
            else:
                yield Document(id, text), values[self._own :]
                continue
            whole = row.whole() if self._keeps_rows else ""
            yield Fault(row.file or name, 0 if row.file else line, *fault, whole)

    def _text(self, values: list[Any]) -> str | None:
        """The text of a row; None where a column has something else."""
        if self._texts == 1:
            return as_text(values[0])
        parts = [as_text(value) for value in values[: self._texts]]
        if None in parts:
            return None
        return BETWEEN.join(part for part in parts if part and part.strip())


def columns_of(path: str | PathLike[str], quotes: bool = True) -> list[str]:
    """Name the columns of a file or folder."""
    return _open(Path(path), quotes).columns


def _open(path: Path, quotes: bool) -> Records:
    return TextFolder(path) if path.is_dir() else open_records(path, quotes=quotes)
