"""Twin of `core.reach`: what lies near each pivot topic."""

from __future__ import annotations

from typing import Any, cast

from hierseed.core.hierseed.descend import remembered
from hierseed.core.hierseed.empty_topics import Reach
from hierseed.core.hierseed.model import Model
from hierseed.engines.torch.block import TorchBlock, fetch
from hierseed.engines.torch.descend import pivot_distances, place


def reach(block: TorchBlock, model: Model) -> Reach:
    """Measure what lies near each pivot topic, and place the documents on the way."""
    D = pivot_distances(block, model)
    remembered(cast(Any, block), model)[model.pivot_level] = place(block, model, D)
    own = block.put(model.radii[model.pivots] ** 2)
    return Reach(fetch(D.amin(dim=0)), fetch((own >= D).sum(dim=0)))
