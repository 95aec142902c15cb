"""How near a document is to the seeds, compared with how near it is to its neighbours.

A document of a listed topic is nearly as close to that topic's seeds as to the documents around
it. A foreign document is close to its neighbours only. The difference of the two similarities is
noisy for one document, so it is averaged over the document's neighbours: they mostly belong where
it belongs. The document's own similarity to the nearest topic is added, because a document that
is like nothing else, such as a nonsense string, has neighbours that say nothing about it.

A document that is less like any topic than nearly all seeds are is scored lower still. So is one
that differs from the corpus in directions in which documents of the corpus hardly differ, more
than nearly all seeds do: nonsense strings are like that. A document without content, whose vector
is zero, has the lowest score of all.

Neighbours are looked up among a fixed set of reference documents, along the directions in which
documents differ most. Directions that all documents share are weighed down, as in principal
component analysis with half of the whitening. This finds better neighbours in less time.

Vectors are scaled to unit length and rounded to whole numbers so small that every inner product is
exact in float32. All engines therefore agree on every neighbour, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from hierseed.core.arrays import NUMPY, Array, Arrays, Floats, Ints
from hierseed.core.blocks import Block, chunks
from hierseed.core.kernels.compiled import compiled, load_kernels

Singles = NDArray[np.float32]

LENGTH = 4000.0  # of a rounded unit vector: the product of two stays below 2**24
REFERENCES = 1024
NEIGHBOURS = 20
WIDTH = 64  # directions that similarities are measured along
WHITENING = 0.5  # 0: none; 1: all directions weigh the same
OWN = 0.25  # weight of a document's own similarity beside the mean of its neighbours' differences
DROP = 2.0  # times what a document lacks to the least similarity, or least part, that seeds have
NOTHING = -8.0  # score of a document without content; all others are higher
COARSE = 32.0  # references' differences are rounded to this, so that sums of 20 are exact
PIECE = 1024  # rows


def unit_rows(X: Array, centre: Floats, xp: Arrays = NUMPY) -> Array:
    """Centred rows of unit length, rounded to whole numbers; a row at the centre is zero."""
    return xp.round_directions(X, centre, LENGTH)


def turn(U: Array, main: Array, xp: Arrays = NUMPY) -> Array:
    """Rounded unit rows along the main directions, of unit length again and rounded."""
    return unit_rows(xp.whole_product(U, main), np.zeros(1), xp)


def main_directions(U: Singles) -> Singles:
    """Directions in which these rows differ most, each scaled by how much it counts."""
    wide = U.astype(np.float64)
    squares = wide.T @ wide  # half the work for the library, and exact
    first = max(len(squares) - WIDTH, 0)
    single = squares.astype(np.float32)  # found in half the time
    value, vector = eigh(single, subset_by_index=(first, len(squares) - 1), driver="evr")
    value, vector = value[::-1].astype(np.float64), vector[:, ::-1].astype(np.float64)
    usual = max(float(np.trace(squares)) / len(squares), 1e-300)
    scaled = (vector * (value.clip(min=0.0) / usual + 1.0) ** (-WHITENING / 2.0)).T
    longest = float(np.sqrt((scaled**2).sum(axis=1)).max())
    return np.rint(scaled * (LENGTH / longest)).astype(np.float32)


@dataclass(frozen=True)
class Neighbourhood:
    """Reference documents and topic directions, as rounded unit vectors.

    Attributes
    ----------
    centre : mean of the fitting corpus
    main : (directions, dimensions) along which similarities are measured
    references : (references, directions)
    topics : (components, directions) mean direction of each component's seeds
    difference : similarity of each reference to its nearest topic, less that to its neighbours
    least : similarity to their topic that nearly all seeds have
    least_part : part of the length along the main directions that nearly all seeds have
    """

    centre: Floats
    main: Singles
    references: Singles
    topics: Singles
    difference: Floats
    least: float = -np.inf
    least_part: float = -np.inf

    @classmethod
    def learn(cls, X: NDArray[np.floating], topics: Floats, centre: Floats) -> Neighbourhood:
        """Learn from reference documents and the mean direction of each component's seeds."""
        U = unit_rows(X, centre)
        main = main_directions(U)
        references = turn(U, main)
        listed = turn(unit_rows(topics, np.zeros(1)), main)
        found = cls(centre, main, references, listed, np.zeros(len(X)))
        near = [(U @ found.topics.T).max(axis=1) for U in _pieces(references)]
        crowd = [
            np.where(np.isfinite(top), top, 0.0).mean(axis=1, dtype=np.float64)
            for top, _ in (found.nearest_references(U) for U in _pieces(references))
        ]
        return replace(found, difference=_joined(near) - _joined(crowd))

    @property
    def k(self) -> int:
        """Neighbours of a document: few in a small corpus."""
        return max(min(NEIGHBOURS, round(len(self.references) ** 0.5)), 1)

    @cached_property
    def key(self) -> bytes:
        """Digest of the content; a worker gets a new copy of the model with each step."""
        found = sha256(np.array([self.least, self.least_part]).tobytes())
        for array in (self.centre, self.main, self.references, self.topics, self.difference):
            found.update(array.tobytes())
        return found.digest()

    @cached_property
    def _coarse(self) -> Singles:
        return np.rint(self.difference / COARSE).astype(np.float32)

    def directions(self, X: Array, xp: Arrays = NUMPY) -> tuple[Array, Array]:
        """Rounded unit rows of documents along the main directions; part of the length there."""
        U = unit_rows(X, self.centre, xp)
        along = xp.whole_product(U, xp.asarray(self.main))
        return unit_rows(along, np.zeros(1), xp), _part(along, U, xp)

    def of_sums(self, sums: Floats) -> Singles:
        """The same of sums of centred documents."""
        rows: Singles = turn(unit_rows(sums, np.zeros(1)), self.main)
        return rows

    def nearest_references(self, U: Array, xp: Arrays = NUMPY) -> tuple[Array, Array]:
        """Similarity of each row to its nearest references, and which these are.

        A reference with the same vector is no neighbour: it may be the document itself. All
        references as near as the last neighbour are included.
        """
        references = xp.asarray(self.references)
        similarity = U @ references.T
        square = xp.squared_norms(U)
        row, at = xp.nonzero(similarity == square[:, None])
        twin = xp.all_in_rows(U[row] == references[at])
        similarity[row[twin], at[twin]] = -np.inf
        top = xp.largest(similarity, self.k)
        return top, similarity >= xp.min(top, axis=1).clip(min=-(LENGTH**2) * 2)[:, None]

    def scores(self, X: Array, xp: Arrays = NUMPY) -> tuple[Array, Array]:
        """How much each row is like listed topics, and its nearest component."""
        kernels = compiled(X.shape[0] * len(self.references)) if xp is NUMPY else None
        if kernels:
            floats = np.float64 if X.dtype == np.float64 else np.float32
            rows = kernels.source(np.ascontiguousarray(X, dtype=floats))
            return self._scores_compiled(rows, 0, len(X), kernels)
        found, nearest = [xp.full(0, 0.0, xp.float64)], [xp.arange(0)]
        topics, coarse = xp.asarray(self.topics), xp.asarray(self._coarse)
        for rows in _pieces(X, xp):
            U, part = self.directions(rows, xp)
            to_topics = xp.whole_product(U, topics)
            nearest.append(xp.argmax(to_topics, axis=1))
            count, around = self._neighbours(U, coarse, xp)
            score = self._combine(xp.max(to_topics, axis=1), part, count, around, xp)
            found.append(xp.where(xp.wide_squared_norms(rows) > 0, score, NOTHING))
        return xp.concat(found), xp.concat(nearest)

    def _neighbours(self, U: Array, coarse: Array, xp: Arrays) -> tuple[Array, Array]:
        """Number of neighbours of each row, and the sum of their differences."""
        similarity = xp.whole_product(U, xp.asarray(self.references))
        largest, count, around = xp.sum_of_nearest(similarity, self.k, coarse)
        alike = xp.flatnonzero(largest >= xp.wide_squared_norms(U))  # perhaps a reference itself
        if len(alike):
            _, mine = self.nearest_references(U[alike], xp)
            count[alike] = xp.astype(mine.sum(axis=1), count.dtype)
            around[alike] = xp.sum_of_marked(mine, coarse)
        return count, around

    def scores_of(self, block: Block) -> Array:
        """How much each row of a block is like listed topics; halves are widened row by row."""
        rows = block.kernel_rows(len(self.references))
        kernels = load_kernels() if rows else None
        if rows is None or kernels is None:
            return self.scores(block.X, block.xp)[0]
        found = (
            self._scores_compiled(X, start, at.stop - at.start, kernels) for at, X, start in rows
        )
        return np.concatenate([score for score, _ in found])

    def _scores_compiled(
        self, X: NDArray[Any], start: int, n: int, kernels: ModuleType
    ) -> tuple[Floats, Ints]:
        """`scores` of n rows, from one on, in one call."""
        own, nearest = np.empty(n, dtype=np.float32), np.empty(n, dtype=np.intp)
        count, around = np.zeros(n, dtype=np.intp), np.zeros(n)
        part, content = np.empty(n), np.empty(n, dtype=np.bool_)
        main, packed = self._packed
        kernels.look_up(
            X, start, self.centre, LENGTH, main, packed, self.references, len(self.topics),
            self._coarse.astype(np.float64), self.k, own, nearest, count, around, part, content,
        )  # fmt: skip
        return np.where(content, self._combine(own, part, count, around), NOTHING), nearest

    @cached_property
    def _packed(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Main directions; references and topics: as the kernel takes them."""
        kernels = load_kernels()
        assert kernels
        listed = np.concatenate([self.references, self.topics])
        return kernels.pack_whole(self.main), kernels.pack_whole(listed)

    def own_part(self, similarity: Array, part: Array) -> Array:
        """What a document's own similarity to the nearest topic adds to its score.

        `part` : of the document's length along the main directions
        """
        lacks = (self.least - similarity).clip(min=0.0)
        lacks = lacks + LENGTH**2 * (self.least_part - part).clip(min=0.0)
        return OWN * similarity - DROP * lacks

    def _combine(
        self, own: Array, part: Array, count: Array, around: Array, xp: Arrays = NUMPY
    ) -> Array:
        own = self.own_part(xp.astype(own, xp.float64), part)
        return (own + (1.0 - OWN) * COARSE * around / count.clip(min=1)) / LENGTH**2


def _part(along: Array, U: Array, xp: Arrays = NUMPY) -> Array:
    """Length along the main directions over the whole length; both are exact before the root."""
    length = xp.sqrt(xp.wide_squared_norms(U))
    return xp.sqrt(xp.wide_squared_norms(along)) / (LENGTH * length.clip(min=1.0))


def _pieces(X: Array, xp: Arrays = NUMPY) -> Iterator[Array]:
    return (X[at] for at in chunks(len(X), 1, xp.piece or PIECE))


def _joined(parts: list[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *parts])
