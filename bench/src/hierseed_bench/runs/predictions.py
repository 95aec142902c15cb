"""Placements of the test documents, kept with a record: a new measure needs no new run.

One small `.npz` per record, `predictions/<data>/<key>.npz`:

path : placements x levels, topic at each level, -1 below the deepest and for None
row : document of each placement, counted within the test part; absent where it is one each
score : score at each level, where the method gives one, in 255 steps

Topics are numbered as in the data set's taxonomy after the run's changes; ids from its length on
are Other topics, whose parents `parent` lists.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.errors import CorpusError
from hierseed.files import atomic_file

STEPS = 255


@dataclass(frozen=True)
class Predictions:
    """Where a method put the documents of the test part."""

    path: NDArray[np.integer]
    row: NDArray[np.integer] | None = None
    score: NDArray[np.floating] | None = None
    parent: NDArray[np.integer] | None = None
    """Parents of the Other topics that the method added."""

    def to_bytes(self) -> bytes:
        """Compress; the same predictions give the same bytes."""
        arrays: dict[str, NDArray[Any]] = {"path": _smallest(self.path)}
        if self.row is not None:
            arrays["row"] = _smallest(np.diff(self.row, prepend=0))
        if self.score is not None:
            steps = np.rint(np.nan_to_num(self.score) * STEPS)
            arrays["score"] = steps.astype(np.uint8)
        if self.parent is not None and len(self.parent):
            arrays["parent"] = _smallest(self.parent)
        file = io.BytesIO()
        np.savez_compressed(file, allow_pickle=False, **arrays)
        return file.getvalue()

    @classmethod
    def from_file(cls, file: Path) -> Predictions:
        """Read what `to_bytes` gave."""
        if not file.is_file():
            raise CorpusError(
                f"no predictions in {file}: the run was made before predictions were kept. "
                "Make it again with --again."
            )
        with np.load(file, allow_pickle=False) as arrays:
            found = dict(arrays)
        row = np.cumsum(found["row"], dtype=np.intp) if "row" in found else None
        score = found["score"] / STEPS if "score" in found else None
        return cls(found["path"].astype(np.intp), row, score, found.get("parent"))


def predictions_file(folder: Path, data: str, key: str) -> Path:
    """Where the predictions of a record lie."""
    return folder / "predictions" / data / f"{key}.npz"


def keep_predictions(file: Path, content: bytes) -> None:
    """Write under another name, then rename."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(file) as partial:
        partial.write_bytes(content)


def _smallest(values: NDArray[Any]) -> NDArray[Any]:
    for kind in (np.int8, np.int16, np.int32):
        if not values.size or np.abs(values).max() <= np.iinfo(kind).max:
            return values.astype(kind)
    return values.astype(np.int64)
