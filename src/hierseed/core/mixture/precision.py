"""From a wished precision to a threshold a level: with honest scores, no labels are needed.

The precision expected of all placements that score at least t is the mean of their scores.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierseed.core.block import Block, portable
from hierseed.core.blocks import Blocks
from hierseed.core.mixture.placement import Placer, descend

Floats = NDArray[np.float64]
Ints = NDArray[np.integer]

STEPS = 1000


def label_and_count(blocks: Blocks, placer: Placer) -> tuple[NDArray[np.int32], Ints]:
    """Topic of each document, and the number of scores in each thousandth, per level."""
    found = []
    counts = np.zeros((max(placer.tree.height, 1), STEPS), dtype=np.int64)
    for topic, part in blocks.map(_label_and_count, placer):
        found.append(topic)
        counts += part
    return np.concatenate(found), counts


def mean_scores(counts: Ints) -> list[float]:
    """Mean score of each level that documents reach."""
    middle = (np.arange(STEPS) + 0.5) / STEPS
    total = counts.sum(axis=1)
    return [float(row @ middle / n) for row, n in zip(counts, total) if n]


def thresholds(counts: Ints, precision: float) -> Floats:
    """Lowest threshold of each level that promises the precision; above 1 where none does."""
    middle = (np.arange(STEPS) + 0.5) / STEPS
    kept = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1]
    right = np.cumsum((counts * middle)[:, ::-1], axis=1)[:, ::-1]
    fine = (kept > 0) & (right >= precision * kept)
    lowest = np.where(fine.any(axis=1), fine.argmax(axis=1) / STEPS, 2.0)
    lowest[kept[:, 0] == 0] = 0.0
    return np.asarray(lowest, dtype=np.float64)


@portable
def _label_and_count(block: Block, placer: Placer) -> tuple[NDArray[np.int32], Ints]:
    xp, found = block.xp, descend(block, placer)
    counts = np.zeros((found.score.shape[1], STEPS), dtype=np.int64)
    path = xp.asarray(placer.tree.ancestors, xp.index)[found.topic]
    for level in range(path.shape[1]):
        value = found.score[path[:, level] >= 0, level]
        at = xp.astype(value * STEPS, xp.index).clip(max=STEPS - 1)
        counts[level] = xp.to_numpy(xp.bincount(at, STEPS))
    return xp.to_numpy(xp.astype(found.topic, xp.int32)), counts
