"""Placements and gold labels of the test part, kept with a record: a new measure needs no new run.

Placements are one small `.npz` per record, `predictions/<data>/<key>.npz`:

path : placements x levels, topic at each level, -1 below the deepest and for None
row : document of each placement, counted within the test part; absent where it is one each
score : score at each level, where the method gives one, in 255 steps

Topics are numbered as in the data set's taxonomy after the run's changes; ids from its length on
are Other topics, whose parents `parent` lists.

Gold labels are kept once per test part, `gold/<digest>.json`: the parent of each topic, and the
topics of each test document as numbers. They are kept only for data sets that are built from free
files of package registries; no text is kept.
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree
from hierseed.errors import CorpusError
from hierseed.files import atomic_file

STEPS = 255


@dataclass(frozen=True)
class Predictions:
    """Placements of the documents of the test part."""

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
    """The file with the predictions of a record."""
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


# ------------------------------------------------------------------ gold labels


FREE = ("wordnet", "debian", "icd", "naics", "emoji")


class Gold(NamedTuple):
    """A tree, and the topics of each test document."""

    tree: Tree
    labels: list[list[int]]


def gold_digest(labels: Sequence[Sequence[int]]) -> str:
    """Return a digest of the labels of a test part."""
    text = ";".join(",".join(map(str, topics)) for topics in labels)
    return sha256(text.encode()).hexdigest()[:16]


def keep_gold(folder: Path, tree: Tree, labels: Sequence[Sequence[int]]) -> None:
    """Write the labels of a test part, unless they are there."""
    file = _file(folder, gold_digest(labels))
    if file.is_file():
        return
    numbers = {"parent": tree.parent.tolist(), "labels": [list(map(int, ids)) for ids in labels]}
    file.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(file) as partial:
        text = json.dumps(numbers, separators=(",", ":"))
        partial.write_text(text + "\n", encoding="utf-8", newline="\n")


def kept_gold(folder: Path, digest: str) -> Gold | None:
    """Return the labels of a digest, None if they were not kept."""
    file = _file(folder, digest)
    if not file.is_file():
        return None
    numbers = json.loads(file.read_text(encoding="utf-8"))
    if gold_digest(numbers["labels"]) != digest:
        raise CorpusError(f"{file.name} does not hold the labels that its name says. Restore it.")
    return Gold(Tree(numbers["parent"]), numbers["labels"])


def _file(folder: Path, digest: str) -> Path:
    return folder / "gold" / f"{digest}.json"
