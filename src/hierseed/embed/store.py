"""The vector store: its files, and how they are read as one memory-mapped matrix.

store.json          embedder, fingerprint, dimension, dtype, rows per shard; with its own checksum
vectors-00000.npy   rows, in the order of the corpus; each shard is a plain .npy
ids.jsonl           ["id", "hash of its text"] per row
journal.jsonl       one line per block that is safely on disk; other rows don't count
embedder/           what `load_embedder` needs to embed more text the same way

A journal line has the checksum of ids.jsonl and of every shard it wrote to, up to its last row, and
a checksum of its own that continues the one of the line before. A changed byte is therefore found
wherever it is.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from hierseed.errors import CorpusError, StoreDamagedError, StoreMismatchError
from hierseed.files import CHECKSUM, checked_object

FORMAT = 2
HEADER, JOURNAL, IDS = "store.json", "journal.jsonl", "ids.jsonl"
EMBEDDER, LOCK = "embedder", "lock"
NAMES = "embedder", "fingerprint", "dimension", "dtype", "shard_rows"  # in store.json
DTYPES = "float32", "float16"
PIECE = 1 << 22  # bytes read at a time for a checksum


class VectorStore:
    """Vectors on disk, indexed like an array: `X[a:b]`, `X[rows]`, `X[mask]`, `X[i]`.

    A shard is compared with its checksum before the first of its rows is given out; a damaged one
    raises `StoreDamagedError`.

    Attributes
    ----------
    shape, dtype, ndim : as of an array
    ids : the document id of each row
    embedder_name, fingerprint : what made the vectors
    corpus : SHA-256 over ids and texts, once complete; `complete` : False after an interruption
    """

    ndim = 2

    def __init__(self, folder: str | PathLike[str]) -> None:
        self.folder = Path(folder)
        self._header = read_header(self.folder)
        self._journal = read_journal(self.folder, self._header)
        self._shards: dict[int, NDArray[Any]] = {}
        self._opening = Lock()
        self.embedder_name = self._header.embedder
        self.fingerprint = self._header.fingerprint
        self.dtype: np.dtype[Any] = np.dtype(self._header.dtype)
        self.shape: tuple[int, int] = (self._journal.rows, self._header.dimension)
        self.corpus = self._journal.corpus
        self.shard_rows = self._header.shard_rows

    def __repr__(self) -> str:
        rows, columns = self.shape
        state = "" if self.complete else ", interrupted"
        return f"VectorStore({rows:,} x {columns} {self.dtype}, {self.embedder_name}{state})"

    def __len__(self) -> int:
        return self.shape[0]

    def __reduce__(self) -> tuple[type[VectorStore], tuple[Path]]:
        # Another process gets the address, not gigabytes of rows.
        return VectorStore, (self.folder.absolute(),)

    @property
    def complete(self) -> bool:
        """False while a run is under way or was interrupted; run it again to finish."""
        return bool(self.corpus)

    @cached_property
    def ids(self) -> list[str]:
        """Document ids, in row order."""
        return [line[0] for line in read_ids(self.folder, self.shape[0])]

    def check(self) -> None:
        """Compare every file with its checksum now; a damaged one raises `StoreDamagedError`."""
        _ = self.ids
        for number in range(-(-len(self) // self.shard_rows)):
            self._shard(number)

    def _shard(self, number: int) -> NDArray[Any]:
        """One shard, mapped; checked when it is used for the first time."""
        with self._opening:
            if number not in self._shards:
                rows = min(self.shard_rows, len(self) - number * self.shard_rows)
                digest = self._journal.shards.get(number, "")
                self._shards[number] = open_shard(self.folder, self._header, number, rows, digest)
            return self._shards[number]

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        if isinstance(rows, tuple):
            return self[rows[0]][(slice(None), *rows[1:])]
        if isinstance(rows, int | np.integer):
            return self._take(np.array([rows]))[0]
        if isinstance(rows, slice):
            start, stop, step = rows.indices(len(self))
            if step == 1:
                return self._span(start, max(start, stop))
            return self._take(np.arange(start, stop, step))
        return self._take(np.asarray(rows))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self[:], dtype=dtype)

    def _span(self, start: int, stop: int) -> NDArray[Any]:
        """Consecutive rows: a view if one shard holds them all."""
        parts = []
        while start < stop:
            shard, offset = divmod(start, self.shard_rows)
            end = min(stop, (shard + 1) * self.shard_rows)
            parts.append(self._shard(shard)[offset : offset + end - start])
            start = end
        if len(parts) == 1:
            return parts[0]
        return np.concatenate(parts) if parts else np.empty((0, self.shape[1]), self.dtype)

    def _take(self, rows: NDArray[Any]) -> NDArray[Any]:
        if rows.dtype == bool:
            if rows.shape != (len(self),):
                raise IndexError(f"a mask of shape {rows.shape} for a store of {len(self):,} rows")
            rows = np.flatnonzero(rows)
        rows = rows.astype(np.intp)
        wrong = rows[(rows < -len(self)) | (rows >= len(self))]
        if len(wrong):
            raise IndexError(f"row {wrong[0]} is outside a store of {len(self):,} rows")
        shard, offset = np.divmod(np.where(rows < 0, rows + len(self), rows), self.shard_rows)
        taken = np.empty((len(rows), self.shape[1]), self.dtype)
        for number in np.unique(shard):
            here = shard == number
            taken[here] = self._shard(int(number))[offset[here]]
        return taken


@dataclass(frozen=True)
class Header:
    """The content of store.json."""

    embedder: str
    fingerprint: str
    dimension: int
    dtype: str
    shard_rows: int
    checksum: str = ""

    def npy_header(self, rows: int) -> bytes:
        """The header of a shard with this many rows."""
        return npy_header(rows, self.dimension, self.dtype)

    @property
    def row_bytes(self) -> int:
        """Bytes of one vector."""
        return self.dimension * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class Journal:
    """State of a store: the last whole line of the journal, and the checksums up to it."""

    rows: int = 0
    ids_bytes: int = 0
    ids: str = hashlib.sha256().hexdigest()
    corpus: str = ""
    shards: dict[int, str] = field(default_factory=dict)
    size: int = 0  # bytes of the journal's whole lines
    checksum: str = ""  # of its last line


def shard_file(folder: Path, number: int) -> Path:
    """Path of one shard."""
    return folder / f"vectors-{number:05d}.npy"


def is_store(folder: str | PathLike[str]) -> bool:
    """True if the folder holds a store, finished or not."""
    return (Path(folder) / HEADER).is_file()


def read_header(folder: Path) -> Header:
    """Read store.json; a missing, damaged or foreign one is refused."""
    if not is_store(folder):
        raise CorpusError(
            f"no vector store at {str(folder)!r} (it has no {HEADER}). "
            f"Make one with: hierseed embed CORPUS -o {folder}"
        )
    content = (folder / HEADER).read_bytes()
    _refuse_other_format(folder, content)
    try:
        body = checked_object(content)
        header = Header(**{name: body[name] for name in NAMES}, checksum=body[CHECKSUM])
        if (
            not isinstance(header.embedder, str)
            or not isinstance(header.fingerprint, str)
            or header.dtype not in DTYPES
            or not _is_count(header.dimension)
            or not (_is_count(header.shard_rows) and header.shard_rows > 0)
        ):
            raise ValueError("it has values that no hierseed writes")
    except (ValueError, TypeError, KeyError) as fault:
        raise damaged(folder, HEADER, fault) from None
    return header


def _refuse_other_format(folder: Path, content: bytes) -> None:
    """Tell a store of another version from a damaged one: its checksum rules may differ."""
    try:
        found = json.loads(content)["format"]
    except (ValueError, TypeError, KeyError, RecursionError):
        return
    if isinstance(found, int) and found != FORMAT:
        raise StoreMismatchError(
            f"{str(folder)!r} has the store format {found}, this hierseed reads {FORMAT}. "
            "Embed again into a new folder, or use the hierseed that wrote it."
        )


def read_journal(folder: Path, header: Header) -> Journal:
    """Read the journal; a last line without its end was cut off while it was written."""
    state = Journal(checksum=header.checksum)
    if not (folder / JOURNAL).is_file():
        return state
    for line in (folder / JOURNAL).read_bytes().splitlines(keepends=True):
        if not line.endswith(b"\n"):
            break
        try:
            state = _next_state(state, line)
        except (ValueError, TypeError, KeyError) as fault:
            raise damaged(folder, JOURNAL, fault) from None
    return state


def _next_state(state: Journal, line: bytes) -> Journal:
    body = checked_object(line, before=state.checksum)
    shards = {int(number): str(digest) for number, digest in body["shards"].items()}
    if not _is_count(body["rows"]) or not _is_count(body["ids_bytes"]):
        raise ValueError("it has values that no hierseed writes")
    return Journal(
        rows=body["rows"],
        ids_bytes=body["ids_bytes"],
        ids=str(body["ids"]),
        corpus=str(body.get("corpus", "")),
        shards=state.shards | shards,
        size=state.size + len(line),
        checksum=body[CHECKSUM],
    )


def check_ids(folder: Path, journal: Journal) -> None:
    """Compare ids.jsonl with its checksum."""
    if journal.rows == 0:
        return
    try:
        with (folder / IDS).open("rb") as file:
            found = digest_of(file, journal.ids_bytes)
    except OSError as fault:
        raise damaged(folder, IDS, fault) from None
    if found != journal.ids:
        raise damaged(folder, IDS)


def read_ids(folder: Path, rows: int) -> Iterator[tuple[str, str]]:
    """Id and text hash of the first `rows` documents, one at a time, once they are checked."""
    if rows == 0:
        return
    check_ids(folder, read_journal(folder, read_header(folder)))
    with (folder / IDS).open(encoding="utf-8", newline="\n") as lines:
        for _, line in zip(range(rows), lines):
            document, text_hash = json.loads(line)
            yield document, text_hash


def open_shard(folder: Path, header: Header, number: int, rows: int, digest: str) -> NDArray[Any]:
    """Map the first `rows` rows of a shard, once its header and its checksum are right.

    A run that continues beside us may have added rows since the journal was read, so the file may
    be longer than `rows`.
    """
    path = shard_file(folder, number)
    try:
        with path.open("rb") as file:
            start = _check_npy_header(file, header, rows)
            found = digest_of(file, rows * header.row_bytes)
    except (OSError, ValueError) as fault:
        raise damaged(folder, path.name, fault) from None
    if found != digest:
        raise damaged(folder, path.name)
    shape = (rows, header.dimension)
    if not header.dimension:
        return np.empty(shape, header.dtype)
    return np.memmap(path, dtype=header.dtype, mode="r", offset=start, shape=shape)


def _check_npy_header(file: BinaryIO, header: Header, rows: int) -> int:
    """Compare the header of a shard with the one we would write; return where the rows begin."""
    start = file.read(len(header.npy_header(0)))
    shape = re.search(rb"'shape': \((\d+), \d+\)", start)
    claimed = int(shape[1][:20]) if shape else -1
    if claimed < rows or start != header.npy_header(claimed):
        raise ValueError("its header differs")
    return len(start)


def hash_text(text: str) -> str:
    """Hash by which the store recognises a text."""
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def npy_header(rows: int, columns: int, dtype: str) -> bytes:
    """The header of a .npy file; numpy leaves room, so it keeps its length as rows are added."""
    about = {
        "descr": npy.dtype_to_descr(np.dtype(dtype)),
        "fortran_order": False,
        "shape": (rows, columns),
    }
    buffer = io.BytesIO()
    npy.write_array_header_1_0(buffer, about)
    return buffer.getvalue()


def running_digest(file: BinaryIO, size: int) -> Any:
    """SHA-256 of the next `size` bytes, which more bytes can be added to."""
    digest = hashlib.sha256()
    while size > 0:
        piece = file.read(min(size, PIECE))
        if not piece:
            raise ValueError(f"{size:,} bytes are missing at its end")
        digest.update(piece)
        size -= len(piece)
    return digest


def digest_of(file: BinaryIO, size: int) -> str:
    """SHA-256 of the next `size` bytes; a file that ends before has another one."""
    try:
        return str(running_digest(file, size).hexdigest())
    except ValueError:
        return ""


def damaged(folder: Path, name: str, fault: Exception | None = None) -> StoreDamagedError:
    """Say which file of a store can't be trusted, and what to do."""
    reason = f" ({fault})" if fault else ": its checksum differs"
    return StoreDamagedError(
        f"{name} of the vector store {str(folder)!r} was changed or cut off after it was "
        f"written{reason}. Restore the folder from a copy, or delete it and embed again."
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62
