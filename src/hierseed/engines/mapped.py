"""Vectors of a .npy file that are pickled as a path."""

from __future__ import annotations

from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import CorpusError


class MappedFile:
    """Rows of a .npy file, memory-mapped in the process that reads them."""

    ndim = 2

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path).resolve()
        try:
            self.shape: tuple[int, ...] = self._rows.shape
        except (OSError, ValueError) as fault:
            raise CorpusError(f"{path} is no .npy file of vectors: {fault}") from fault
        self.dtype: np.dtype[Any] = self._rows.dtype

    def __reduce__(self) -> tuple[type[MappedFile], tuple[Path]]:
        return MappedFile, (self.path,)

    @cached_property
    def _rows(self) -> NDArray[Any]:
        rows: NDArray[Any] = np.load(self.path, mmap_mode="r", allow_pickle=False)
        return rows

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, rows: Any) -> Any:
        return self._rows[rows]
