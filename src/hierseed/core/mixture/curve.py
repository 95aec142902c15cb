"""From the probability of a placement to the share of such placements that is right.

One temperature can't be honest at every level: what it leaves too unsure near the root is still
too sure below. So each level has a curve, learned from seeds that were held back: straight in
log odds, rising, and shrunk towards that of the level above where seeds are few. It changes
scores, never placements.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hierseed.core.arrays import NUMPY, Array, Arrays

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

BELIEF = (0.5, 0.25)  # how far offset and slope may lie from the level above's
LEAST_SLOPE = 0.1
EDGE = 1e-9  # nearer to 0 and 1 than this, log odds are cut
STEPS = 12  # of Newton's method; it needs four to six


def identity(height: int) -> Floats:
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


def learn(scores: Floats, right: Bools) -> Floats:
    """Curve of each level that makes what was seen most likely.

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


def _fit(odds: Floats, hit: Bools, belief: Floats) -> Floats:
    """Logistic regression of one variable, held towards a belief."""
    order = np.lexsort((hit, odds))  # sums must not depend on the order of the seeds
    odds, hit = odds[order], hit[order]
    rows, held = np.stack([np.ones(len(odds)), odds]), np.diag(np.power(BELIEF, -2.0))
    curve = belief
    for _ in range(STEPS):
        share = 1.0 / (1.0 + np.exp(-curve @ rows))
        slope = rows @ (share - hit) + held @ (curve - belief)
        bow = (rows * (share * (1.0 - share))) @ rows.T + held
        curve = curve - np.linalg.solve(bow, slope)
        curve[1] = max(curve[1], LEAST_SLOPE)
    return curve
