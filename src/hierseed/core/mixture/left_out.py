"""What seeds would score if their own topic were missing, level by level.

A seed scored without itself shows how documents of listed topics score. A seed scored without
its whole topic shows how documents of a missing topic score: those of a missing leaf, of a missing
inner topic and, without the whole branch, of a missing topic of level 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import Bools, Floats, Ints
from hierseed.core.exact import sum_by_group
from hierseed.core.mixture.components import Components, Pairs
from hierseed.core.mixture.neighbours import LENGTH, OWN, Neighbourhood

Singles = NDArray[np.float32]

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
    fewer : scores without the seed and one more of its topic; NaN where no third seed is left
    others : number of other seeds of its topic
    """

    scores: Floats
    component: Ints
    fewer: Floats
    others: Ints

    @property
    def own(self) -> Floats:
        """Scores that documents of listed topics have, estimated from seeds without themselves.

        A topic without one of its seeds is known less well than the topic that documents are
        compared with. The score of a topic with m seeds lacks about c / m, so that a seed without
        itself lacks c / (m (m - 1)) more than a document does. Leaving out one more seed shows c.
        """
        alone, m = self.scores[:, -1], self.others + 1.0
        steps = (alone - self.fewer) * (m - 1.0) * (m - 2.0)
        known = np.isfinite(steps)
        lack = max(float(steps[known].mean()), 0.0) if known.any() else 0.0
        return np.asarray(alone + lack / np.maximum(m * (m - 1.0), 1.0))


@dataclass(frozen=True)
class _Places:
    """Seeds, and the references that are their neighbours.

    Attributes
    ----------
    neighbourhood : scores them
    neighbour : (seeds, neighbours) the references
    crowd : (seeds, neighbours) similarity of each neighbour to its own neighbours
    part : (seeds,) of their length along the main directions
    real : (seeds, neighbours) False for padding
    """

    neighbourhood: Neighbourhood
    neighbour: Ints
    crowd: Floats
    part: Floats
    real: Bools

    def score(self, near: Singles, around: Singles) -> Floats:
        """Score of seeds with these similarities to the nearest topic, theirs and of neighbours."""
        own = self.neighbourhood.own_part(near.astype(np.float64), self.part)
        rest = np.where(self.real, around - self.crowd, 0.0)
        mean = rest.sum(axis=1) / np.maximum(self.real.sum(axis=1), 1)
        return np.asarray((own + (1.0 - OWN) * mean) / LENGTH**2)


class _Outside:
    """Largest similarity of each row to topics, and to those outside of the nearest one's branch.

    These two answer for every branch: the topics of a branch need not be looked at again for each
    seed and each of its neighbours.
    """

    def __init__(self, similarity: Singles, branch: Ints) -> None:
        best = similarity.argmax(axis=1)
        self.branch, self.first = branch[best], similarity[np.arange(len(best)), best]
        inside = branch == self.branch[:, None]
        self.second = np.where(inside, -np.inf, similarity).max(axis=1)

    def of(self, branch: Ints, rows: Ints) -> Singles:
        """Largest similarity of some rows to topics outside of these branches."""
        found: Singles = np.where(self.branch[rows] == branch, self.second[rows], self.first[rows])
        return found


class _Others:
    """The largest similarities of each reference to topics, more than a seed has topics."""

    def __init__(self, similarity: Singles, each: int) -> None:
        few = min(each, similarity.shape[1] - 1)
        self.topic = np.argpartition(-similarity, few, axis=1)[:, : few + 1]
        self.similarity = np.take_along_axis(similarity, self.topic, axis=1)

    def of(self, references: Ints, row: Ints, topic: Ints) -> Singles:
        """Largest similarity of references to topics that are not listed for their `row`."""
        found, listed = self.similarity[references], self.topic[references]
        turn = np.arange(len(row)) - np.searchsorted(row, row)
        for at in range(turn.max(initial=-1) + 1):
            mine = np.full((len(references), 1, 1), -1)
            mine[row[turn == at], 0, 0] = topic[turn == at]
            found[listed == mine] = -np.inf
        largest: Singles = found.max(axis=2)
        return largest


def seeds_alone(neighbourhood: Neighbourhood, pairs: Pairs) -> tuple[Floats, Floats]:
    """Similarity of each seed to its nearest topic, with topics made of the other seeds.

    Also the part of its length along the main directions.
    """
    topics = _Topics(neighbourhood, pairs)
    similarity, parts = [np.zeros(0)], [np.zeros(0)]
    for at in topics.pieces(1):
        U, part = neighbourhood.directions(pairs.vectors[at])
        *_, near, missing = topics.without(at, U)
        own = np.where(missing, -np.inf, near).max(axis=1).astype(np.float64)
        similarity.append(np.where(topics.counts[pairs.component[at]] > 1, own, np.nan))
        parts.append(part)
    return np.concatenate(similarity), np.concatenate(parts)


def leave_out(neighbourhood: Neighbourhood, pairs: Pairs, components: Components) -> LeftOut:
    """Score each seed without itself, and without its topic at each level."""
    topics = _Topics(neighbourhood, pairs)
    path = components.tree.ancestors[components.topic]
    to_topics = neighbourhood.references @ neighbourhood.topics.T
    crowd = to_topics.max(axis=1) - neighbourhood.difference
    outside = [_Outside(to_topics, branch) for branch in path.T]
    rest = _Others(to_topics, np.unique(pairs.seed, return_counts=True)[1].max(initial=0))
    parts, fewer = [np.zeros((0, path.shape[1] + 1))], [np.zeros(0)]
    others = topics.counts[pairs.component] - 1
    for at in topics.pieces(neighbourhood.k):
        U, part = neighbourhood.directions(pairs.vectors[at])
        neighbour, real = _indices(neighbourhood.nearest_references(U)[1])
        near, every = U @ neighbourhood.topics.T, np.arange(len(at))
        places = _Places(neighbourhood, neighbour, crowd[neighbour], part, real)
        found = np.full((len(at), path.shape[1] + 1), np.nan)
        mine = path[pairs.component[at]]
        for level, branch in enumerate(path.T):
            own = _Outside(near, branch).of(mine[:, level], every)
            around = outside[level].of(mine[:, level, None], neighbour)
            scored = (mine[:, level] >= 0) & _has_siblings(path, mine, level)
            score = places.score(np.maximum(own, -(LENGTH**2)), around)
            found[scored, level] = score[scored]
        for also, scores in ((0, found[:, -1]), (1, np.full(len(at), np.nan))):
            enough = others[at] > also
            if enough.any():
                row, topic, less, near, missing = topics.without(at, U, also)
                around = rest.of(neighbour, row, topic)
                to_less = np.einsum("ikj,ij->ik", neighbourhood.references[neighbour[row]], less)
                kept = ~missing[row, topic]
                np.maximum.at(around, row[kept], to_less[kept])
                own = np.where(missing, -(LENGTH**2), near).max(axis=1)
                scores[enough] = places.score(own, around)[enough]
        parts.append(found)
        fewer.append(scores)
    chosen = topics.chosen
    return LeftOut(
        np.concatenate(parts), pairs.component[chosen], np.concatenate(fewer), others[chosen]
    )


def _has_siblings(path: Ints, mine: Ints, level: int) -> Bools:
    """Whether the parents of these branches hold anything else; `path` is of all components."""
    size = np.bincount(path[:, level] + 1)[mine[:, level] + 1]
    above = np.bincount(path[:, level - 1] + 1)[mine[:, level - 1] + 1] if level else len(path)
    return np.asarray(above > size)


class _Topics:
    """Directions of topics with all of their seeds, and without one of them."""

    def __init__(self, neighbourhood: Neighbourhood, pairs: Pairs) -> None:
        self.neighbourhood, self.pairs, n = neighbourhood, pairs, len(neighbourhood.topics)
        self.sums = sum_by_group(pairs.component, pairs.vectors - neighbourhood.centre, n)
        self.counts = np.bincount(pairs.component, minlength=n)
        self.chosen, self.next = _some(pairs), _next(pairs)

    def pieces(self, values: int) -> Iterator[Ints]:
        """Pairs to leave out, as many at a time as memory allows with this many values a topic."""
        size = max(VALUES // (values * len(self.sums)), 1)
        return (self.chosen[at : at + size] for at in range(0, len(self.chosen), size))

    def without(
        self, at: Ints, U: Singles, also: int = 0
    ) -> tuple[Ints, Ints, Singles, Singles, Bools]:
        """Leave out each of these seeds, whose unit rows are U, from all of its topics.

        `also` : number of further seeds to leave out of each topic, 0 or 1

        Returns rows of `at` with each topic of theirs, the direction of that topic without the
        seed, similarities of all rows to all topics, and topics that have no other seed.
        """
        row, pair = _alike(self.pairs.seed[at], self.pairs.seed)
        topic = self.pairs.component[pair]
        rest = self.sums[topic] - (self.pairs.vectors[pair] - self.neighbourhood.centre)
        if also:
            rest -= self.pairs.vectors[self.next[pair]] - self.neighbourhood.centre
        less = self.neighbourhood.of_sums(rest)
        near = U @ self.neighbourhood.topics.T
        near[row, topic] = np.einsum("ij,ij->i", U[row], less)
        missing = np.zeros(near.shape, dtype=bool)
        missing[row, topic] = self.counts[topic] < 2 + also
        return row, topic, less, near, missing


def _alike(one: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Positions of equal numbers, in order of both; each of `one` occurs in `other`."""
    order = np.argsort(other, kind="stable")
    first, last = (np.searchsorted(other[order], one, side) for side in ("left", "right"))
    row = np.repeat(np.arange(len(one)), last - first)
    turn = np.arange(len(row)) - np.searchsorted(row, row)
    return row, order[first[row] + turn]


def _in_order(pairs: Pairs) -> Ints:
    """An order that depends on topics and vectors alone."""
    return np.lexsort((*pairs.vectors.T[:3], pairs.component))


def _some(pairs: Pairs) -> Ints:
    """All pairs, or a part of them, evenly spaced."""
    order = _in_order(pairs)
    return order[:: -(-len(order) // MOST)]


def _next(pairs: Pairs) -> Ints:
    """The seed that follows each seed of a topic; the first one follows the last."""
    order = _in_order(pairs)
    component = pairs.component[order]
    first = np.searchsorted(component, component)
    after = np.arange(1, len(order) + 1)
    after = np.where(np.append(component[1:], -1) == component, after, first)
    found = np.empty(len(order), dtype=np.intp)
    found[order] = order[after]
    return found


def _indices(mine: Bools) -> tuple[Ints, Bools]:
    """Neighbours of each row as indices, and which of them are real and not padding."""
    count = mine.sum(axis=1)
    first = np.argsort(~mine, axis=1, kind="stable")[:, : count.max(initial=1)]
    return first, np.arange(first.shape[1]) < count[:, None]
