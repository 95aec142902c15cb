"""Whether a document belongs to a listed topic at all, and how far down.

The score of `neighbours` separates documents of listed topics from foreign ones. Seeds that were
left out one at a time show how documents of listed topics score (`left_out`). What the corpus has
beyond that is foreign. Two numbers follow, both without labels:

- the share of the corpus that belongs to listed topics: the largest share of the seeds'
  distribution that fits below the corpus's (mixture proportion estimation);
- the probability that a document with a given score belongs (a local false discovery rate).

Topics differ in how high their documents score, and how many documents a topic has is not known
well. Foreign documents are therefore said to exist only where documents score significantly lower
than seeds even if topics that score low have more documents than it seems. Otherwise all documents
belong, and nothing is rejected.

Seeds are exchangeable with documents of their topic, so a quantile of their scores bounds the
share of such documents that is lost (a conformal p-value). Seeds whose whole topic was left out
show how documents of missing topics score, level by level. They decide whether a foreign document
stays below an inner topic, as Other, or belongs nowhere.

`Membership` gives the documents of a block their scores, and their weights in the fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY, Array, Arrays, Floats, Ints
from hierseed.core.blocks import Block
from hierseed.core.exact import sum_by_group
from hierseed.core.mixture.accuracy import Share
from hierseed.core.mixture.components import Components, Pairs
from hierseed.core.mixture.left_out import LeftOut, leave_out, seeds_alone
from hierseed.core.mixture.neighbours import NOTHING, REFERENCES, Neighbourhood

KNOTS = 65
LEAST_SEEDS = 5  # left-out scores that make a distribution
ROUNDS = 2  # of weighing seeds by the size of their topic, which depends on belonging
TAIL = (0.4, 0.75)  # quantiles of seeds' scores between which shares are compared
SIGNIFICANT = 2.0  # standard errors by which documents must score lower than seeds
CLEAR = 3.0  # standard errors from which on all accepted false alarms are spent
MIXING = 60  # rounds of expectation-maximisation for the shares of missing levels
NOWHERE = 0.5  # weight of the prior that foreign documents belong nowhere, to that of the data
WIDTH = 1.06  # of a kernel density estimate, by Silverman's rule
TAILS = 40.0  # scales below the lowest seed where nothing is left of its bell
HALVINGS = 40  # of the interval that the limit lies in
LEAST = 0.02  # share of seeds that may be less like any topic than the least similarity
PARTS = 8  # a document's weight is a whole number of eighths: sums of products stay exact
TIE = 0.01  # documents whose belonging is equal are ranked by their score within this


@dataclass(frozen=True)
class Belonging:
    """From a score to probabilities.

    Attributes
    ----------
    knots : scores
    below : (levels + 1, knots). Row j: probability of belonging to a listed topic of level j + 1
        or deeper. The last row: of belonging to the topic that the document is placed in.
    limit : least score that a document of a listed topic has, but for the accepted share of false
        alarms; a document above it is never rejected
    foreign : share of the corpus that belongs to no listed topic
    """

    knots: Floats
    below: Floats
    limit: float
    foreign: Share

    @classmethod
    def certain(cls, levels: int) -> Belonging:
        """All documents belong: nothing was found, or rejection is off."""
        nothing = Share(0.0, 0.0, 0.0)
        return cls(np.array([-1.0, 1.0]), np.ones((levels + 1, 2)), -np.inf, nothing)

    @cached_property
    def all_belong(self) -> bool:
        """Whether no document with content counts as foreign."""
        return bool((self.below[:, 1:] >= 1.0 - TIE).all())

    def at(self, score: Array, level: int = -1, xp: Arrays = NUMPY) -> Array:
        """Probability of belonging at a level (0: at all; -1: where the document is placed)."""
        return xp.interp(score, self.knots, self.below[level])

    def depth(self, score: Array, xp: Arrays = NUMPY) -> tuple[Array, Array]:
        """Levels that each document belongs to, 0 for none; and whether it is rejected."""
        levels = len(self.below) - 1
        kept = xp.full(len(score), levels, xp.index)
        rejected = (score < self.limit) & (self.at(score, xp=xp) < 0.5)
        for level in range(levels, 0, -1):
            kept[rejected & (self.at(score, level - 1, xp) < 0.5)] = level - 1
        return kept, rejected


def learn_belonging(
    score: Floats, nearest: Ints, seeds: LeftOut, counts: Ints, false_alarm: float
) -> Belonging:
    """Learn from scores of documents and of left-out seeds.

    Parameters
    ----------
    score, nearest : of a sample of documents, with the component nearest to each
    counts : seeds of each component
    false_alarm : share of documents of listed topics that may be lost
    """
    own, levels = _own(seeds), seeds.scores.shape[1] - 1
    knots = np.unique(np.quantile(score, np.linspace(0, 1, KNOTS))) if len(score) else score
    if np.isfinite(own).sum() < LEAST_SEEDS or len(knots) < 3:
        return Belonging.certain(levels)
    seen = topic_sizes(nearest, np.ones(len(score)), counts)
    doubt = float(np.exp(np.log(seen).std()))
    weight = (seen / np.maximum(counts, 1))[seeds.component]
    halfway = np.sqrt(weight)  # to seeds that all count the same
    worst = least_favourable_weights(own, seeds.component, weight, doubt)
    sure, curve = evidence(score, own, worst), np.ones(len(knots))
    share = Share(listed_share(score, own, worst).value, listed_share(score, own, weight).low, 1.0)
    belongs = np.ones(len(score))
    for _ in range(ROUNDS if sure else 0):
        seen = topic_sizes(nearest, belongs, counts)
        weight = (seen / np.maximum(counts, 1))[seeds.component]
        share = listed_share(score, own, weight)
        cautious = least_favourable_weights(own, seeds.component, weight, np.sqrt(doubt))
        curve = belonging_curve(knots, score, own, cautious)
        belongs = np.interp(score, knots, curve)
    missing = missing_levels(knots, score, 1.0 - belongs, seeds, weight)
    below = np.empty((levels + 1, len(knots)))
    below[-1] = curve
    for level in range(levels):
        below[level] = curve + (1.0 - curve) * missing[level + 1 :].sum(axis=0)
        below[level] = np.maximum(isotonic_regression(below[level], np.ones(len(knots))), curve)
    rank = np.linspace(0.0, 1.0, len(knots))  # knots are quantiles
    below = (1.0 - TIE) * below + TIE * rank
    if knots[0] > NOTHING:
        knots, below = np.append(NOTHING, knots), np.pad(below, ((0, 0), (1, 0)))
    below[:, 0] = 0.0  # documents without content belong nowhere
    least = min(smooth_quantile(own, halfway, false_alarm), NOTHING / 2.0)  # no content is below
    limit = max(smooth_quantile(own, halfway, sure * false_alarm), least)
    return Belonging(knots, below, limit, share.complement())


def topic_sizes(nearest: Ints, belongs: Floats, counts: Ints) -> Floats:
    """Documents nearest to each topic, and one more."""
    return np.asarray(1.0 + np.bincount(nearest, belongs, minlength=len(counts)))


def least_favourable_weights(own: Floats, component: Ints, weight: Floats, doubt: float) -> Floats:
    """Weights of seeds that differ from these by a factor at most and give the lowest mean score.

    Documents of a large, loose topic are often nearest to the seeds of a small, tight one, so a
    topic's size is uncertain, by about as much as sizes vary. Topics that score low are taken to be
    larger by this factor, and the others smaller.
    """
    finite = np.isfinite(own)
    n = int(component.max(initial=-1)) + 1
    mass = np.bincount(component[finite], weight[finite], minlength=n)
    total = np.bincount(component[finite], (weight * own)[finite], minlength=n)
    order = np.argsort(total / np.maximum(mass, 1e-300), kind="stable")
    low, low_total = np.cumsum(mass[order]), np.cumsum(total[order])
    mean = (doubt * low_total + (total.sum() - low_total) / doubt) / np.maximum(
        doubt * low + (mass.sum() - low) / doubt, 1e-300
    )
    factor = np.full(n, 1.0 / doubt)
    factor[order[: int(mean.argmin()) + 1]] = doubt
    return np.asarray(weight * factor[component])


def evidence(score: Floats, own: Floats, weight: Floats) -> float:
    """How clear it is that documents score lower than seeds do: 0 not at all, 1 quite.

    In between, fewer false alarms are accepted, so that a corpus just beyond the limit does not
    lose many documents at once.
    """
    own, weight = _finite(own, weight)
    error = _deviation(own, weight) * float(np.sqrt((weight**2).sum()))
    lower = float(weight @ own - score.mean()) / max(error, 1e-300)
    return min(max((lower - SIGNIFICANT) / (CLEAR - SIGNIFICANT), 0.0), 1.0)


def _own(seeds: LeftOut) -> Floats:
    """Scores of seeds without themselves; a topic with one seed is left out whole instead.

    Such a seed scores lower than a document of its topic would: the promise is kept, and fewer
    foreign documents are found.
    """
    own = seeds.own.copy()
    for level in range(seeds.scores.shape[1] - 2, -1, -1):
        own = np.where(np.isfinite(own), own, seeds.scores[:, level])
    return own


def listed_share(score: Floats, own: Floats, weight: Floats) -> Share:
    """Share of documents in listed topics: how much of the seeds' upper tail documents have.

    Few foreign documents score as high as the better half of the seeds. There the share of
    documents above a score, over the share of seeds above it, is that of listed topics.
    """
    own, weight = _finite(own, weight)
    order = np.argsort(own)
    tail = 1.0 - np.cumsum(weight[order]) + weight[order]  # of seeds at or above each
    inside = np.flatnonzero((tail >= 1.0 - TAIL[1]) & (tail <= 1.0 - TAIL[0]))
    if not len(inside):
        return Share(1.0, 0.0, 1.0)
    tail, at = tail[inside], own[order[inside]]
    above = 1.0 - np.searchsorted(np.sort(score), at, side="left") / len(score)
    effective = 1.0 / float((weight**2).sum())
    error = np.sqrt((1.0 - tail) / (tail * effective))
    ratio = float((above / tail) @ error**-2 / (error**-2).sum())
    spread = float(error.mean())
    value, low, high = (min(max(ratio * (1.0 + z * spread), 0.0), 1.0) for z in (0.0, -2.0, 2.0))
    return Share(value, low, high)


def belonging_curve(knots: Floats, score: Floats, own: Floats, weight: Floats) -> Floats:
    """Probability of belonging at each knot: never falls, and agrees with the share listed."""
    own, weight = _finite(own, weight)
    share = listed_share(score, own, weight).value
    effective = 1.0 / float((weight**2).sum())
    spread = _deviation(own, weight)
    width = WIDTH * max(spread, 1e-12) * effective**-0.2
    listed = share * density(knots, own, weight, width)
    every = np.full(len(score), 1.0 / len(score))
    total = density(knots, score, every, width)
    return isotonic_regression(np.minimum(listed / np.maximum(total, 1e-300), 1.0), total)


def missing_levels(
    knots: Floats, score: Floats, rest: Floats, seeds: LeftOut, weight: Floats
) -> Floats:
    """(levels + 1, knots): of a document that is not where it was placed, how far down it belongs.

    Row j is the probability that it belongs to a topic of level j and to no listed one below;
    row 0: nowhere. The last row is zero. Seeds without their branch show how each kind scores.
    """
    levels = seeds.scores.shape[1] - 1
    found = np.zeros((levels + 1, len(knots)))
    finite = np.isfinite(seeds.scores[:, :levels])
    known = np.flatnonzero(finite.sum(axis=0) >= LEAST_SEEDS)
    if 0 not in known or rest.sum() <= 0.0:
        found[0] = 1.0
        return found
    shape = np.empty((len(known), len(knots)))
    for number, level in enumerate(known):
        own = weight[finite[:, level]] / weight[finite[:, level]].sum()
        shape[number] = kernel_density(knots, seeds.scores[finite[:, level], level], own) + 1e-12
    seen = np.array([np.interp(score, knots, each) for each in shape])
    nowhere = known == 0
    mix = np.full(len(known), 1.0 / len(known))
    for _ in range(MIXING):
        part = mix[:, None] * seen
        mix = (part / part.sum(axis=0)) @ rest / rest.sum()
        mix = (mix + NOWHERE * nowhere) / (1.0 + NOWHERE)
    part = mix[:, None] * shape
    found[known] = part / part.sum(axis=0)
    return found


def kernel_density(at: Floats, values: Floats, weight: Floats) -> Floats:
    """Density of weighted values, with a width by Silverman's rule."""
    width = WIDTH * max(_deviation(values, weight), 1e-12) * float((weight**2).sum()) ** 0.2
    return density(at, values, weight, width)


def conformal_quantile(own: Floats, weight: Floats, share: float) -> float:
    """Greatest score below which at most this share of documents of listed topics lies."""
    finite = np.isfinite(own)
    if not finite.any():
        return -np.inf
    own, weight = own[finite], weight[finite]
    order = np.argsort(own)
    new = float((weight**2).sum() / weight.sum())  # weight that a new document has, on average
    lost = (np.concatenate([[0.0], np.cumsum(weight[order])]) + new) / (weight.sum() + new)
    fine = np.flatnonzero(lost <= share)
    return float(own[order[min(fine[-1], len(own) - 1)]]) if len(fine) else -np.inf


def smooth_quantile(own: Floats, weight: Floats, share: float) -> float:
    """Score below which this share of documents of listed topics is expected to lie.

    Few seeds score so low, so single ones would decide. Each seed therefore stands for a logistic
    bell, as wide as in a kernel density estimate. Bells make a distribution wider, so seeds are
    moved towards their mean, until the variance is that of a document not seen (Student's t). With
    too few seeds to promise the share (see `conformal_quantile`) there is no such score.
    """
    if not np.isfinite(conformal_quantile(own, weight, share)):
        return -np.inf
    own, weight = _finite(own, weight)
    effective, mean, spread = (
        1.0 / float((weight**2).sum()),
        float(weight @ own),
        _deviation(own, weight),
    )
    bell = (WIDTH * effective**-0.2) ** 2  # in units of the seeds' variance
    unseen = (effective + 1.0) / max(effective - 3.0, 1.0)
    shrink = np.sqrt(unseen / (1.0 + bell))
    middle = mean + shrink * (own - mean)
    scale = max(float(shrink * np.sqrt(3.0 * bell) / np.pi) * spread, 1e-12)
    low, high = float(middle.min()) - TAILS * scale, float(middle.max())
    for _ in range(HALVINGS):
        limit = (low + high) / 2.0
        away = np.minimum((middle - limit) / scale, 700.0)  # beyond it exp overflows
        below = weight @ (1.0 / (1.0 + np.exp(away)))
        low, high = (limit, high) if below <= share else (low, limit)
    return low


def density(at: Floats, values: Floats, weight: Floats, width: float) -> Floats:
    """Kernel density estimate."""
    away = (at[:, None] - values) / width
    return np.asarray(np.exp(-0.5 * away**2) @ weight / (width * np.sqrt(2.0 * np.pi)))


def isotonic_regression(values: Floats, weight: Floats) -> Floats:
    """Nearest values that never fall, by pooling adjacent violators."""
    level: list[float] = []
    mass: list[float] = []
    count: list[int] = []
    for value, own in zip(values.tolist(), np.maximum(weight, 1e-12).tolist()):
        level.append(value)
        mass.append(own)
        count.append(1)
        while len(level) > 1 and level[-2] > level[-1]:
            both = mass[-2] + mass[-1]
            level[-2:] = [(level[-2] * mass[-2] + level[-1] * mass[-1]) / both]
            mass[-2:] = [both]
            count[-2:] = [count[-2] + count[-1]]
    return np.repeat(level, count)


def _finite(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Finite values, and their weights with a sum of one."""
    finite = np.isfinite(values)
    return values[finite], weight[finite] / weight[finite].sum()


def _deviation(values: Floats, weight: Floats) -> float:
    mean = float(weight @ values)
    return float(np.sqrt(weight @ (values - mean) ** 2))


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
        "limit": _or_none(belonging.limit),
        "least": found.neighbourhood and _or_none(found.neighbourhood.least),
        "least_part": found.neighbourhood and _or_none(found.neighbourhood.least_part),
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


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
