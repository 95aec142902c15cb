"""Twin of `core.refine`: one pass of the k-means below the pivot, all families of a level at once.

Documents whose margin the children have not used up are skipped, and only what moved is summed:
the first pass reads every row twice, later ones read few.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hierseed.core.exact import Grid
from hierseed.core.hierseed.descend import Placements
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.refine import Moves
from hierseed.engines.torch.block import TorchBlock, fetch
from hierseed.engines.torch.descend import look, settled
from hierseed.engines.torch.exact import sum_rows

Floats = NDArray[np.float64]


def move(
    block: TorchBlock,
    model: Model,
    level: int,
    vectors: Floats,
    before: Floats | None,
    used: Floats | None,
    grid: Grid,
) -> Moves:
    """Send each document to its nearest child, and tell what that changed."""
    placements = settled(block, model, level)
    memory = block.memo.setdefault(("lloyd", level), {})
    if not memory:
        memory["topic"] = torch.full_like(placements.topic, -1)
        memory["margin"] = torch.full_like(placements.topic, -torch.inf, dtype=torch.float64)
        if before is not None:
            look_again(block, placements, model, level, before, memory)
    was = memory["topic"].clone()
    if used is not None:
        memory["margin"] -= block.put(used)[was]
    look_again(block, placements, model, level, vectors, memory)
    now = memory["topic"]
    topic = torch.where(now >= 0, now, placements.topic)
    block.memo["settled"][level + 1] = placements.moved(topic)
    return changes(block, placements.row, was, now, len(model.tree), grid)


def look_again(
    block: TorchBlock,
    placements: Placements,
    model: Model,
    level: int,
    vectors: Floats,
    memory: dict[str, Any],
) -> None:
    """Find the nearest child of each document whose margin the children may have used up."""
    wanted = memory["margin"] <= 0
    found = look(block, placements.row, placements.topic, model.tree, level, vectors, wanted)
    for at, child, apart in found:
        memory["topic"][at], memory["margin"][at] = child, apart


def changes(
    block: TorchBlock, row: Tensor, was: Tensor, now: Tensor, n_topics: int, grid: Grid
) -> Moves:
    """Sums and counts that the topics gained less what they lost."""
    changed = torch.nonzero(now != was)[:, 0]
    counts = np.zeros((2, n_topics), dtype=np.intp)
    sums = np.zeros((n_topics, block.X.shape[1]))
    for sign, topic in enumerate((now[changed], was[changed])):
        real = torch.nonzero(topic >= 0)[:, 0]  # -1: not placed before
        if len(real):
            rows, group = row[changed[real]], topic[real]
            added, number = sum_rows(block, rows, group, n_topics, grid)
            sums += (-1) ** sign * fetch(added)
            counts[sign] = fetch(number)
    here = np.flatnonzero(counts.any(axis=0))
    placed = int((now >= 0).sum())
    return Moves(here, sums[here], counts[0, here] - counts[1, here], len(changed), placed)
