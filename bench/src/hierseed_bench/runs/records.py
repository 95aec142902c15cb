"""Records of runs on disk: one JSON line each, one file per data set, no key twice."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from hierseed.files import LOCKS_ANYTHING, atomic_file, lock
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.environment import committed_digest
from hierseed_bench.runs.predictions import Predictions, keep_predictions, predictions_file

Record = dict[str, Any]


class Records:
    """A folder of `<data>.jsonl`. A line cut short by a kill is skipped and written again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __iter__(self) -> Iterator[Record]:
        for file in sorted(self.folder.glob("*.jsonl")):
            yield from _read(file)

    def __contains__(self, key: str) -> bool:
        return any(record["key"] == key for record in self)

    def keys(self) -> set[str]:
        """Return the keys of all runs that are done."""
        return {record["key"] for record in self}

    def checkable_keys(self) -> set[str]:
        """Return the keys of runs from a clean commit whose predictions are kept."""
        return {r["key"] for r in self if is_clean(r) and self.has_predictions(r)}

    def add(self, record: Record, predictions: Predictions | None = None) -> None:
        """Append one record, on the disk before this returns, with its predictions.

        A key that the file has already is not added again.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        name = _file_name(record["setting"]["data"])
        file = self.folder / f"{name}.jsonl"
        with _alone(self.folder), file.open("ab") as lines:
            if any(known["key"] == record["key"] for known in _read(file)):
                return
            if predictions is not None:
                place = predictions_file(self.folder, name, record["key"])
                keep_predictions(place, predictions.to_bytes())
            if lines.tell() and not _ends_well(file):
                lines.write(b"\n")
            lines.write(json.dumps(record, allow_nan=False).encode() + b"\n")
            lines.flush()
            os.fsync(lines.fileno())

    def of(self, runs: Iterable[Any]) -> list[Record]:
        """Return the records of some runs."""
        wanted = {run.key for run in runs}
        return [record for record in self if record["key"] in wanted]

    def forget(self, keys: Iterable[str]) -> int:
        """Drop records, because they are to be made again; returns how many there were."""
        unwanted, dropped = set(keys), 0
        with _alone(self.folder):
            for file in sorted(self.folder.glob("*.jsonl")):
                records = list(_read(file))
                kept = [record for record in records if record["key"] not in unwanted]
                for record in records:
                    if record["key"] in unwanted:
                        place = predictions_file(self.folder, file.stem, record["key"])
                        place.unlink(missing_ok=True)
                if len(kept) < len(records):
                    dropped += len(records) - len(kept)
                    with atomic_file(file) as partial:
                        partial.write_text(
                            "".join(json.dumps(record) + "\n" for record in kept),
                            encoding="utf-8",
                            newline="\n",
                        )
        return dropped

    def take_over(self, other: Records) -> tuple[int, list[str]]:
        """Replace records by those made on another machine.

        Returns how many were taken, and why others were not: the source that made a record must be
        that of the commit that it names.
        """
        found, digests, refused = list(other), {}, []
        for name in {record["commit"] for record in found}:
            digests[name] = committed_digest(name) if name else ""
        right = [r for r in found if r.get("source", "") == digests[r["commit"]] != ""]
        for name in sorted({r["commit"] for r in found} - {r["commit"] for r in right}):
            refused.append(f"records of {name or 'no commit'}: other source than that commit has")
        self.forget(record["key"] for record in right)
        for record in right:
            kept = other.predictions(record) if other.has_predictions(record) else None
            self.add(record, kept)
        return len(right), refused

    def has_predictions(self, record: Record) -> bool:
        """Whether predictions were kept with a record."""
        name = _file_name(record["setting"]["data"])
        return predictions_file(self.folder, name, record["key"]).is_file()

    def predictions(self, record: Record) -> Predictions:
        """Read the predictions that were kept with a record."""
        name = _file_name(record["setting"]["data"])
        return Predictions.from_file(predictions_file(self.folder, name, record["key"]))

    def find(self, **wanted: Any) -> list[Record]:
        """Records whose setting has these values, each key once, the latest."""
        latest: dict[str, Record] = {}
        for record in self:
            setting = RunConfig.from_dict(record["setting"])
            if all(_matches(getattr(setting, name), value) for name, value in wanted.items()):
                latest[record["key"]] = record
        return list(latest.values())


def is_clean(record: Record) -> bool:
    """Whether a record names a commit that holds the code that made it."""
    commit = str(record["commit"])
    return bool(commit) and not commit.endswith("+")


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock the folder, so that no record of another process is lost."""
    if not LOCKS_ANYTHING or not folder.is_dir():
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        lock(handle, wait=True)
        yield
    finally:
        os.close(handle)  # releases the lock


@contextlib.contextmanager
def claimed(folder: Path, key: str) -> Iterator[bool]:
    """Claim a run; False where another process is making it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{key}.lock").open("wb") as file:
        try:
            lock(file.fileno())
        except BlockingIOError:
            yield False
        else:
            yield True
            with contextlib.suppress(PermissionError):  # Windows deletes no file that is open
                Path(file.name).unlink(missing_ok=True)


def _matches(value: Any, wanted: Any) -> bool:
    return value in wanted if isinstance(wanted, set | list) else bool(value == wanted)


def _read(file: Path) -> Iterator[Record]:
    status = file.stat()
    yield from _parsed(file, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=16)  # tables ask for the same files again and again
def _parsed(file: Path, changed: int, size: int) -> tuple[Record, ...]:
    records = []
    for line in file.read_text(encoding="utf-8").splitlines():
        # a line cut short by a kill is skipped: the run counts as not done
        with contextlib.suppress(json.JSONDecodeError):
            records.append(json.loads(line))
    return tuple(records)


def _ends_well(file: Path) -> bool:
    with file.open("rb") as lines:
        lines.seek(-1, os.SEEK_END)
        return lines.read(1) == b"\n"


def _file_name(data: str) -> str:
    """Turn a data set's name, or a path to one, into a file name."""
    return Path(data).name.replace(":", "_") or "data"
