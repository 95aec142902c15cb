"""The vector store, writing side: a block counts once the journal names it.

Order of one block: rows, then the shard's header, then ids, all forced to disk; then one journal
line, forced to disk. A kill at any point leaves whole blocks and perhaps a tail that no journal
line names; opening the store again cuts that tail off.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.lib import format as npy

from hierseed.embed.choose import save_embedder
from hierseed.embed.embedder import Embedder, Vectors
from hierseed.embed.store import (
    EMBEDDER,
    FORMAT,
    HEADER,
    IDS,
    JOURNAL,
    is_store,
    read_header,
    read_journal,
    shard_file,
)
from hierseed.errors import CorpusError, EmbeddingError

SHARD_ROWS = 1 << 18


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
        header = read_header(self.folder)
        _refuse_other(self.folder, header, embedder, dtype)
        self.dtype = np.dtype(header["dtype"])
        self.dimension: int = header["dimension"]
        self.shard_rows: int = header["shard_rows"]
        self._lock = _take_lock(self.folder)
        state = read_journal(self.folder)
        self.rows: int = state["rows"]
        self._cut_tail(state)
        self._ids = (self.folder / IDS).open("ab")
        self._journal = (self.folder / JOURNAL).open("ab")
        self._shard: tuple[int, BinaryIO] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="hierseed-store")
        self._pending: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.shutdown()
        self._open_shard(None)
        for file in (self._ids, self._journal, self._lock):
            file.close()

    def append(self, ids: Sequence[str], hashes: Sequence[str], vectors: Vectors) -> None:
        """Hand a block over; returns once the block before it is on disk."""
        if vectors.shape != (len(ids), self.dimension):
            raise EmbeddingError(
                f"vectors of shape {vectors.shape} for {len(ids):,} documents in a store of "
                f"dimension {self.dimension}. The embedder changed its mind; embed again."
            )
        self._settle()
        self._pending = self._thread.submit(self._write, list(ids), list(hashes), vectors)

    def finish(self) -> None:
        """Wait for the last block and mark the store complete, with the corpus' hash."""
        self._settle()
        self._ids.flush()
        with (self.folder / IDS).open("rb") as stream:
            corpus = hashlib.file_digest(stream, "sha256").hexdigest()
        if read_journal(self.folder).get("corpus") != corpus:
            self._note(corpus=corpus)

    def _settle(self) -> None:
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.result()

    def _write(self, ids: list[str], hashes: list[str], vectors: Vectors) -> None:
        rows = vectors.astype(self.dtype, order="C", copy=False)
        written = 0
        while written < len(rows):
            number, offset = divmod(self.rows + written, self.shard_rows)
            part = rows[written : written + self.shard_rows - offset]
            file = self._open_shard(number)
            file.seek(0)
            write_npy_header(file, offset + len(part), self.dimension, self.dtype)
            file.seek(offset * part.itemsize * self.dimension, os.SEEK_CUR)
            file.write(part.tobytes())
            _force(file)
            written += len(part)
        for pair in zip(ids, hashes):
            self._ids.write(json.dumps(pair, ensure_ascii=False).encode() + b"\n")
        _force(self._ids)
        self.rows += len(rows)
        self._note()

    def _note(self, **more: str) -> None:
        line = {"rows": self.rows, "ids_bytes": self._ids.tell(), **more}
        self._journal.write(json.dumps(line).encode() + b"\n")
        _force(self._journal)

    def _open_shard(self, number: int | None) -> BinaryIO:
        if self._shard is not None and self._shard[0] != number:
            self._shard[1].close()
            self._shard = None
        if self._shard is None and number is not None:
            path = shard_file(self.folder, number)
            self._shard = number, path.open("r+b" if path.exists() else "w+b")
        return self._shard[1] if self._shard is not None else self._ids

    def _cut_tail(self, state: dict[str, Any]) -> None:
        _truncate(self.folder / JOURNAL, state["journal_bytes"])
        _truncate(self.folder / IDS, state["ids_bytes"])
        whole, rest = divmod(self.rows, self.shard_rows)
        for path in self.folder.glob("vectors-*.npy"):
            number = int(path.stem.removeprefix("vectors-"))
            if number > whole or (number == whole and rest == 0):
                path.unlink()
            elif number == whole:
                with path.open("r+b") as file:
                    write_npy_header(file, rest, self.dimension, self.dtype)
                    file.truncate(file.tell() + rest * self.dtype.itemsize * self.dimension)


def write_npy_header(file: Any, rows: int, columns: int, dtype: np.dtype[Any]) -> None:
    """Write the header of a .npy; numpy leaves room, so it keeps its length as rows grow."""
    about = {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": (rows, columns)}
    npy.write_array_header_1_0(file, about)


def _create(folder: Path, embedder: Embedder, dtype: str, shard_rows: int) -> None:
    if dtype not in ("float32", "float16"):
        raise EmbeddingError(f"dtype is {dtype!r}; a store keeps 'float32' or 'float16'.")
    begun = {EMBEDDER, f"{HEADER}.part"}  # what a kill during this function leaves
    if folder.exists() and not (
        folder.is_dir() and {one.name for one in folder.iterdir()} <= begun
    ):
        raise CorpusError(
            f"{str(folder)!r} exists and is no vector store. Give a new or an empty folder."
        )
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
        file.write(json.dumps(header, indent=2).encode() + b"\n")
        _force(file)
    draft.replace(folder / HEADER)
    _force_names(folder)


def _refuse_other(
    folder: Path, header: dict[str, Any], embedder: Embedder, dtype: str | None
) -> None:
    here = f"{header['embedder']} ({header['fingerprint']})"
    asked = f"{embedder.name} ({embedder.fingerprint})"
    if here != asked:
        raise EmbeddingError(
            f"the store {str(folder)!r} holds vectors of {here}, and now {asked} is to write "
            "into it. Name the same embedder, or give another folder."
        )
    if dtype is not None and np.dtype(dtype) != np.dtype(header["dtype"]):
        raise EmbeddingError(
            f"the store {str(folder)!r} holds {header['dtype']}, and now {dtype} is asked for. "
            "Leave dtype out, or give another folder."
        )


def _take_lock(folder: Path) -> BinaryIO:
    """One writer at a time; the system frees the lock however the process ends."""
    file = (folder / "lock").open("wb")
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # Windows has no flock; there two writers are the user's own care
        pass
    except OSError:
        file.close()
        raise CorpusError(
            f"another process is writing the store {str(folder)!r}. Wait for it to end."
        ) from None
    return file


def _truncate(path: Path, size: int) -> None:
    if path.exists() and path.stat().st_size > size:
        os.truncate(path, size)


def _force_names(folder: Path) -> None:
    """Force a folder's list of names to disk, where the system lets one."""
    if os.name == "posix":
        number = os.open(folder, os.O_RDONLY)
        os.fsync(number)
        os.close(number)


def _force(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
