"""Twin of `core.anchor.place` and `precision`: at every level the most probable topic."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from hierseed.core.mixture.curve import EDGE
from hierseed.core.mixture.placement import FINE, Placer
from hierseed.core.mixture.precision import STEPS
from hierseed.engines.torch.arrays import fetch
from hierseed.engines.torch.block import TorchBlock
from hierseed.engines.torch.exact import quantize, tally
from hierseed.engines.torch.moments import log_joint, shares


def labels(block: TorchBlock, placer: Placer) -> NDArray[Any]:
    """Deepest topic of each document, -1 for None."""
    return fetch(descend(block, placer)[0].int())


def label_and_count(block: TorchBlock, placer: Placer) -> tuple[NDArray[Any], NDArray[Any]]:
    """Topic of each document, and the number of scores in each thousandth, per level."""
    topic, score = descend(block, placer)
    counts = np.zeros((score.shape[1], STEPS), dtype=np.int64)
    path = block.put(placer.tree.ancestors)[topic]
    for level in range(path.shape[1]):
        value = score[path[:, level] >= 0, level]
        counts[level] = fetch(tally((value * STEPS).long().clamp_(max=STEPS - 1), STEPS))
    return fetch(topic.int()), counts


def descend(block: TorchBlock, placer: Placer) -> tuple[Tensor, Tensor]:
    """Topic of each document, and its score at each level."""
    own, mass = probabilities(block, placer)
    tree, n = placer.tree, len(block)
    topic = torch.full((n,), -1, dtype=torch.long, device=block.device)
    score = own.new_full((n, max(tree.height, 1)), torch.nan)
    stops = placer.components.of_topic >= 0
    waiting = [(-1, torch.arange(n, device=block.device))]
    while waiting:
        here, rows = waiting.pop()
        children = tree.children(here)
        options = [*children.tolist(), here] if stops[here] else children.tolist()
        value = torch.cat([mass[children][:, rows], own[[here]][:, rows]])[: len(options)]
        level = 1 if here < 0 else int(tree.level[here]) + 1
        probability, best = value.max(dim=0)
        for number in torch.unique(best).tolist():
            chosen, at = options[number], torch.nonzero(best == number)[:, 0]
            mine = rows[at]
            if chosen == here:  # stays: None at the root
                if here < 0:
                    score[mine, 0] = probability[at]
                continue
            worth = calibrate_scores(probability[at], placer.curve[level - 1])
            if here >= 0:
                worth = torch.minimum(worth, score[mine, level - 2])
            sure = worth >= placer.thresholds[level - 1]
            mine = mine[sure]
            topic[mine], score[mine, level - 1] = chosen, worth[sure]
            if len(mine) and len(tree.children(chosen)):
                waiting.append((chosen, mine))
    score[(topic < 0) & score[:, 0].isnan(), 0] = 0.0
    return topic, score


def calibrate_scores(score: Tensor, curve: NDArray[Any]) -> Tensor:
    """Apply the curve of one level."""
    offset, slope = curve.tolist()
    if offset == 0.0 and slope == 1.0:
        return score
    score = score.clamp(EDGE, 1.0 - EDGE)
    return 1.0 / (1.0 + (-offset - slope * (score.log() - (-score).log1p())).exp())


def probabilities(block: TorchBlock, placer: Placer) -> tuple[Tensor, Tensor]:
    """(topics + 1) x documents: what stops at each topic, and what is in it or below."""
    components, tree = placer.components, placer.tree
    X = quantize(placer.grid, block.X)
    L = log_joint(block, X, placer.mixture, 2.0**-placer.grid.bits)
    share = quantize(FINE, shares(L, placer.temperature)[0].T) * 2.0**-FINE.bits
    own = share.new_zeros((len(tree) + 1, len(block)))
    own.index_add_(0, block.put(components.topic % len(own)), share)  # -1, None, is the last
    mass = own.clone()
    for topic in range(len(tree) - 1, -1, -1):
        if tree.parent[topic] >= 0:
            mass[tree.parent[topic]] += mass[topic]
    return own, mass.clamp_(max=1.0)
