"""Twin of `core.score`'s pass at the end of a fit: labels, and the typical margin of each level."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from hierseed.core.exact import Grid
from hierseed.core.hierseed.model import Model
from hierseed.engines.torch.block import TorchBlock, fetch
from hierseed.engines.torch.descend import by_topic, deepest, labels, pivot_distances, settled
from hierseed.engines.torch.distance import squared_distances
from hierseed.engines.torch.exact import quantize


def place(block: TorchBlock, model: Model) -> NDArray[Any]:
    """Deepest topic of each document, -1 for None."""
    return fetch(labels(deepest(block, model), len(block)))


def label_and_sum_margins(
    block: TorchBlock, model: Model, grid: Grid
) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.intp]]:
    """Labels; and, per level, the sum of margins and how many there are."""
    height = model.tree.height
    sums, counts = np.zeros(height), np.zeros(height, dtype=np.intp)

    def add(level: int, D: Tensor) -> None:
        if D.shape[1] > 1:
            two = D.topk(2, dim=1, largest=False)[0]
            sums[level - 1] += float(quantize(grid, two[:, 1] - two[:, 0]).sum())
            counts[level - 1] += len(D)

    add(model.pivot_level, pivot_distances(block, model))
    for level in range(model.pivot_level, height):
        placements = settled(block, model, level)
        for topic, at in by_topic(placements.topic, model, level):
            rows = placements.row[at]
            C = block.put(model.vectors[model.tree.children(topic)])
            add(level + 1, squared_distances(block.pick(rows), C, block.squared_norms[rows]))
    return place(block, model), sums, counts
