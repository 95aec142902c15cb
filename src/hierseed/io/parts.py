"""A table as a folder of Parquet parts; writing can be stopped at any time and resumed.

part-00000.parquet   a fixed number of documents; appears under its name when it is complete
_manifest.json       the job, and of every part its documents, rows, checksums and counts

The manifest has its own checksum and is rewritten after each part. A part that it does not name is
incomplete. Programs that read a folder of Parquet files ignore names that begin with an underscore
or a dot.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hierseed.assignments import Names
from hierseed.embed.store_writer import take_lock
from hierseed.errors import CorpusError
from hierseed.files import atomic_file, checked_object, file_sha256, with_checksum
from hierseed.io.documents import Tally
from hierseed.io.tables import ParquetTable

if TYPE_CHECKING:
    import pandas as pd

FORMAT = "hierseed-parts"
MANIFEST, LOCK = "_manifest.json", ".lock"
ROWS = 1 << 18  # documents of a part with known vectors: a shard of a vector store
TEXTS = 1 << 15  # documents of a part that must be embedded: a kill costs at most these
NAME = re.compile(r"part-\d{5,}\.parquet")

Entry = dict[str, Any]  # of a part: documents, rows, input, sha256 and counts


def part_file(folder: Path, number: int) -> Path:
    """Path of a part."""
    return folder / f"part-{number:05d}.parquet"


class Parts:
    """The manifest of a folder that is being written; see `open_parts`."""

    def __init__(self, folder: Path, job: dict[str, Any], entries: dict[int, Entry]) -> None:
        self.folder, self._job, self.entries = folder, job, entries

    def add(self, number: int, entry: Entry) -> None:
        """Note a part that is complete."""
        if self.entries.get(number) != entry:
            self.entries[number] = entry
            self.write()

    def finish(self, parts: int) -> None:
        """Note that these are all parts."""
        if beyond := [number for number in self.entries if number >= parts]:
            raise other_documents(part_file(self.folder, beyond[0]))
        self.write(complete=True)

    def write(self, complete: bool = False) -> None:
        """Write the manifest."""
        files = {
            part_file(self.folder, number).name: self.entries[number]
            for number in sorted(self.entries)
        }
        body = {"format": FORMAT, "job": self._job, "complete": complete, "parts": files}
        with atomic_file(self.folder / MANIFEST) as partial:
            text = json.dumps(with_checksum(body), indent=1) + "\n"
            partial.write_text(text, encoding="utf-8", newline="\n")


def check_parts(folder: Path, overwrite: bool) -> None:
    """Raise if a folder can't be written to, before the long step."""
    if not folder.parent.is_dir():
        raise FileNotFoundError(2, "its folder does not exist; make it first", str(folder))
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(20, "a file has this name; name another folder", str(folder))
    is_ours = overwrite or (folder / MANIFEST).is_file()
    if not is_ours and folder.is_dir() and {path.name for path in folder.iterdir()} - {LOCK}:
        reason = "the folder holds other files; name a new one"
        raise FileExistsError(17, reason, str(folder))


@contextlib.contextmanager
def open_parts(folder: Path, job: dict[str, Any], overwrite: bool = False) -> Iterator[Parts]:
    """Open a folder of parts, new or started by the same job; others are refused.

    `job` identifies the table: the model and the options. `overwrite` starts again.
    """
    job = json.loads(json.dumps(job))
    check_parts(folder, overwrite)
    folder.mkdir(exist_ok=True)
    with contextlib.closing(take_lock(folder, LOCK, "the table")):
        entries = {} if overwrite else _entries(folder, job)
        parts = Parts(folder, job, entries)
        parts.write()
        ours = {part_file(folder, number).name for number in entries}
        for path in folder.iterdir():  # incomplete parts, or parts to replace
            if NAME.fullmatch(path.name) and path.name not in ours:
                path.unlink()
        yield parts
        with contextlib.suppress(OSError):  # Windows does not delete what is open
            (folder / LOCK).unlink()


def _entries(folder: Path, job: dict[str, Any]) -> dict[int, Entry]:
    """Parts that the manifest names."""
    file = folder / MANIFEST
    if not file.is_file():
        return {}
    try:
        body = checked_object(file.read_bytes())
        found, parts = body["job"], body["parts"]
        entries = {int(re.sub(r"\D", "", name)): dict(entry) for name, entry in parts.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as fault:
        raise CorpusError(
            f"{file} was changed or cut off after it was written ({fault}).",
            "Name another folder, or write the table again with {overwrite:True}",
        ) from None
    if found != job:
        differ = ", ".join(
            sorted(name for name in {*found, *job} if found.get(name) != job.get(name))
        )
        raise CorpusError(
            f"{folder} holds a table made with other settings ({differ}).",
            "Name another folder, or replace the table with {overwrite:True}",
        )
    return entries


def check_part(file: Path, known: Entry, read: str) -> Entry:
    """Return the entry of a part; refuse one that was changed, or has other documents."""
    if known["input"] != read:
        raise other_documents(file)
    if not file.is_file() or file_sha256(file) != known["sha256"]:
        raise CorpusError(
            f"{file} was changed after hierseed wrote it: it may hold corrections.",
            "Name another folder, or replace the table with {overwrite:True}",
        )
    return known


def other_documents(file: Path) -> CorpusError:
    """The error for a part with other documents."""
    return CorpusError(
        f"{file} was written for other documents.",
        "Name another folder, or replace the table with {overwrite:True}",
    )


class ParquetPart:
    """A part being written; it appears under its name when the block ends without error."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._open = contextlib.ExitStack()
        self._writer: Any = None
        self.sha256 = ""

    def __enter__(self) -> Self:
        self._partial = self._open.enter_context(atomic_file(self._file))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if self._writer is not None:
            self._writer.close()
        if fault is None:
            self.sha256 = file_sha256(self._partial)
        self._open.__exit__(kind, fault, where)

    def write(self, columns: dict[str, Any]) -> int:
        """Append rows; return their number."""
        import pyarrow as pa
        from pyarrow import parquet

        table = pa.table({name: _arrow(column) for name, column in columns.items()})
        if self._writer is None:
            # without Arrow's own schema, columns of names are read as texts and not as categories
            self._writer = parquet.ParquetWriter(self._partial, table.schema, store_schema=False)
        self._writer.write_table(table)
        return int(table.num_rows)

    def write_frame(self, frame: pd.DataFrame) -> None:
        """Append rows of a frame."""
        if self._writer is None:
            self._writer = ParquetTable(self._partial)
        self._writer.write(frame)

    def entry(self, read: str, counts: Tally) -> Entry:
        """The entry of the part in the manifest."""
        return {"input": read, "sha256": self.sha256, "counts": counts}


def _arrow(column: Any) -> Any:
    """A column for Parquet; names as numbers in a dictionary, without a Python object a row."""
    import pyarrow as pa

    if not isinstance(column, Names):
        values = np.asarray(column)
        return pa.array(values, type=pa.string() if values.dtype.kind in "UO" else None)
    last = len(column.names) - 1
    codes = np.where(column.code < 0, last, column.code).astype(np.int32)
    return pa.DictionaryArray.from_arrays(codes, pa.array(column.names, type=pa.string()))
