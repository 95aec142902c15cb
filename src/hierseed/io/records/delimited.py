"""CSV and TSV, row by row; a quote that is never closed costs its own row and no other."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from hierseed.errors import CorpusError
from hierseed.io.records.rows import ADVICE, LIMIT, Fault, Line, Row, read_lines

DELIMITERS = ",;\t|"


class DelimitedFile:
    """A CSV or TSV file whose first row names the columns.

    Parameters
    ----------
    path : the file, plain or gzip
    encoding : of lines that are not UTF-8
    quotes : False where a quotation mark is a letter like any other (many TSV files)
    """

    unit = "line"

    def __init__(
        self, path: Path, *, quotes: bool = True, encoding: str = "utf-8", limit: int = LIMIT
    ) -> None:
        self.path = path
        self.limit = limit
        self.encoding = encoding
        self.quotes = quotes
        self.delimiter, self.columns = self._read_header()

    def rows(self, names: Sequence[str]) -> Iterator[Row | Fault]:
        """Yield the values of the named columns, or the fault of a row that has none."""
        wanted = [self.columns.index(name) for name in names]
        width = len(self.columns)
        records = self._records(self.delimiter)
        next(records)  # the names of the columns
        for record in records:
            if isinstance(record, Fault):
                yield record
                continue
            lines, values = record
            if not any(map(str.strip, values)):  # spreadsheets end with rows of bare delimiters
                continue
            if len(values) == width:
                picked = [values[i] for i in wanted]
                yield Row(lines[0].number, picked, partial(_joined, lines))
            else:
                detail = f"{len(values)} fields, the first row has {width}"
                yield self._fault(lines, "wrong number of fields", detail)

    def _read_header(self) -> tuple[str, list[str]]:
        best: tuple[str, list[str]] = (",", [])
        fault: Fault | None = None
        tried = "\t" if ".tsv" in self.path.suffixes or ".tab" in self.path.suffixes else DELIMITERS
        for delimiter in tried:
            first = next(self._records(delimiter), None)
            if first is None:
                raise CorpusError(f"{self.path} is empty. Its first row should name the columns")
            if isinstance(first, Fault):  # perhaps of the delimiter; another may do
                fault = fault or first
                continue
            names = [name.strip() for name in first[1]]
            if len(names) > len(best[1]):
                best = delimiter, names
        if not best[1]:
            advice = ADVICE.get(fault.kind, "") if fault else ""
            raise CorpusError(f"the row of column names can't be read. {fault}", advice)
        return best

    def _records(self, delimiter: str) -> Iterator[tuple[list[Line], list[str]] | Fault]:
        csv.field_size_limit(max(csv.field_size_limit(), self.limit + 1))
        feed = _Feed(read_lines(self.path, self.limit, self.encoding), self.limit)
        reader = self._reader(feed, delimiter)
        while True:
            feed.begin()
            try:
                values = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield self._broken(feed, delimiter, str(error))
                feed.retry_after_first()
                reader = self._reader(feed, delimiter)  # the old one is stuck inside the quote
                continue
            fault = next((line.fault for line in feed.taken if line.fault), None)
            if fault:
                yield self._fault(feed.taken, *fault)
            elif values:  # a blank line has none
                yield feed.taken, values

    def _reader(self, feed: _Feed, delimiter: str) -> Iterator[list[str]]:
        if self.quotes:
            return csv.reader(feed, delimiter=delimiter, strict=True)
        return csv.reader(feed, delimiter=delimiter, strict=True, quoting=csv.QUOTE_NONE)

    def _broken(self, feed: _Feed, delimiter: str, error: str) -> Fault:
        first = feed.taken[:1]  # the others are read again, as rows of their own
        fault = next((line.fault for line in feed.taken if line.fault), None)
        opened = _quote_opened(feed.taken, delimiter)
        if fault:
            return self._fault(first, *fault)
        if opened is None:
            bare = "a carriage return outside quotes; end lines with \\n or \\r\\n"
            return self._fault(first, "broken row", bare if "new-line" in error else error)
        advice = "close it, and write a quote inside quotes twice"
        if feed.size > self.limit:
            advice = f"the row is longer than {self.limit:,} characters"
        return self._fault(first, "unclosed quote", f"opened on line {opened:,}; {advice}")

    def _fault(self, lines: Sequence[Line], kind: str, detail: str) -> Fault:
        return Fault(self.path.name, lines[0].number, kind, detail, _joined(lines))


class _Feed:
    """Hands lines to `csv.reader`, and remembers those of the row being read."""

    def __init__(self, lines: Iterator[Line], limit: int) -> None:
        self.lines = lines
        self.limit = limit
        self.waiting: deque[Line] = deque()  # lines to be read again
        self.taken: list[Line] = []
        self.size = 0

    def begin(self) -> None:
        self.taken = []
        self.size = 0

    def __iter__(self) -> _Feed:
        return self

    def __next__(self) -> str:
        line = self.waiting.popleft() if self.waiting else next(self.lines)
        self.taken.append(line)
        self.size += len(line.text)
        if self.size > self.limit or (line.fault and line.fault[0] == "line too long"):
            raise csv.Error("the row is too long")
        return line.text

    def retry_after_first(self) -> None:
        self.waiting.extendleft(reversed(self.taken[1:]))


def _joined(lines: Sequence[Line]) -> str:
    return "".join(line.text for line in lines).rstrip("\r\n")


def _quote_opened(lines: Sequence[Line], delimiter: str) -> int | None:
    """Return the line with the quote that is closed nowhere, or in the middle of a field."""
    opened: int | None = None
    for number, text, _ in lines:
        spot = text.find('"')
        while spot >= 0:
            after = text[spot + 1 : spot + 2]
            if opened is None:
                if spot == 0 or text[spot - 1] == delimiter:
                    opened = number
            elif after == '"':
                spot += 1
            elif after in ("", delimiter, "\r", "\n"):
                opened = None
            else:
                return opened
            spot = text.find('"', spot + 1)
    return opened
