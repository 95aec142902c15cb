"""Belonging as the fit and the placement use it: a score and a weight for every document."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY, Array, Arrays
from hierseed.core.blocks import Block
from hierseed.core.exact import sum_by_group
from hierseed.core.mixture.belonging import Belonging, conformal_quantile, learn_belonging
from hierseed.core.mixture.components import Components, Pairs
from hierseed.core.mixture.left_out import leave_out, seeds_alone
from hierseed.core.mixture.neighbours import NOTHING, REFERENCES, Neighbourhood
from hierseed.core.share import Share

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

LEAST = 0.02  # share of seeds that may be less like any topic than the least similarity
PARTS = 8  # a document's weight is a whole number of eighths: sums of products stay exact


@dataclass
class _Scores:
    """Cache of a block: scores of its documents, the key of the model, and weights by belonging."""

    neighbourhood: bytes = b""
    score: Array = None
    belonging: Belonging | None = None
    parts: Array = None


@dataclass(frozen=True)
class Membership:
    """Scores documents against listed topics; None as `neighbourhood`: all documents belong."""

    neighbourhood: Neighbourhood | None
    belonging: Belonging

    @classmethod
    def certain(cls, levels: int) -> Membership:
        """All documents belong."""
        return cls(None, Belonging.certain(levels))

    @property
    def foreign(self) -> Share:
        """Share of the corpus that belongs to no listed topic."""
        return self.belonging.foreign

    def inlier_scores(self, block: Block) -> Array:
        """Score of each document of a block; computed once for all steps."""
        if self.neighbourhood is None:
            return block.xp.full(len(block), 1.0, block.xp.float64)
        known = block.cache(_Scores)
        if known.neighbourhood != self.neighbourhood.key:
            known.score = self.neighbourhood.scores_of(block)
            known.neighbourhood, known.belonging = self.neighbourhood.key, None
        return known.score

    def deciding_scores(self, block: Block) -> Array:
        """The same as far as it decides where documents go and what they weigh in the fit.

        Where all documents belong, all with content go the same way, and none is looked up.
        """
        if self.neighbourhood is None or not self.belonging.all_belong:
            return self.inlier_scores(block)
        score = block.xp.full(len(block), float(self.belonging.knots[-1]), block.xp.float64)
        score[block.squared_norms == 0] = NOTHING
        return score

    def parts_of(self, block: Block) -> Array:
        """Weight of each document of a block in the fit, in whole eighths."""
        score, known = self.deciding_scores(block), block.cache(_Scores)
        if known.belonging is not self.belonging:
            known.parts = block.xp.astype(self.parts(score, block.xp), block.xp.int8)
            known.belonging = self.belonging
        return block.xp.astype(known.parts, block.xp.float64)

    def parts(self, score: Array, xp: Arrays = NUMPY) -> Array:
        """Weight of a document in the fit, in whole eighths."""
        return xp.rint(PARTS * self.belonging.at(score, xp=xp))


@dataclass(frozen=True)
class SampleScores:
    """Score and nearest component of each document that belonging was learned from."""

    score: Floats
    nearest: Ints


def learn_membership(
    X: NDArray[np.floating],
    centre: Floats,
    pairs: Pairs,
    components: Components,
    false_alarm: float,
) -> tuple[Membership, SampleScores | None]:
    """Learn from a sample of documents, ordered by content, and from the seeds."""
    levels, n = components.tree.height, len(X)
    if n < 2:
        return Membership.certain(levels), None
    topics = sum_by_group(pairs.component, pairs.vectors - centre, len(components))
    chosen = np.linspace(0, n - 1, min(n, REFERENCES)).round().astype(np.intp)
    neighbourhood = Neighbourhood.learn(X[chosen], topics, centre)
    least, least_part = (
        conformal_quantile(each, np.ones(len(each)), LEAST)
        for each in seeds_alone(neighbourhood, pairs)
    )
    neighbourhood = replace(neighbourhood, least=least, least_part=least_part)
    score, nearest = neighbourhood.scores(X)
    counts = np.bincount(pairs.component, minlength=len(components))
    found = learn_belonging(
        score, nearest, leave_out(neighbourhood, pairs, components), counts, false_alarm
    )
    return Membership(neighbourhood, found), SampleScores(score, nearest)


def pack_membership(found: Membership) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what was learned, as JSON and arrays."""
    belonging, foreign = found.belonging, found.foreign
    header = {
        "limit": _finite(belonging.limit),
        "least": found.neighbourhood and _finite(found.neighbourhood.least),
        "least_part": found.neighbourhood and _finite(found.neighbourhood.least_part),
        "foreign": [foreign.value, foreign.low, foreign.high],
    }
    arrays: dict[str, NDArray[Any]] = {"knots": belonging.knots, "below": belonging.below}
    if found.neighbourhood is not None:
        arrays |= {
            "centre": found.neighbourhood.centre,
            "main": found.neighbourhood.main.astype(np.int16),
            "references": found.neighbourhood.references.astype(np.int16),
            "directions": found.neighbourhood.topics.astype(np.int16),
            "difference": found.neighbourhood.difference,
        }
    return header, arrays


def unpack_membership(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Membership:
    """Restore what `pack_membership` returned."""
    limit, least, least_part = (
        -np.inf if header[name] is None else header[name]
        for name in ("limit", "least", "least_part")
    )
    belonging = Belonging(arrays["knots"], arrays["below"], limit, Share(*header["foreign"]))
    if "references" not in arrays:
        return Membership(None, belonging)
    neighbourhood = Neighbourhood(
        arrays["centre"],
        arrays["main"].astype(np.float32),
        arrays["references"].astype(np.float32),
        arrays["directions"].astype(np.float32),
        arrays["difference"],
        least,
        least_part,
    )
    return Membership(neighbourhood, belonging)


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
