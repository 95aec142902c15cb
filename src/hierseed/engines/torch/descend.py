"""Twin of `core.descend`: radii at the pivot, the nearest child below.

All families of a level that fit one kernel are looked at together: a product with a few hundred
centres takes no longer than reading the rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hierseed.core.hierseed.descend import Placements, remembered
from hierseed.core.hierseed.model import Model
from hierseed.core.tree import Tree
from hierseed.engines.torch.block import TorchBlock
from hierseed.engines.torch.distance import Centres, lowest, nearest, squared_distances
from hierseed.engines.torch.pivot import assigned

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]
TOGETHER = 256  # children that are looked at in one go


@dataclass(frozen=True)
class Families:
    """Some inner topics of a level: their children in order, and the parent's place of each."""

    children: Ints
    parent: Ints
    of_topic: Ints  # place of each topic among these parents, -1 where it is none of them

    @property
    def size(self) -> int:
        """Number of parents."""
        return int(self.parent.max()) + 1


def families(tree: Tree, level: int) -> Iterator[Families]:
    """Yield the inner topics of a level in packs of at most `TOGETHER` children, if one's fit."""
    pack: list[int] = []
    total = 0
    for topic in [*tree.at_level(level)[~tree.is_leaf[tree.at_level(level)]], None]:
        size = 0 if topic is None else len(tree.children(topic))
        if pack and (topic is None or total + size > TOGETHER):
            groups = [tree.children(parent) for parent in pack]
            of_topic = np.full(len(tree) + 1, -1)  # the last entry answers for -1
            of_topic[pack] = np.arange(len(pack))
            place = np.repeat(np.arange(len(pack)), [len(group) for group in groups])
            yield Families(np.concatenate(groups), place, of_topic)
            pack, total = [], 0
        if topic is not None:
            pack.append(int(topic))
            total += size


def look(
    block: TorchBlock,
    rows: Tensor,
    topic: Tensor,
    tree: Tree,
    level: int,
    vectors: Floats,
    wanted: Tensor | None = None,
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Find the nearest child of documents in inner topics of a level; `wanted` are looked at.

    Yields, pack by pack, places among `rows`, the child and its margin.
    """
    for pack in families(tree, level):
        family = block.put(pack.of_topic, torch.int32)[topic]
        mine = family >= 0 if wanted is None else (family >= 0) & wanted
        at = torch.nonzero(mine)[:, 0]
        if not len(at):
            continue
        row = rows[at]
        centres = Centres(
            block.put(vectors[pack.children]), block.put(pack.parent, torch.int32), pack.size
        )
        chosen = None if block.in_order(row) else row
        best, margin = nearest(block.X, chosen, family[at], centres, block.squared_norms[row])
        yield at, block.put(pack.children, torch.int32)[best], margin


def place(block: TorchBlock, model: Model, D: Tensor) -> Placements:
    """Place documents at the pivot, by their squared distances to its topics."""
    x2, pivots = block.squared_norms, block.put(model.pivots, torch.int32)
    kept = assigned(D, x2, model)
    largest = float(np.square(model.vectors[model.pivots]).sum(axis=1).max(initial=0.0))
    row, column = torch.nonzero(kept, as_tuple=True)
    among = torch.where(kept, D, torch.inf).argmin(dim=1)
    return Placements(
        row.int(), pivots[column], pivots[lowest(D, x2 + largest)], among[row] == column
    )


def pivot_distances(block: TorchBlock, model: Model) -> Tensor:
    """Squared distance of each document to each pivot topic."""
    vectors = block.put(model.vectors[model.pivots])
    return squared_distances(block.X, vectors, block.squared_norms)


def split(block: TorchBlock, rows: Tensor, topic: Tensor, model: Model, level: int) -> Tensor:
    """Send documents in inner topics of one level to their nearest child; others stay."""
    result = topic.clone()
    for at, child, _ in look(block, rows, topic, model.tree, level, model.vectors):
        result[at] = child
    return result


def by_topic(topic: Tensor, model: Model, level: int) -> Iterator[tuple[int, Tensor]]:
    """Yield each inner topic of one level that occurs, and where it stands."""
    tree = model.tree
    order = torch.argsort(topic, stable=True)
    counts = torch.bincount(topic.long() + 1, minlength=len(tree) + 1).tolist()
    start = counts[0]
    for parent, count in enumerate(counts[1:]):
        if count and tree.level[parent] == level and not tree.is_leaf[parent]:
            yield parent, order[start : start + count]
        start += count


def settled(block: TorchBlock, model: Model, level: int) -> Placements:
    """Placements with every topic above `level` split; remembered for the model's version."""
    known = remembered(cast(Any, block), model)
    if level not in known:
        if level <= model.pivot_level:
            known[level] = place(block, model, pivot_distances(block, model))
        else:
            above = settled(block, model, level - 1)
            known[level] = above.moved(split(block, above.row, above.topic, model, level - 1))
    return known[level]


def deepest(block: TorchBlock, model: Model) -> Placements:
    """Placements at the leaves."""
    return settled(block, model, model.tree.height)


def labels(placements: Placements, n: int) -> Tensor:
    """One topic per document: that of its nearest pivot topic; -1 for None."""
    result = torch.full((n,), -1, dtype=torch.int32, device=placements.row.device)
    result[placements.row[placements.first]] = placements.topic[placements.first]
    return result
