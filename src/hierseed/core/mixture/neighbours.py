"""How near a document is to the seeds, compared with how near it is to its neighbours.

A document of a listed topic is nearly as close to that topic's seeds as to the documents around
it. A foreign document is close to its neighbours only. The difference of the two similarities is
noisy for one document, so it is averaged over the document's neighbours: they mostly belong where
it belongs. The document's own similarity to the nearest topic is added, because a document that
is like nothing else, such as a nonsense string, has neighbours that say nothing about it.

Neighbours are looked up among a fixed set of reference documents. Vectors are scaled to unit
length and rounded to whole numbers so small that every inner product is exact in float32. All
engines therefore agree on every neighbour, to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from hierseed.core.distance import chunks

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.intp]

LENGTH = 4000.0  # of a rounded unit vector: the product of two stays below 2**24
REFERENCES = 768
NEIGHBOURS = 15
OWN = 0.25  # weight of a document's own similarity beside the mean of its neighbours' differences
COARSE = 32.0  # references' differences are rounded to this, so that sums of 20 are exact
PIECE = 1024  # rows


def unit_rows(X: NDArray[np.floating], centre: Floats) -> Singles:
    """Centred rows of unit length, rounded to whole numbers; a row at the centre is zero."""
    rows = X - centre
    length = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    rows *= (LENGTH / np.where(length > 0, length, np.inf))[:, None]
    return np.rint(rows, out=rows).astype(np.float32)


@dataclass(frozen=True)
class Neighbourhood:
    """Reference documents and topic directions, as rounded unit vectors.

    Attributes
    ----------
    centre : mean of the fitting corpus
    references : (references, dimensions)
    topics : (components, dimensions) mean direction of each component's seeds
    difference : similarity of each reference to its nearest topic, less that to its neighbours
    """

    centre: Floats
    references: Singles
    topics: Singles
    difference: Floats

    @classmethod
    def learn(cls, X: NDArray[np.floating], topics: Floats, centre: Floats) -> Neighbourhood:
        """Learn from reference documents and the mean direction of each component's seeds."""
        references = unit_rows(X, centre)
        found = cls(centre, references, unit_rows(topics, np.zeros(1)), np.zeros(len(X)))
        near = [(U @ found.topics.T).max(axis=1) for U in _pieces(references)]
        crowd = [found.lookup(U)[0] for U in _pieces(references)]
        return cls(centre, references, found.topics, _joined(near) - _joined(crowd))

    @property
    def k(self) -> int:
        """Neighbours of a document: few in a small corpus."""
        return max(min(NEIGHBOURS, round(len(self.references) ** 0.5)), 1)

    @cached_property
    def _coarse(self) -> Singles:
        return np.rint(self.difference / COARSE).astype(np.float32)

    def lookup(self, U: Singles) -> tuple[Floats, NDArray[np.bool_]]:
        """Mean similarity of each row to its nearest references, and which these are.

        A reference with the same vector is no neighbour: it may be the document itself. All
        references as near as the last neighbour are included.
        """
        similarity = U @ self.references.T
        top = self._top(similarity)
        alike = np.flatnonzero(top.max(axis=1) >= np.einsum("ij,ij->i", U, U))
        if len(alike):
            row, at = np.nonzero(similarity[alike] >= top[alike, :1])
            twin = (U[alike[row]] == self.references[at]).all(axis=1)
            similarity[alike[row[twin]], at[twin]] = -np.inf
            top[alike] = self._top(similarity[alike])
        mine = similarity >= np.maximum(top.min(axis=1), -(LENGTH**2) * 2)[:, None]
        return np.where(np.isfinite(top), top, 0.0).mean(axis=1, dtype=np.float64), mine

    def _top(self, similarity: Singles) -> Singles:
        return np.partition(similarity, len(self.references) - self.k, axis=1)[:, -self.k :]

    def scores(self, X: NDArray[np.floating]) -> tuple[Floats, Ints]:
        """How much each row is like listed topics, and its nearest component."""
        found: list[Floats] = []
        nearest: list[Ints] = []
        for rows in _pieces(X):
            U = unit_rows(rows, self.centre)
            to_topics = U @ self.topics.T
            _, mine = self.lookup(U)
            nearest.append(to_topics.argmax(axis=1))
            found.append(self._combine(to_topics.max(axis=1), mine, self._coarse))
        return _joined(found), np.concatenate([np.zeros(0, dtype=np.intp), *nearest])

    @staticmethod
    def _combine(own: Floats, mine: NDArray[np.bool_], coarse: Singles) -> Floats:
        count = mine.sum(axis=1)
        around = (mine.astype(np.float32) @ coarse).astype(np.float64)
        many = np.flatnonzero(count * np.abs(coarse).max(initial=0.0) >= 2.0**24)
        if len(many):  # a float32 would lose digits
            around[many] = mine[many] @ coarse.astype(np.float64)
        mixed = OWN * own + (1.0 - OWN) * COARSE * around / np.maximum(count, 1)
        return np.asarray(mixed / LENGTH**2)


def _pieces(X: NDArray[np.floating]) -> Iterator[NDArray[np.floating]]:
    return (X[at] for at in chunks(len(X), 1, PIECE))


def _joined(parts: list[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *parts])
