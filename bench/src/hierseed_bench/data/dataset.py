"""A labelled corpus: documents, their most specific topics, and what was done to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.tree import Tree
from hierseed.errors import CorpusError
from hierseed.taxonomy import Taxonomy

TRAIN, TEST = "train", "test"


@dataclass(frozen=True)
class Dataset:
    """Documents with gold labels in a taxonomy.

    Parameters
    ----------
    labels : topic ids per document, the most specific ones only; empty where none is left
    part : "train" or "test" per document where the source fixes a split
    vectors : one row per document; None where the texts have yet to be embedded
    blocks : length of each block of joined vectors; () for one representation
    notes : what was dropped or does not agree with the published counts, for the record
    """

    name: str
    taxonomy: Taxonomy
    labels: Sequence[Sequence[int]]
    texts: Sequence[str]
    ids: Sequence[str]
    vectors: NDArray[Any] | None = None
    vectors_name: str = ""
    part: NDArray[Any] | None = None
    notes: tuple[str, ...] = field(default=())
    blocks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        lengths = {
            "labels": len(self.labels),
            "texts": len(self.texts),
            "ids": len(self.ids),
            "vectors": len(self) if self.vectors is None else len(self.vectors),
            "part": len(self) if self.part is None else len(self.part),
        }
        if len(set(lengths.values())) > 1:
            counts = ", ".join(f"{count:,} {name}" for name, count in lengths.items())
            raise CorpusError(f"data set {self.name!r} does not fit together: {counts}")

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def is_single_label(self) -> bool:
        """True where no document has several topics."""
        return all(len(topics) <= 1 for topics in self.labels)

    def take(self, rows: NDArray[Any], note: str = "") -> Dataset:
        """Return the documents of some rows, in that order."""
        return replace(
            self,
            labels=[self.labels[i] for i in rows],
            texts=[self.texts[i] for i in rows],
            ids=[self.ids[i] for i in rows],
            vectors=None if self.vectors is None else self.vectors[rows],
            part=None if self.part is None else self.part[rows],
            notes=(*self.notes, note) if note else self.notes,
        )

    def relabel(self, taxonomy: Taxonomy, new_id: NDArray[Any], note: str = "") -> Dataset:
        """Move every label t to `new_id[t]` in another taxonomy (-1: the label goes)."""
        labels = [
            most_specific(taxonomy.tree, (int(new_id[t]) for t in topics)) for topics in self.labels
        ]
        notes = (*self.notes, note) if note else self.notes
        return replace(self, taxonomy=taxonomy, labels=labels, notes=notes)

    def statistics(self) -> dict[str, Any]:
        """Sizes, for the record of a run."""
        tree = self.taxonomy.tree
        return {
            "documents": len(self),
            "topics_per_level": np.bincount(tree.level, minlength=1)[1:].tolist(),
            "labels_per_document": round(sum(map(len, self.labels)) / max(len(self), 1), 3),
            "inner_labels": sum(not tree.is_leaf[t] for topics in self.labels for t in topics),
        }


def most_specific(tree: Tree, topics: Iterable[int]) -> list[int]:
    """Drop doubles, -1, and every topic that another one lies below; in order of id.

    Sources disagree on whether a label implies its ancestors; this makes them one.
    """
    kept = sorted({topic for topic in topics if topic >= 0})
    if len(kept) < 2:
        return kept
    above = {above for topic in kept for above in tree.path(topic)[:-1]}
    return [topic for topic in kept if topic not in above]


def subtree_counts(tree: Tree, labels: Sequence[Sequence[int]]) -> NDArray[np.intp]:
    """Documents in each topic or below it, each document once per topic."""
    counts = np.zeros(len(tree), dtype=np.intp)
    for topics in labels:
        for topic in {above for t in topics for above in tree.path(t)}:
            counts[topic] += 1
    return counts


def keep_topics(taxonomy: Taxonomy, keep: NDArray[Any]) -> tuple[Taxonomy, NDArray[np.intp]]:
    """Drop topics, with all below them; each goes to its nearest kept ancestor (-1: the root)."""
    parent = taxonomy.tree.parent
    kept = np.array(keep, dtype=bool)
    new_id = np.full(len(taxonomy), -1, dtype=np.intp)
    names: list[str] = []
    parents: list[int] = []
    for topic, above in enumerate(parent):
        if kept[topic] and (above < 0 or kept[above]):
            new_id[topic] = len(names)
            names.append(taxonomy.names[topic])
            parents.append(-1 if above < 0 else int(new_id[above]))
        else:
            kept[topic] = False
            new_id[topic] = -1 if above < 0 else new_id[above]
    return Taxonomy(names, parents), new_id
