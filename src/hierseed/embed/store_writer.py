"""The vector store, writing side: a block counts once the journal names it.

Rows, the shard's header and ids of all blocks that are waiting are written and forced to disk;
then one journal line for each block, forced to disk together. A kill at any point leaves whole
blocks and perhaps a tail that no journal line names; opening the store again cuts that tail off.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Self

import numpy as np

from hierseed.embed.choose import save_embedder
from hierseed.embed.embedder import Embedder, Vectors
from hierseed.embed.store import (
    DTYPES,
    EMBEDDER,
    FORMAT,
    HEADER,
    IDS,
    JOURNAL,
    LOCK,
    Header,
    Journal,
    damaged,
    is_store,
    read_header,
    read_journal,
    running_digest,
    shard_file,
)
from hierseed.errors import CorpusError, EmbeddingError, StoreInUseError, StoreMismatchError
from hierseed.files import CHECKSUM, lock, with_checksum

SHARD_ROWS = 1 << 18
MOST_WAITING = 32  # blocks in memory that are not yet written


class StoreWriter:
    """Appends blocks of rows in a thread of its own, so that the next block embeds meanwhile."""

    def __init__(
        self,
        folder: str | PathLike[str],
        embedder: Embedder,
        dtype: str | None = None,
        shard_rows: int = SHARD_ROWS,
    ) -> None:
        self.folder = Path(folder)
        if not is_store(self.folder):
            _create(self.folder, embedder, dtype or "float32", shard_rows)
        self.header = read_header(self.folder)
        _refuse_other(self.folder, self.header, embedder, dtype)
        self._lock = take_lock(self.folder)
        try:
            journal = read_journal(self.folder, self.header)
            self.rows = journal.rows
            self._cut_tail(journal)
            self._chain = journal.checksum
            self._corpus = journal.corpus
            self._shard: tuple[int, BinaryIO, Any] | None = None  # number, file, digest
            self._resume(journal)
        except BaseException:
            self._lock.close()
            raise
        self._ids = (self.folder / IDS).open("ab")
        self._journal = (self.folder / JOURNAL).open("ab")
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hierseed-store")
        self._pending: Future[None] | None = None
        self._waiting: list[tuple[list[str], list[str], Vectors]] = []
        self._guard = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()
        if self._shard is not None:
            self._shard[1].close()
        for file in (self._ids, self._journal, self._lock):
            file.close()

    def append(self, ids: Sequence[str], hashes: Sequence[str], vectors: Vectors) -> None:
        """Hand a block over; waits only where many are waiting to be written."""
        if vectors.shape != (len(ids), self.header.dimension):
            raise EmbeddingError(
                f"vectors of shape {vectors.shape} for {len(ids):,} documents in a store of "
                f"dimension {self.header.dimension}. The embedder gives another dimension than "
                "before; embed again."
            )
        if len(self._waiting) + 1 >= MOST_WAITING:
            self._settle()
        with self._guard:
            self._waiting.append((list(ids), list(hashes), vectors))
        if self._pending is None or self._pending.done():
            self._settle()
            self._pending = self._thread.submit(self._drain)

    def finish(self) -> None:
        """Wait for the last block and mark the store complete, with the corpus' hash."""
        self._settle()
        self._drain()
        corpus = self._ids_digest.hexdigest()
        if self._corpus != corpus:
            self._note([self._body({}) | {"corpus": corpus}])

    def _settle(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    def _drain(self) -> None:
        """Write all blocks that are waiting, together: forcing files to disk takes longest."""
        while True:
            with self._guard:
                blocks, self._waiting = self._waiting, []
            if not blocks:
                return
            bodies = [self._write(*block) for block in blocks]
            if self._shard is not None:
                _force(self._shard[1])
            _force(self._ids)
            self._note(bodies)

    def _write(self, ids: list[str], hashes: list[str], vectors: Vectors) -> dict[str, Any]:
        """Write a block; return its line for the journal."""
        rows = vectors.astype(self.header.dtype, order="C", copy=False)
        written = 0
        shards: dict[int, str] = {}
        while written < len(rows):
            number, offset = divmod(self.rows + written, self.header.shard_rows)
            part = rows[written : written + self.header.shard_rows - offset]
            file, digest = self._open_shard(number)
            header = self.header.npy_header(offset + len(part))
            content = part.tobytes()
            file.seek(0)
            file.write(header)
            file.seek(offset * self.header.row_bytes, os.SEEK_CUR)
            file.write(content)
            digest.update(content)
            shards[number] = digest.hexdigest()
            written += len(part)
        for pair in zip(ids, hashes):
            line = json.dumps(pair, ensure_ascii=False).encode() + b"\n"
            self._ids.write(line)
            self._ids_digest.update(line)
        self.rows += len(rows)
        return self._body(shards)

    def _body(self, shards: dict[int, str]) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "ids_bytes": self._ids.tell(),
            "ids": self._ids_digest.hexdigest(),
            "shards": {str(number): digest for number, digest in shards.items()},
        }

    def _note(self, bodies: list[dict[str, Any]]) -> None:
        """Add lines to the journal: from now on the rows before them count."""
        for body in bodies:
            line = with_checksum(body, self._chain)
            self._journal.write(json.dumps(line).encode() + b"\n")
            self._chain = line[CHECKSUM]
        _force(self._journal)

    def _open_shard(self, number: int, digest: Any = None) -> tuple[BinaryIO, Any]:
        """The file to write rows to, and the digest of the rows in it."""
        if self._shard is not None and self._shard[0] != number:
            _force(self._shard[1])
            self._shard[1].close()
            self._shard = None
        if self._shard is None:
            path = shard_file(self.folder, number)
            file = path.open("r+b" if path.exists() else "w+b")
            self._shard = number, file, digest or hashlib.sha256()
        return self._shard[1:]

    def _resume(self, journal: Journal) -> None:
        """Check what is there, and continue the digests of the ids and of the last shard."""
        self._ids_digest = hashlib.sha256()
        if journal.ids_bytes:
            self._ids_digest = self._digest(self.folder / IDS, 0, journal.ids_bytes, journal.ids)
        begin = len(self.header.npy_header(0))
        for start in range(0, self.rows, self.header.shard_rows):
            number = start // self.header.shard_rows
            rows = min(self.header.shard_rows, self.rows - start)
            path, expected = shard_file(self.folder, number), journal.shards.get(number, "")
            digest = self._digest(path, begin, rows * self.header.row_bytes, expected)
            if rows < self.header.shard_rows:
                self._open_shard(number, digest)

    def _digest(self, path: Path, begin: int, size: int, expected: str) -> Any:
        try:
            with path.open("rb") as file:
                file.seek(begin)
                digest = running_digest(file, size)
        except (OSError, ValueError) as fault:
            raise damaged(self.folder, path.name, fault) from None
        if digest.hexdigest() != expected:
            raise damaged(self.folder, path.name)
        return digest

    def _cut_tail(self, journal: Journal) -> None:
        """Remove what was written after the last journal line."""
        _truncate(self.folder / JOURNAL, journal.size)
        _truncate(self.folder / IDS, journal.ids_bytes)
        whole, rest = divmod(self.rows, self.header.shard_rows)
        for path in self.folder.glob("vectors-*.npy"):
            digits = path.stem.removeprefix("vectors-")
            number = int(digits) if digits.isdecimal() else -1
            if number > whole or (number == whole and rest == 0):
                path.unlink()
            elif number == whole:
                header = self.header.npy_header(rest)
                with path.open("r+b") as file:
                    file.write(header)
                _truncate(path, len(header) + rest * self.header.row_bytes)


def remove_store(folder: str | PathLike[str]) -> None:
    """Delete the files of a store, and its folder if nothing else is in it.

    A store that another process is writing is refused.
    """
    folder = Path(folder)
    with contextlib.closing(take_lock(folder)):
        # The header goes first: without it the rest is no store, whatever happens next.
        for path in [folder / HEADER, folder / f"{HEADER}.part", folder / JOURNAL, folder / IDS]:
            path.unlink(missing_ok=True)
        for path in folder.glob("vectors-*.npy"):
            path.unlink()
        shutil.rmtree(folder / EMBEDDER, ignore_errors=True)
        if os.name != "nt":  # Windows deletes no file that is open
            (folder / LOCK).unlink(missing_ok=True)
    if os.name == "nt":
        (folder / LOCK).unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # other files are in it
        folder.rmdir()


def _create(folder: Path, embedder: Embedder, dtype: str, shard_rows: int) -> None:
    if dtype not in DTYPES:
        raise EmbeddingError(f"dtype is {dtype!r}; a store keeps 'float32' or 'float16'.")
    begun = {EMBEDDER, f"{HEADER}.part", LOCK}  # what a kill during this function leaves
    if folder.exists() and not (
        folder.is_dir() and {one.name for one in folder.iterdir()} <= begun
    ):
        raise CorpusError(
            f"{str(folder)!r} exists and is no vector store. Give a new or an empty folder."
        )
    with naming(folder):
        folder.mkdir(parents=True, exist_ok=True)
        save_embedder(embedder, folder / EMBEDDER)
    header = {
        "format": FORMAT,
        "embedder": embedder.name,
        "fingerprint": embedder.fingerprint,
        "dimension": embedder.dimension,
        "dtype": dtype,
        "shard_rows": shard_rows,
    }
    draft = folder / f"{HEADER}.part"
    with draft.open("wb") as file:
        file.write(json.dumps(with_checksum(header), indent=2).encode() + b"\n")
        _force(file)
    draft.replace(folder / HEADER)
    _force_names(folder)


def _refuse_other(folder: Path, header: Header, embedder: Embedder, dtype: str | None) -> None:
    here = f"{header.embedder} ({header.fingerprint})"
    asked = f"{embedder.name} ({embedder.fingerprint})"
    if here != asked:
        raise StoreMismatchError(
            f"the store {str(folder)!r} holds vectors of {here}, and now {asked} is to write "
            "into it. Name the same embedder, or give another folder."
        )
    if dtype is not None and np.dtype(dtype) != np.dtype(header.dtype):
        raise StoreMismatchError(
            f"the store {str(folder)!r} holds {header.dtype}, and {dtype} is requested. "
            "Leave dtype out, or give another folder."
        )


def take_lock(folder: Path, name: str = LOCK, what: str = "the store") -> BinaryIO:
    """Allow one writer at a time; the system frees the lock however the process ends."""
    while True:
        with naming(folder):
            file = (folder / name).open("wb")
        try:
            lock(file.fileno())
            # `remove_store` deletes the lock: one that is no longer in the folder locks nothing.
            if os.path.samestat(os.fstat(file.fileno()), os.stat(file.name)):
                return file
            file.close()
        except FileNotFoundError:
            file.close()
        except OSError:
            file.close()
            raise StoreInUseError(
                f"another process is writing {what} {str(folder)!r}. Wait for it to end, or "
                "name another folder."
            ) from None


@contextlib.contextmanager
def naming(folder: Path) -> Iterator[None]:
    """Name the folder that can't be written to, not a file of ours in it."""
    try:
        yield
    except OSError as fault:
        if fault.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise
        reason = f"the vectors can't be written there ({fault.strerror}); name another folder"
        raise type(fault)(fault.errno, reason, str(folder)) from None


def _truncate(path: Path, size: int) -> None:
    if path.exists() and path.stat().st_size > size:
        os.truncate(path, size)


def _force_names(folder: Path) -> None:
    """Force a folder's list of names to disk, if the system allows it."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        os.fsync(number)
        os.close(number)


def _force(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
