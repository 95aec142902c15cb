"""How many placements are right: calibrated scores, and the accuracy to expect.

Each level has a calibration curve, learned from seeds held out: a line in log odds, rising, and
shrunk towards that of the level above where seeds are few. One temperature for all levels would
leave scores too low near the root and too high below. Curves change scores, never placements.

Where seeds held out are placed says what share of a level is right. They are too few to say it of
single topics: 4 seeds a topic are noisier than topics differ. The scores of the documents placed
in a topic say more. They are too high by about as many log odds in all topics of a level, so they
are moved together until their mean is the accuracy of the level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hierseed.core.arrays import NUMPY, Array, Arrays, Bools, Floats, Integers

Z = 1.96  # of a 95% interval
PRIOR = (0.5, 0.25)  # standard deviations of offset and slope about those of the level above
LEAST_SLOPE = 0.1
EDGE = 1e-9  # nearer to 0 and 1 than this, log odds are cut
STEPS = 12  # of Newton's method; it needs four to six
SPREAD = 0.65  # standard deviation of a topic's accuracy about that of its scores, in log odds
HALVINGS = 50  # of the interval of log odds that the common shift of a level lies in
WIDEST = 42.0  # log odds that no shift exceeds: twice those of the surest score


@dataclass(frozen=True)
class Share:
    """An estimated share and its confidence interval."""

    value: float
    low: float
    high: float

    @classmethod
    def from_counts(cls, value: float, n: float) -> Share:
        """A share of n cases with Wilson's interval; 0 to 1 without any case."""
        if n < 1:
            return cls(value, 0.0, 1.0)
        middle = (value + Z**2 / (2 * n)) / (1 + Z**2 / n)
        half = Z / (1 + Z**2 / n) * math.sqrt(value * (1 - value) / n + (Z / (2 * n)) ** 2)
        return cls(value, max(middle - half, 0.0), min(middle + half, 1.0))

    def complement(self) -> Share:
        """The share of the others."""
        return Share(1 - self.value, 1 - self.high, 1 - self.low)

    def __str__(self) -> str:
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%})"


def identity_curves(height: int) -> Floats:
    """Curves that leave every score as it is: offset 0, slope 1."""
    return np.tile([0.0, 1.0], (max(height, 1), 1))


def calibrate_scores(score: Array, curve: Floats, xp: Arrays = NUMPY) -> Array:
    """Apply the curve of one level; what is untouched stays the same to the last bit."""
    offset, slope = map(float, curve)
    if offset == 0.0 and slope == 1.0:
        return score
    return 1.0 / (1.0 + xp.exp(-offset - slope * log_odds(score, xp)))


def log_odds(score: Array, xp: Arrays = NUMPY) -> Array:
    """Logarithm of p / (1 - p)."""
    score = score.clip(EDGE, 1.0 - EDGE)
    return xp.log(score) - xp.log1p(-score)


def learn_curves(scores: Floats, right: Bools) -> Floats:
    """Return the most probable curve of each level.

    Parameters
    ----------
    scores : (placements, levels), NaN where a placement does not reach the level
    right : whether the placement is right there
    """
    curves, last = [], np.array([0.0, 1.0])
    for score, hit in zip(scores.T, right.T):
        reaches = np.isfinite(score)
        last = _fit(log_odds(score[reaches]), hit[reaches], last)
        curves.append(last)
    return np.stack(curves)


def _fit(odds: Floats, hit: Bools, mean: Floats) -> Floats:
    """Logistic regression of one variable, with a normal prior about `mean`."""
    order = np.lexsort((hit, odds))  # sums must not depend on the order of the seeds
    odds, hit = odds[order], hit[order]
    rows, precision = np.stack([np.ones(len(odds)), odds]), np.diag(np.power(PRIOR, -2.0))
    curve = mean
    for _ in range(STEPS):
        share = 1.0 / (1.0 + np.exp(-curve @ rows))
        gradient = rows @ (share - hit) + precision @ (curve - mean)
        hessian = (rows * (share * (1.0 - share))) @ rows.T + precision
        curve = curve - np.linalg.solve(hessian, gradient)
        curve[1] = max(curve[1], LEAST_SLOPE)
    return curve


@dataclass(frozen=True)
class HeldPlacements:
    """Where a fit places the seeds that it has not seen, and how many placements will be right.

    The mean score of the corpus would promise too much: documents shape the topics that they are
    placed in, so a fit is surer of them than of documents that it has not seen. Seeds held out
    are such documents. They are drawn topic by topic, though, and say nothing of how large topics
    are. They are therefore counted twice, each topic by its number of seeds and each by the size
    that the fit found. The middle of both is expected, and the interval spans both.

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


def expect_levels(
    held: HeldPlacements | None, means: list[float], thresholds: Floats, listed: Share
) -> list[Share]:
    """Share of placements to expect right at each level.

    That of the seeds held out, times the share of the documents placed that belong to listed
    topics; or the mean score, which contains belonging, where none could be held out.
    """
    if held is None:
        return [Share(mean, 0.0, 1.0) for mean in means]
    return [
        Share(one.value * listed.value, one.low * listed.low, one.high * listed.high)
        for one in held.accuracy(thresholds)[: len(means)]
    ]


def listed_of_placed(foreign: Share, coverage: float) -> Share:
    """Share of the documents placed that belong to listed topics."""
    parts = (foreign.value, foreign.high, foreign.low)
    value, low, high = (min((1.0 - part) / max(coverage, 1e-9), 1.0) for part in parts)
    return Share(value, low, high)


def expect_topics(
    mean: Floats, documents: Integers, level: Integers, levels: list[Share]
) -> list[Share | None]:
    """Share of the documents in each topic or below it to expect right; None where unknown.

    Parameters
    ----------
    mean : mean score of these documents; NaN for topics that nothing is expected of
    documents : number of these documents
    level : of each topic, from 1
    levels : accuracy to expect of each level
    """
    found: list[Share | None] = [None] * len(mean)
    for number, share in enumerate(levels, start=1):
        at = np.flatnonzero((level == number) & (documents > 0) & np.isfinite(mean))
        if not len(at):
            continue
        value = shift_to(mean[at], documents[at], share.value)
        low, high = _interval(value, documents[at], share)
        for topic, *one in zip(at.tolist(), value.tolist(), low.tolist(), high.tolist()):
            found[topic] = Share(*one)
    return found


def shift_to(score: Floats, weight: Integers, target: float) -> Floats:
    """Move all scores by the same log odds so that their weighted mean is the target."""
    low, high = -WIDEST, WIDEST
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        moved = calibrate_scores(score, np.array([middle, 1.0]))
        below = float((weight * moved).sum()) < target * float(weight.sum())
        low, high = (middle, high) if below else (low, middle)
    return np.asarray(calibrate_scores(score, np.array([high, 1.0])))


def _interval(value: Floats, n: Integers, level: Share) -> tuple[Floats, Floats]:
    """Ends of the intervals of topics of n documents, as sure as the level and scores allow.

    The error of the level is that of all its topics; topics deviate from their scores; and n
    documents are a sample of what the topic would take in.
    """
    middle, low, high = log_odds(np.array([level.value, level.low, level.high])).tolist()
    down = calibrate_scores(value, np.array([-math.hypot(middle - low, Z * SPREAD), 1.0]))
    up = calibrate_scores(value, np.array([math.hypot(high - middle, Z * SPREAD), 1.0]))
    noise = Z**2 * value * (1.0 - value) / n
    least = value - np.sqrt((value - down) ** 2 + noise)
    most = value + np.sqrt((up - value) ** 2 + noise)
    return least.clip(min=0.0), most.clip(max=1.0)


def below_their_level(
    topics: list[Share | None],
    documents: Integers,
    level: Integers,
    levels: list[Share],
    sure: float,
) -> list[int]:
    """Topics less accurate than their level by this many standard deviations, the lowest first.

    The error of the level is common to all its topics, so it makes no difference.
    """
    at = np.array([topic for topic, one in enumerate(topics) if one is not None], dtype=np.intp)
    if not len(at):
        return []
    value = np.array([one.value for one in topics if one is not None])
    whole = np.array([one.value for one in levels])[level[at] - 1]
    cases = np.maximum(value * (1.0 - value) * documents[at], EDGE)
    low = log_odds(value) + sure * np.hypot(SPREAD, cases**-0.5) < log_odds(whole)
    return [int(topic) for topic in at[low][np.lexsort((at[low], value[low]))]]
