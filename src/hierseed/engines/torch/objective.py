"""Twin of `core.objective`: counts, sums and squared lengths of documents by leaf."""

from __future__ import annotations

import numpy as np
import torch

from hierseed.core.exact import Grid
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.objective import Weight
from hierseed.engines.torch.block import TorchBlock, fetch
from hierseed.engines.torch.descend import deepest, labels, split
from hierseed.engines.torch.exact import quantize, sum_rows, tally


def weigh(block: TorchBlock, model: Model, grid: Grid, grid2: Grid, before: Model | None) -> Weight:
    """Weigh the documents where they are placed, and those that no topic reaches where charged."""
    was = block.memo.get("labels")
    if was is None and before is not None:
        was = labels(deepest(block, before), len(block))
    placements = deepest(block, model)
    n, x2 = len(model.tree), block.squared_norms
    reached = torch.zeros(len(block), dtype=torch.bool, device=block.device)
    reached[placements.row] = True
    lost = torch.nonzero(~reached)[:, 0].int()
    charged = placements.nearest[lost]
    for level in range(model.pivot_level, model.tree.height):
        charged = split(block, lost, charged, model, level)
    row = torch.cat([placements.row, lost])
    topic = torch.cat([placements.topic, charged + n])
    counts = fetch(tally(topic, 2 * n))
    present = np.flatnonzero(counts)
    place = np.zeros(2 * n, dtype=np.int32)
    place[present] = np.arange(len(present))
    group = block.put(place)[topic]
    now = block.memo["labels"] = labels(placements, len(block))
    return Weight(
        present,
        counts[present],
        fetch(sum_rows(block, row, group, len(present), grid)[0]),
        fetch(tally(group, len(present), quantize(grid2, x2[row]))),
        covered=int(reached.sum()),
        placed=len(placements.row),
        moved=len(block) if was is None else int((now != was).sum()),
    )
