"""Share of placements to expect right, from seeds that were held out.

The mean score of the corpus would promise too much: documents shape the topics that they are
placed in, so a fit is surer of them than of documents that it has not seen. Seeds held out are
such documents. They are drawn topic by topic, though, and say nothing of how large topics are. They
are therefore counted twice, each topic by its number of seeds and each by the size that the
fit found. The middle of both is expected, and the interval spans both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.share import Share

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class HeldPlacements:
    """Where a fit places the seeds that it has not seen.

    Attributes
    ----------
    score : (seeds, levels), NaN below the deepest topic that a seed reaches
    right : (seeds, levels) whether the seed belongs there
    own : (components, seeds) which a seed belongs to
    sizes : share of the corpus in each component
    """

    score: Floats
    right: Bools
    own: Bools
    sizes: Floats

    def accuracy(self, thresholds: Floats) -> list[Share]:
        """Share of placements at each level that are right, of those that reach its threshold."""
        own = self.own.astype(np.float64)
        seeds = own.sum(axis=1)
        sized = np.where(seeds > 0, self.sizes, 0.0) / np.maximum(seeds, 1)
        found, reaches = [Share(1.0, 0.0, 1.0)], np.ones(len(self.score), dtype=bool)
        for score, right, least in zip(self.score.T, self.right.T, thresholds):
            reaches = reaches & (score >= least)
            placed, hits = own @ reaches, own @ (reaches & right)
            if placed.any():
                found.append(_either(*(share_right(hits, placed, each) for each in (1.0, sized))))
            else:  # no more is known than that it is no easier than the level above
                found.append(Share(found[-1].value, 0.0, found[-1].high))
        return found[1:]


def share_right(hits: Floats, placed: Floats, weight: Floats | float) -> Share:
    """Share of hits, where each seed of a topic counts with the topic's weight.

    Topics differ in how easy they are, and how large each is is known roughly. So the interval is
    as wide as if topics were drawn at random, and at least as wide as if seeds were.
    """
    size = weight * placed / (weight * placed).sum()
    part = hits / np.maximum(placed, 1)
    value = float(size @ part)
    seeds = 1.0 / float((size**2 / np.maximum(placed, 1)).sum())
    spread = float(((size * (part - value)) ** 2).sum())
    return Share.from_counts(value, min(seeds, value * (1.0 - value) / spread) if spread else seeds)


def _either(one: Share, other: Share) -> Share:
    """The middle of two shares, with an interval that spans both intervals."""
    low, high = min(one.low, other.low), max(one.high, other.high)
    return Share((one.value + other.value) / 2.0, low, high)
