"""Inference: radii at the pivot, the nearest child below, None outside all radii.

A placement is a document in one pivot topic; a document may have several, or none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.blocks import Block
from hierseed.core.distance import lowest, squared_norms
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.pivot import assigned

Ints = NDArray[np.integer]


@dataclass
class Placements:
    """Documents of a block and the topic each is in, sorted by document."""

    row: Ints  # place in the block
    topic: Ints
    nearest: Ints  # per document of the block: the nearest pivot topic, reached or not
    first: NDArray[np.bool_]  # of a document's placements, the one in its nearest topic

    def moved(self, topic: Ints) -> Placements:
        """Return the same documents in other topics."""
        return Placements(self.row, topic, self.nearest, self.first)


def pivot_distances(block: Block, model: Model) -> NDArray[np.float64]:
    """Squared distance of each document to each pivot topic."""
    return block.distances(model.vectors[model.pivots])


def place(block: Block, model: Model, D: NDArray[np.float64]) -> Placements:
    """Place documents at the pivot, by their squared distances to its topics."""
    largest = squared_norms(model.vectors[model.pivots]).max(initial=0.0)
    scale = block.squared_norms + largest
    kept = assigned(D, scale, model)
    closest = lowest(D, scale)
    row, column = np.nonzero(kept)
    among = np.where(kept, D, np.inf).argmin(axis=1)
    return Placements(
        row.astype(np.int32),
        model.pivots[column].astype(np.int32),
        model.pivots[closest].astype(np.int32),
        among[row] == column,
    )


def split(block: Block, rows: Ints, topic: Ints, model: Model, level: int) -> Ints:
    """Send documents in inner topics of one level to their nearest child; others stay."""
    result = topic.copy()
    for parent, at in by_topic(topic, model, level):
        children = model.tree.children(parent)
        result[at] = children[block.nearest(model.vectors[children], rows[at])]
    return result


def by_topic(topic: Ints, model: Model, level: int) -> Iterator[tuple[int, Ints]]:
    """Yield each inner topic of one level that occurs, and where it stands."""
    tree = model.tree
    if len(topic) and (topic == topic[0]).all():  # one document, or one topic: nothing to sort
        if topic[0] >= 0 and tree.level[topic[0]] == level and not tree.is_leaf[topic[0]]:
            yield int(topic[0]), np.arange(len(topic))
        return
    inner = (tree.level == level) & ~tree.is_leaf
    at = np.flatnonzero(np.append(inner, False)[topic])
    size = np.bincount(topic[at], minlength=len(tree))
    small = np.min_scalar_type(len(tree))  # few bits are sorted in one sweep
    at = at[np.argsort(topic[at].astype(small), kind="stable")]
    present = np.flatnonzero(size)
    for parent, rows in zip(present, np.split(at, np.cumsum(size[present])[:-1])):
        yield int(parent), rows


def settled(block: Block, model: Model, level: int) -> Placements:
    """Placements with every topic above `level` split; remembered for the model's version."""
    known = remembered(block, model)
    if level not in known:
        if level <= model.pivot_level:
            known[level] = place(block, model, pivot_distances(block, model))
        else:
            above = settled(block, model, level - 1)
            known[level] = above.moved(split(block, above.row, above.topic, model, level - 1))
    return known[level]


def remembered(block: Block, model: Model) -> dict[int, Placements]:
    """Placements that a block remembers for this version of the model, by level."""
    if block.memo.get("version") != model.version:
        block.memo = {"version": model.version, "labels": block.memo.get("labels")}
    known: dict[int, Placements] = block.memo.setdefault("settled", {})
    return known


def deepest(block: Block, model: Model) -> Placements:
    """Placements at the leaves."""
    return settled(block, model, model.tree.height)


def labels(placements: Placements, n: int) -> NDArray[np.int32]:
    """One topic per document: that of its nearest pivot topic; -1 for None."""
    result = np.full(n, -1, dtype=np.int32)
    result[placements.row[placements.first]] = placements.topic[placements.first]
    return result
