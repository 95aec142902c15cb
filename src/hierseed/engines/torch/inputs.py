"""Twin of the pass in `inputs` that looks for rows that are no numbers."""

from __future__ import annotations

import torch

from hierseed.engines.torch.block import TorchBlock, fetch
from hierseed.estimators.inputs import Survey


def survey(block: TorchBlock) -> Survey:
    """Count rows with NaN or infinity; the longest of the others."""
    norms = block.squared_norms
    fine = norms.isfinite()
    rows = torch.nonzero(~fine)[:, 0]
    longest = norms[fine].amax().sqrt() if fine.any() else norms.new_zeros(())
    return Survey(len(rows), (fetch(rows[:5]) + block.start).tolist(), float(longest))
