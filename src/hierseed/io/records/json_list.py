"""JSON: a list of objects, or an object that holds one such list."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from hierseed.errors import CorpusError
from hierseed.io.faults import Fault
from hierseed.io.records.json_values import column_names, value_of
from hierseed.io.records.lines import is_wide, open_bytes
from hierseed.io.records.row import Row

LARGEST = 1 << 30  # bytes: the whole file is in memory


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
