"""Names and descriptions as evidence of what topics are about.

The vector of a name differs from those of documents in one way that all names share: a name is a
phrase. So names are moved by the difference between the mean of the seeds and the mean of the
names. How far the moved names are from the means of their topics, compared with how far single
seeds are, says how many seeds a name is worth. Nothing is learned from gold labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Floats
from hierseed.embed.embedder import unit_length

ENOUGH = 5  # topics, to learn from what they have in common
MOST = 4.0  # seeds that a name may be worth
BITS = 24  # behind the binary point of unit vectors: their sums are exact in float64


@dataclass(frozen=True)
class NameEvidence:
    """Names as seeds.

    Attributes
    ----------
    vectors : one row per name, where its topic is expected
    worth : how many seeds a name is worth; 1 where the seeds can't show it
    """

    vectors: Floats
    worth: float

    def seeds(self, topics: Sequence[int], seeded: NDArray[np.bool_]) -> tuple[Floats, list[int]]:
        """Vectors and topics to add: once where a topic has no seed, else as often as it is worth.

        Parameters
        ----------
        topics : of the names
        seeded : whether each topic of the taxonomy has a seed
        """
        copies = [round(self.worth) if seeded[topic] else 1 for topic in topics]
        return np.repeat(self.vectors, copies, axis=0), np.repeat(topics, copies).tolist()


def learn_names(
    names: NDArray[np.floating],
    topics: Sequence[int],
    seeds: NDArray[np.floating],
    seed_topics: Sequence[Sequence[int]],
) -> NameEvidence:
    """Move names to where seeds say that topics are, and see how many seeds a name is worth.

    Parameters
    ----------
    names : vectors of the names of `topics`, prepared as documents are
    seeds, seed_topics : vectors of the seeds, and the topics of each
    """
    names, seeds = _exact(names), _exact(seeds)
    if len(names) < ENOUGH:
        return NameEvidence(unit_length(names, np.float64), 1.0)
    number = {topic: i for i, topic in enumerate(topics)}
    pairs = [(i, number[t]) for i, every in enumerate(seed_topics) for t in every if t in number]
    rows, which = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    counts = np.bincount(which, minlength=len(names))
    known = np.flatnonzero(counts)
    if len(known) < ENOUGH:
        return NameEvidence(unit_length(names - names.mean(axis=0), np.float64), 1.0)
    means = np.zeros_like(names)
    np.add.at(means, which, seeds[rows])
    means /= np.maximum(counts, 1)[:, None]
    shift = means[known].mean(axis=0) - names[known].mean(axis=0)
    moved = unit_length(names + shift, np.float64)
    freedom = len(which) - len(known)
    if not freedom:  # one seed per topic: the spread of seeds is unknown
        return NameEvidence(moved, 1.0)
    spread = ((seeds[rows] - means[which]) ** 2).sum(axis=1)
    within = math.fsum(spread) / freedom  # the same in any order of the seeds
    missed = ((means - moved) ** 2).sum(axis=1)[known] - within / counts[known]
    return NameEvidence(moved, within / max(float(missed.mean()), within / MOST))


def _exact(vectors: NDArray[np.floating]) -> Floats:
    """Round to so few bits that the order of sums does not matter."""
    return np.rint(np.asarray(vectors, dtype=np.float64) * 2.0**BITS) / 2.0**BITS
