"""Twin of `core.spheres` and `core.sphere`: candidates for the largest empty sphere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hierseed.core.exact import Grid
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.sphere import Candidates
from hierseed.core.hierseed.spheres import Found
from hierseed.engines.torch.block import TorchBlock, fetch
from hierseed.engines.torch.descend import by_topic, settled
from hierseed.engines.torch.distance import lowest, squared_distances
from hierseed.engines.torch.exact import quantize

Floats = NDArray[np.float64]


def candidates_of_level(
    block: TorchBlock,
    model: Model,
    tolerance: str,
    grid: Grid,
    grid2: Grid,
    level: int,
    vectors: Floats,
) -> Found:
    """Candidates of each topic of a level, among its assigned documents."""
    placements = settled(block, model, level)
    sets = ((topic, placements.row[at]) for topic, at in by_topic(placements.topic, model, level))
    return Found(_candidates(block, sets, model, vectors, tolerance, grid, grid2))


def candidates_above_pivot(
    block: TorchBlock, model: Model, tolerance: str, grid: Grid, grid2: Grid
) -> Found:
    """Candidates of each topic just above the pivot, among the documents nearest to it."""
    at_level, x2 = model.tree.at_level(model.pivot_level), block.squared_norms
    C = block.put(model.vectors[at_level])
    D = squared_distances(block.X, C, x2)
    best = lowest(D, x2 + C.square().sum(dim=1).amax())
    parent = model.tree.parent[at_level]
    above = block.put(parent)[best]
    sets = ((int(topic), torch.nonzero(above == topic)[:, 0]) for topic in np.unique(parent))
    return Found(_candidates(block, sets, model, model.vectors, tolerance, grid, grid2))


def windows(distances: Tensor, *, empty: bool = False) -> tuple[Tensor, Tensor]:
    """Least spread of three sorted distances, and the mean of those three, for each document."""
    width = min(3, distances.shape[1])
    ordered = distances.sort(dim=1)[0]
    if empty:
        ordered = ordered[:, :width]
    spread = ordered[:, width - 1 :] - ordered[:, : ordered.shape[1] - width + 1]
    least, at = spread.min(dim=1, keepdim=True)
    total = torch.stack([ordered.gather(1, at + step) for step in range(width)]).sum(dim=0)
    return least[:, 0], total[:, 0] / width


def _candidates(
    block: TorchBlock,
    sets: Iterable[tuple[int, Tensor]],
    model: Model,
    vectors: Floats,
    tolerance: str,
    grid: Grid,
    grid2: Grid,
) -> Iterator[tuple[int, Candidates]]:
    for topic, rows in sets:
        children = model.tree.children(topic)
        if len(children) < 2 or not len(rows):
            continue
        C = block.put(vectors[children])
        D = squared_distances(block.pick(rows), C, block.squared_norms[rows])
        spread, radius = windows(D.sqrt_(), empty=tolerance == "empty")
        kept = unbeaten(spread, radius)
        yield topic, Candidates(
            fetch(spread[kept]), fetch(radius[kept]), fetch(rows[kept].long()) + block.start,
            len(rows), float(quantize(grid, spread).sum()), float(quantize(grid2, spread**2).sum()),
        )  # fmt: skip


def unbeaten(spread: Tensor, radius: Tensor) -> Tensor:
    """Documents that no other beats or equals in spread and in radius."""
    order = torch.argsort(radius, descending=True, stable=True)
    order = order[torch.argsort(spread[order], stable=True)]
    largest = radius[order].cummax(dim=0)[0]
    first = torch.ones_like(order, dtype=torch.bool)
    first[1:] = radius[order][1:] > largest[:-1]
    return order[first]
