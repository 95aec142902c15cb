"""The vector store, reading side: a folder of `.npy` shards seen as one memory-mapped matrix."""

from __future__ import annotations

from functools import cached_property
from os import PathLike
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.store_files import is_store, open_shard, read_header, read_ids, read_journal

__all__ = ["VectorStore", "is_store", "read_ids"]


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
