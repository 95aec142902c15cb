"""What seeds would score if their own topic were missing, level by level.

A seed scored without itself shows how documents of listed topics score. A seed scored without
its whole topic shows how documents of a missing topic score: those of a missing leaf, of a missing
inner topic and, without the whole branch, of a missing topic of level 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.mixture.components import Components
from hierseed.core.mixture.neighbours import LENGTH, OWN, Neighbourhood, unit_rows
from hierseed.core.mixture.seeds import Pairs

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

MOST = 2_000  # seeds that are scored
VALUES = 8_000_000  # numbers held at a time


@dataclass(frozen=True)
class LeftOut:
    """Scores of seeds whose topic, or a topic above it, is left out.

    Attributes
    ----------
    scores : (seeds, levels + 1). Column j: without all topics in the seed's branch at level j + 1.
        The last column: without the seed alone. NaN where the rest says nothing.
    component : of each seed
    """

    scores: Floats
    component: Ints

    @property
    def own(self) -> Floats:
        """Scores without the seed alone, as documents of listed topics have them."""
        return self.scores[:, -1]


@dataclass(frozen=True)
class _Places:
    """Similarities of seeds and of their neighbours to topics.

    Attributes
    ----------
    near : (seeds, components)
    around : (seeds, neighbours, components)
    crowd : (seeds, neighbours) similarity of each neighbour to its own neighbours
    real : (seeds, neighbours) False for padding
    """

    near: Floats
    around: Floats
    crowd: Floats
    real: Bools

    def score(self, missing: Bools) -> Floats:
        """Score without some components, one row of `missing` for each seed."""
        own = np.where(missing, -np.inf, self.near).max(axis=1)
        rest = np.where(missing[:, None], -np.inf, self.around).max(axis=2) - self.crowd
        mean = np.where(self.real, rest, 0.0).sum(axis=1) / np.maximum(self.real.sum(axis=1), 1)
        return np.asarray((OWN * own + (1.0 - OWN) * mean) / LENGTH**2)


def leave_out(hood: Neighbourhood, pairs: Pairs, components: Components) -> LeftOut:
    """Score each seed without itself, and without its topic at each level."""
    chosen = _some(pairs)
    path = components.tree.ancestors[components.topic]
    to_topics = hood.references @ hood.topics.T
    crowd = to_topics.max(axis=1) - hood.difference
    sums = np.zeros(hood.topics.shape)
    np.add.at(sums, pairs.component, pairs.vectors - hood.centre)
    counts = np.bincount(pairs.component, minlength=len(sums))
    every = np.arange(len(pairs.seed))
    size = max(VALUES // (hood.k * len(sums)), 1)
    parts = [np.zeros((0, path.shape[1] + 1))]
    for start in range(0, len(chosen), size):
        at = chosen[start : start + size]
        U = unit_rows(pairs.vectors[at], hood.centre)
        _, mine = hood.lookup(U)
        neighbour, real = _indices(mine)
        near = (U @ hood.topics.T).astype(np.float64)
        around = to_topics[neighbour].astype(np.float64)
        base = crowd[neighbour]
        places = _Places(near, around, base, real)
        found = np.full((len(at), path.shape[1] + 1), np.nan)
        mine_path = path[pairs.component[at]]
        for level in range(path.shape[1]):
            missing = path[:, level] == mine_path[:, level, None]
            beside = ~missing
            if level:
                beside &= path[:, level - 1] == mine_path[:, level - 1, None]
            told = (mine_path[:, level] >= 0) & beside.any(axis=1)
            if told.any():
                found[told, level] = places.score(missing)[told]
        # without the seed alone: the means of its own topics are made of their other seeds
        same = pairs.seed[at][:, None] == pairs.seed
        near_own, around_own = near.copy(), around.copy()
        missing = np.zeros((len(at), len(sums)), dtype=bool)
        row, pair = np.nonzero(same)
        topic = pairs.component[every[pair]]
        missing[row, topic] = counts[topic] < 2
        less = unit_rows(sums[topic] - (pairs.vectors[pair] - hood.centre), np.zeros(1))
        near_own[row, topic] = np.einsum("ij,ij->i", U[row], less)
        around_own[row, :, topic] = np.einsum("ikj,ij->ik", hood.references[neighbour[row]], less)
        told = counts[pairs.component[at]] > 1
        if told.any():
            found[told, -1] = _Places(near_own, around_own, base, real).score(missing)[told]
        parts.append(found)
    return LeftOut(np.concatenate(parts), pairs.component[chosen])


def _some(pairs: Pairs) -> Ints:
    """All pairs, or every so many of them in an order that depends on the vectors alone."""
    order = np.lexsort((*pairs.vectors.T[:3], pairs.component))
    return order[:: -(-len(order) // MOST)]


def _indices(mine: Bools) -> tuple[Ints, Bools]:
    """Neighbours of each row as indices, and which of them are real and not padding."""
    count = mine.sum(axis=1)
    first = np.argsort(~mine, axis=1, kind="stable")[:, : count.max(initial=1)]
    return first, np.arange(first.shape[1]) < count[:, None]
