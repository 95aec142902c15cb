"""The vector store, reading side: a folder of `.npy` shards seen as one memory-mapped matrix.

store.json          embedder, fingerprint, dimension, dtype, rows per shard
vectors-00000.npy   rows, in the order of the corpus; each shard is a plain .npy
ids.jsonl           ["id", "hash of its text"] per row
journal.jsonl       one line per block that is safely on disk; what it doesn't name isn't there
embedder/           what `load_embedder` needs to embed more text the same way
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import CorpusError

FORMAT = 1
HEADER, JOURNAL, IDS, EMBEDDER = "store.json", "journal.jsonl", "ids.jsonl", "embedder"


class VectorStore:
    """Vectors on disk, indexed like an array: `X[a:b]`, `X[rows]`, `X[mask]`, `X[i]`.

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
        header = read_header(self.folder)
        state = read_journal(self.folder)
        self.embedder_name: str = header["embedder"]
        self.fingerprint: str = header["fingerprint"]
        self.dtype: np.dtype[Any] = np.dtype(header["dtype"])
        self.shape: tuple[int, int] = (state["rows"], header["dimension"])
        self.corpus: str = state.get("corpus", "")
        self.shard_rows: int = header["shard_rows"]

    def __repr__(self) -> str:
        rows, columns = self.shape
        state = "" if self.complete else ", interrupted"
        return f"VectorStore({rows:,} x {columns} {self.dtype}, {self.embedder_name}{state})"

    def __len__(self) -> int:
        return self.shape[0]

    def __reduce__(self) -> tuple[type[VectorStore], tuple[Path]]:
        # To another process goes the address, not gigabytes of rows.
        return VectorStore, (self.folder.absolute(),)

    @property
    def complete(self) -> bool:
        """False while a run is under way or was cut off; run it again to finish."""
        return bool(self.corpus)

    @cached_property
    def ids(self) -> list[str]:
        """Document ids, in row order."""
        return [line[0] for line in read_ids(self.folder, self.shape[0])]

    @cached_property
    def _shards(self) -> list[NDArray[Any]]:
        shards = []
        for number, start in enumerate(range(0, len(self), self.shard_rows)):
            rows = min(self.shard_rows, len(self) - start)
            # A run that goes on beside us may have added rows since the journal was read.
            shards.append(np.load(shard_file(self.folder, number), mmap_mode="r")[:rows])
        return shards

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
        """Neighbouring rows: a view where one shard holds them all."""
        parts = []
        while start < stop:
            shard, offset = divmod(start, self.shard_rows)
            end = min(stop, (shard + 1) * self.shard_rows)
            parts.append(self._shards[shard][offset : offset + end - start])
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
            taken[here] = self._shards[number][offset[here]]
        return taken


def shard_file(folder: Path, number: int) -> Path:
    """Path of one shard."""
    return folder / f"vectors-{number:05d}.npy"


def is_store(folder: str | PathLike[str]) -> bool:
    """True where the folder holds a store, finished or not."""
    return (Path(folder) / HEADER).is_file()


def read_header(folder: Path) -> dict[str, Any]:
    """Read what the store says of itself; one of another version is refused."""
    if not is_store(folder):
        raise CorpusError(
            f"no vector store at {str(folder)!r} (it has no {HEADER}). "
            f"Make one with: hierseed embed CORPUS -o {folder}"
        )
    header: dict[str, Any] = json.loads((folder / HEADER).read_text(encoding="utf-8"))
    if header.get("format") != FORMAT:
        raise CorpusError(
            f"{str(folder)!r} has the store format {header.get('format')}, this hierseed reads "
            f"{FORMAT}. Embed again, or use the hierseed that wrote it."
        )
    return header


def read_journal(folder: Path) -> dict[str, Any]:
    """Read the last whole line of the journal: rows and bytes that are safely on disk."""
    state: dict[str, Any] = {"rows": 0, "ids_bytes": 0, "journal_bytes": 0}
    read = 0
    if (folder / JOURNAL).is_file():
        for line in (folder / JOURNAL).read_bytes().splitlines(keepends=True):
            if not line.endswith(b"\n"):
                break  # cut off in the middle of writing: that block doesn't count
            read += len(line)
            state = {**json.loads(line), "journal_bytes": read}
    return state


def read_ids(folder: Path, rows: int) -> Iterator[tuple[str, str]]:
    """Id and text hash of the first `rows` documents, one at a time."""
    if rows == 0:
        return
    with (folder / IDS).open(encoding="utf-8") as lines:
        for _, line in zip(range(rows), lines):
            document, text_hash = json.loads(line)
            yield document, text_hash
