"""Vectors made before: `.npy`, Parquet or Arrow, matched to documents by id where there is one."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from hierseed.embed.embedder import Vectors, fingerprint
from hierseed.errors import CorpusError, EmbeddingError, name_some, refusing_damaged

ENDINGS = (".npy", ".parquet", ".arrow", ".feather", ".ipc")


class Precomputed:
    """A matrix from a file. `rows` hands out vectors by id, or by position in a `.npy`.

    Parameters
    ----------
    file : `.npy` (row i belongs to document i), or a table with one column of lists
    id_column, vector_column : names in a table; by default `id`, and the only column of lists
    """

    def __init__(
        self, file: str | PathLike[str], *, id_column: str = "id", vector_column: str | None = None
    ) -> None:
        self.file = Path(file)
        self.name = f"precomputed:{self.file.name}"
        if not self.file.is_file():
            raise CorpusError(f"no file {str(self.file)!r} with vectors. Check the path.")
        self.ids: list[str] | None = None
        if self.file.suffix == ".npy":
            self.vectors = _read_npy(self.file)
        elif self.file.suffix in ENDINGS:
            self.ids, self.vectors = _read_table(self.file, id_column, vector_column)
        else:
            raise CorpusError(
                f"vectors can't be read from {self.file.name!r}. Use one of {', '.join(ENDINGS)}."
            )
        self.dimension = int(self.vectors.shape[1])

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the file."""
        return fingerprint("precomputed", self.file)

    @cached_property
    def _row_of(self) -> dict[str, int]:
        assert self.ids is not None
        row_of = {one: row for row, one in enumerate(self.ids)}
        if len(row_of) < len(self.ids):
            twice = [one for row, one in enumerate(self.ids) if row_of[one] != row]
            raise CorpusError(f"{self.file.name} has ids twice: {name_some(twice)}. Keep one each.")
        return row_of

    def rows(self, ids: Sequence[str], start: int) -> Vectors:
        """Vectors of the documents `ids`, which stand at `start` and after in the corpus."""
        if self.ids is not None:
            unknown = [one for one in ids if one not in self._row_of]
            if unknown:
                raise CorpusError(
                    f"{len(unknown):,} of {len(ids):,} documents have no vector in "
                    f"{self.file.name}: {name_some(unknown)}. Embed them, or drop them."
                )
            found = self.vectors[[self._row_of[one] for one in ids]]
        elif start + len(ids) > len(self.vectors):
            raise CorpusError(
                f"{self.file.name} has {len(self.vectors):,} rows, and the corpus more documents "
                f"than that (at least {start + len(ids):,}). Give the corpus it was made from."
            )
        else:
            found = self.vectors[start : start + len(ids)]
        return np.asarray(found, dtype=np.float32)

    def encode(self, texts: Sequence[str]) -> NoReturn:
        """Refuse: a file of vectors can't embed text."""
        raise EmbeddingError(
            f"{self.name} holds finished vectors and can't embed new text. "
            "Name the embedder that made them, or give vectors for these documents too."
        )


def _read_npy(file: Path) -> NDArray[Any]:
    with _readable(file):
        vectors: NDArray[Any] = np.load(file, mmap_mode="r", allow_pickle=False)
        if not isinstance(vectors, np.ndarray):
            raise ValueError("it is an archive of several arrays")
    _check(file, vectors)
    return vectors


def _read_table(file: Path, id_column: str, wanted: str | None) -> tuple[list[str], NDArray[Any]]:
    import pyarrow as pa
    from pyarrow import feather, parquet

    is_list = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    with _readable(file):
        table = parquet.read_table(file) if file.suffix == ".parquet" else feather.read_table(file)
        table.validate(full=True)
        names = table.column_names
        lists = [one.name for one in table.schema if any(check(one.type) for check in is_list)]
    column = wanted or (lists[0] if len(lists) == 1 else None)
    if names.count(id_column) != 1 or lists.count(column) != 1:
        raise CorpusError(
            f"{file.name} has the columns {name_some(names)}, of which "
            f"{name_some(lists) or 'none'} hold lists; wanted ids in {id_column!r} and vectors in "
            f"{wanted or 'the only list column'!r}. Name them with id_column and vector_column."
        )
    with _readable(file):
        combined = table.column(column).combine_chunks()
        flat = combined.flatten().to_numpy(zero_copy_only=False)
        lengths = set(combined.value_lengths().to_pylist())
        ids = [str(one) for one in table.column(id_column).to_pylist()]
    if table.num_rows == 0 or combined.null_count or len(lengths) != 1:
        raise CorpusError(f"{file.name}: {column!r} is empty, has gaps or rows of unlike length.")
    vectors = flat.reshape(table.num_rows, -1)
    _check(file, vectors)
    return ids, vectors


def _readable(file: Path) -> AbstractContextManager[None]:
    def refuse(reason: str) -> NoReturn:
        raise CorpusError(
            f"{file.name} can't be read as vectors: it is damaged, or of another format "
            f"({reason}). Copy or write it again."
        ) from None

    return refusing_damaged(refuse)


def _check(file: Path, vectors: NDArray[Any]) -> None:
    if vectors.ndim != 2 or vectors.dtype.kind != "f":
        raise CorpusError(
            f"{file.name} holds {vectors.dtype} of shape {vectors.shape}. "
            "Save a matrix of floats, one row per document."
        )
