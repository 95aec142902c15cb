"""Records of runs on disk: one JSON line each, one file per data set; a run is done once."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from hierseed.io.atomic import atomic_file
from hierseed_bench.runs.config import Setting

try:
    import fcntl
except ImportError:  # Windows: one process at a time there
    fcntl = None  # type: ignore[assignment]

Record = dict[str, Any]


class Records:
    """A folder of `<data>.jsonl`. A line cut short by a kill is passed over and written again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __iter__(self) -> Iterator[Record]:
        for file in sorted(self.folder.glob("*.jsonl")):
            yield from _read(file)

    def keys(self) -> set[str]:
        """Return the keys of all runs that are done."""
        return {record["key"] for record in self}

    def add(self, record: Record) -> None:
        """Append one record, on the disk before this returns."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = self.folder / f"{_file_name(record['setting']['data'])}.jsonl"
        with _alone(self.folder), file.open("ab") as lines:
            if lines.tell() and not _ends_well(file):
                lines.write(b"\n")
            lines.write(json.dumps(record, allow_nan=False).encode() + b"\n")
            lines.flush()
            os.fsync(lines.fileno())

    def forget(self, keys: Iterable[str]) -> int:
        """Drop records, because they are to be made again; returns how many there were."""
        unwanted, dropped = set(keys), 0
        with _alone(self.folder):
            for file in sorted(self.folder.glob("*.jsonl")):
                records = list(_read(file))
                kept = [record for record in records if record["key"] not in unwanted]
                if len(kept) < len(records):
                    dropped += len(records) - len(kept)
                    with atomic_file(file) as partial:
                        partial.write_text("".join(json.dumps(record) + "\n" for record in kept))
        return dropped

    def find(self, **wanted: Any) -> list[Record]:
        """Records whose setting has these values, each key once, the latest."""
        latest: dict[str, Record] = {}
        for record in self:
            setting = Setting.from_dict(record["setting"])
            if all(_matches(getattr(setting, name), value) for name, value in wanted.items()):
                latest[record["key"]] = record
        return list(latest.values())


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold off other processes that write here, so that no record of theirs is lost."""
    if fcntl is None or not folder.is_dir():
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)  # lets go of the lock


def _matches(value: Any, wanted: Any) -> bool:
    return value in wanted if isinstance(wanted, set | list) else bool(value == wanted)


def _read(file: Path) -> Iterator[Record]:
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue  # cut short by a kill: the run counts as not done


def _ends_well(file: Path) -> bool:
    with file.open("rb") as lines:
        lines.seek(-1, os.SEEK_END)
        return lines.read(1) == b"\n"


def _file_name(data: str) -> str:
    """Turn a data set's name, or a path to one, into a file name."""
    return Path(data).name.replace(":", "_") or "data"
