"""JSONL: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path

from hierseed.errors import CorpusError
from hierseed.io.faults import Fault
from hierseed.io.records.json_values import column_names, value_of
from hierseed.io.records.lines import LIMIT, Line, read_lines
from hierseed.io.records.row import Row


class JsonLinesFile:
    """A file of one JSON object a line, plain or gzip; blank lines are passed over."""

    unit = "line"

    def __init__(self, path: Path, *, encoding: str = "utf-8", limit: int = LIMIT) -> None:
        self.path = path
        self.limit = limit
        self.encoding = encoding

    @cached_property
    def columns(self) -> list[str]:
        """The keys of the first objects; those of nested objects have dots."""
        names = column_names(item[1] for item in self._objects() if not isinstance(item, Fault))
        if names:
            return names
        raise CorpusError(f"no line of {self.path} is a JSON object. Write one object on each line")

    def rows(self, names: Sequence[str]) -> Iterator[Row | Fault]:
        """Yield the values under the named keys, None where an object lacks one."""
        for item in self._objects():
            if isinstance(item, Fault):
                yield item
            else:
                line, values = item
                picked = [value_of(values, name) for name in names]
                yield Row(line.number, picked, partial(line.text.rstrip, "\r\n"))

    def _objects(self) -> Iterator[tuple[Line, dict[str, object]] | Fault]:
        for line in read_lines(self.path, self.limit, self.encoding):
            if line.fault:
                yield self._fault(line, *line.fault)
                continue
            if line.text.isspace():
                continue
            try:
                value = json.loads(line.text)
            except json.JSONDecodeError as error:
                yield self._fault(line, "broken JSON", f"{error.msg} at position {error.pos + 1}")
                continue
            except (ValueError, RecursionError) as error:  # a number too long, or nested too deep
                yield self._fault(line, "broken JSON", str(error))
                continue
            if isinstance(value, dict):
                yield line, value
            else:
                yield self._fault(line, "not a JSON object", f"a {type(value).__name__}")

    def _fault(self, line: Line, kind: str, detail: str) -> Fault:
        return Fault(self.path.name, line.number, kind, detail, line.text.rstrip("\r\n"))
