"""The accuracy to expect: of each level from seeds held out, of each topic from its scores.

Where seeds held out are placed says what share of a level is right. They are too few to say it of
single topics: 4 seeds a topic are noisier than topics differ. The scores of the documents placed
in a topic say more. They are too high by about as many log odds in all topics of a level, so they
are moved together until their mean is the accuracy of the level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hierseed.core.mixture.curve import calibrate_scores, log_odds
from hierseed.core.share import Share, Z

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.integer]

SPREAD = 0.65  # standard deviation of a topic's accuracy about that of its scores, in log odds
HALVINGS = 50  # of the interval of log odds that the common shift of a level lies in
WIDEST = 42.0  # log odds that no shift exceeds: twice those of the surest score


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
        for topic, one, n in zip(at.tolist(), value.tolist(), documents[at].tolist()):
            found[topic] = _with_interval(one, n, share)
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


def _with_interval(value: float, n: int, level: Share) -> Share:
    """The accuracy of a topic of n documents, as sure as its level and its scores allow.

    The error of the level is that of all its topics; topics deviate from their scores; and n
    documents are a sample of what the topic would take in.
    """
    parts = np.array([value, level.value, level.low, level.high])
    own, middle, low, high = (float(one) for one in log_odds(parts))
    down = own - math.hypot(middle - low, Z * SPREAD)
    up = own + math.hypot(high - middle, Z * SPREAD)
    noise = Z**2 * value * (1.0 - value) / n
    down, up = (value - 1.0 / (1.0 + math.exp(-end)) for end in (down, up))
    return Share(
        value,
        max(value - math.sqrt(down**2 + noise), 0.0),
        min(value + math.sqrt(up**2 + noise), 1.0),
    )


def below_their_level(
    topics: list[Share | None],
    documents: Integers,
    level: Integers,
    levels: list[Share],
    sure: float,
) -> list[int]:
    """Topics less accurate than their level by so many standard deviations, the lowest first.

    The error of the level is common to all its topics, so it makes no difference.
    """
    found = []
    for topic, share in enumerate(topics):
        if share is None:
            continue
        own, whole = log_odds(np.array([share.value, levels[int(level[topic]) - 1].value]))
        noise = share.value * (1.0 - share.value) * max(int(documents[topic]), 1)
        if noise and own + sure * math.hypot(SPREAD, noise**-0.5) < whole:
            found.append((share.value, topic))
    return [topic for _, topic in sorted(found)]
