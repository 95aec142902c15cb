"""Gold labels of test parts, kept with the records: scores can be checked without the corpus.

One small file per test part, `gold/<digest>.json` in the folder of the records: the parent of each
topic, and the topics of each test document as numbers. Kept only for data sets that are built from
free files of package registries; no text is kept.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from hierseed.core.tree import Tree
from hierseed.errors import CorpusError
from hierseed.files import atomic_file

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
