"""JSON: one object a line, a list of objects, or an object that holds one such list.

A dotted name such as `user.name` looks into nested objects.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import islice
from pathlib import Path
from typing import Any

from hierseed.errors import CorpusError
from hierseed.io.records.rows import LIMIT, Fault, Line, Row, is_wide, open_bytes, read_lines

LOOKED_AT = 100  # objects whose keys are the columns: later ones seldom have more
DEEPEST = 5  # levels of nested objects whose keys are columns
LARGEST = 1 << 30  # bytes: the whole file is in memory


def column_names(objects: Iterable[Mapping[str, Any]]) -> list[str]:
    """Keys of the first objects, those of nested objects with dots."""
    names: dict[str, None] = {}
    for one in islice(objects, LOOKED_AT):
        names.update(dict.fromkeys(_names(one)))
    return list(names)


def _names(one: Mapping[str, Any], before: str = "", depth: int = 1) -> Iterator[str]:
    for key, value in one.items():
        yield f"{before}{key}"
        if isinstance(value, dict) and depth < DEEPEST:
            yield from _names(value, f"{before}{key}.", depth + 1)


def value_of(one: Mapping[str, Any], name: str) -> Any:
    """The value under a name, None if there is none; a key with a dot in it comes first."""
    if name in one:
        return one[name]
    first, dot, rest = name.partition(".")
    while dot:
        inner = one.get(first)
        if isinstance(inner, dict) and (found := value_of(inner, rest)) is not None:
            return found
        key, dot, rest = rest.partition(".")
        first = f"{first}.{key}"
    return None


class JsonFile:
    """A .json file, plain or gzip; records are numbered like lines."""

    unit = "record"

    def __init__(self, path: Path, *, encoding: str = "utf-8") -> None:
        self.path = path
        self.encoding = encoding

    @cached_property
    def columns(self) -> list[str]:
        """The keys of the first objects."""
        return column_names(one for one in self._records if isinstance(one, dict))

    def rows(self, names: Sequence[str]) -> Iterator[Row | Fault]:
        """Yield the values under the named keys, None where an object lacks one."""
        for number, one in enumerate(self._records, start=1):
            if isinstance(one, dict):
                picked = [value_of(one, name) for name in names]
                yield Row(number, picked, partial(json.dumps, one, ensure_ascii=False))
            else:
                detail = f"a {type(one).__name__}"
                yield Fault(self.path.name, number, "not a JSON object", detail, json.dumps(one))

    @cached_property
    def _records(self) -> list[Any]:
        with open_bytes(self.path) as file:
            try:
                content = file.read(LARGEST + 1)
            except (EOFError, OSError) as fault:
                if isinstance(fault, OSError) and fault.errno:
                    raise
                raise CorpusError(f"{self.path} is a damaged gzip file: {fault}") from None
        if len(content) > LARGEST:
            raise CorpusError(
                f"{self.path} has more than {LARGEST >> 30} GB, which is too much to read at once. "
                "Convert it to JSONL: one object on each line"
            )
        return self._list_in(self._parse(content))

    def _parse(self, content: bytes) -> Any:
        try:
            text = content.decode(self.encoding if is_wide(self.encoding) else "utf-8-sig")
        except UnicodeDecodeError:
            text = content.decode(self.encoding, "replace")
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as fault:
            advice = ". Lines of objects are JSONL: give the name the ending .jsonl"
            several = "Extra data" in str(fault)
            raise CorpusError(
                f"{self.path} is no JSON ({fault}){advice if several else ''}"
            ) from None

    def _list_in(self, value: Any) -> list[Any]:
        """The list of records: the value itself, or the only list of objects in it."""
        lists = [value] if isinstance(value, list) else []
        if isinstance(value, dict):
            lists = [
                one for one in value.values()
                if isinstance(one, list) and any(isinstance(item, dict) for item in one)
            ]  # fmt: skip
        if len(lists) != 1 or not any(isinstance(item, dict) for item in lists[0]):
            raise CorpusError(
                f'{self.path} holds no list of objects. Write [{{"id": …, "text": …}}, …], or '
                "JSONL: one object on each line"
            )
        found: list[Any] = lists[0]
        return found


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
