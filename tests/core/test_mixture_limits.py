"""The limit below which documents are rejected: its quantiles, and false alarms in the end."""

import numpy as np
import pytest
from mixture_worlds import overlapping_topics
from scipy.stats import gamma, norm

from hierseed.core.mixture.belonging import (
    conformal_quantile,
    learn_membership,
    smooth_quantile,
)

# ------------------------------------------------------------------ quantiles


@pytest.mark.parametrize("share", [0.0, 0.03, 0.05, 0.1, 0.5, 0.99])
@pytest.mark.parametrize("n", [1, 5, 18, 19, 20, 200])
def test_the_conformal_quantile_is_the_greatest_score_that_keeps_the_share(n, share):
    rng = np.random.default_rng(n)
    for own, weight in (
        (rng.normal(size=n), np.ones(n)),
        (np.round(rng.normal(size=n)), rng.uniform(0.2, 5.0, n)),  # ties, topics of any size
    ):
        new = (weight**2).sum() / weight.sum()
        fine = [
            limit
            for limit in own
            if (weight[own < limit].sum() + new) / (weight.sum() + new) <= share
        ]
        expected = max(fine, default=-np.inf)
        assert conformal_quantile(own, weight, share) == expected
        silent = np.append(own, np.nan), np.append(weight, 7.0)  # a seed of which nothing is known
        assert conformal_quantile(*silent, share) == expected


def test_with_equal_weights_fewer_than_nineteen_seeds_lose_nothing_at_five_percent():
    own = np.arange(18.0)
    assert conformal_quantile(own, np.ones(18), 0.05) == -np.inf
    assert conformal_quantile(np.arange(19.0), np.ones(19), 0.05) == 0.0  # none is below it
    assert conformal_quantile(np.arange(39.0), np.ones(39), 0.05) == 1.0


@pytest.mark.parametrize("n", [20, 40, 80, 160])
def test_the_quantile_loses_at_most_the_share_of_what_is_exchangeable(n):
    """2,000 draws of n seeds and 1 document; standard error .005."""
    rng = np.random.default_rng(n)
    lost = []
    for _ in range(2000):
        every = rng.gamma(2.0, size=n + 1)
        lost.append(every[-1] < conformal_quantile(every[:-1], np.ones(n), 0.05))
    assert 0.05 - 1 / n - 0.015 < np.mean(lost) < 0.05 + 0.015


@pytest.mark.parametrize("n", [20, 40, 80, 160])
@pytest.mark.parametrize("shape", ["normal", "long tail below", "long tail above"])
def test_the_smooth_quantile_loses_the_share_and_varies_less(shape, n):
    """2,000 draws of n seeds: the mean share lost is about the promise, and steadier."""
    rng, smooth, single = np.random.default_rng(n), [], []
    tail = {"normal": norm.cdf, "long tail below": lambda x: gamma.sf(-x, 3.0)}.get(
        shape, lambda x: gamma.cdf(x, 3.0)
    )
    for _ in range(2000):
        own = rng.normal(size=n) if shape == "normal" else rng.gamma(3.0, size=n)
        own = -own if shape == "long tail below" else own
        smooth.append(tail(smooth_quantile(own, np.ones(n), 0.05)))
        single.append(tail(conformal_quantile(own, np.ones(n), 0.05)))
    assert 0.015 < np.mean(smooth) < 0.065
    if shape == "normal":
        assert np.mean(smooth) < 0.055
        off = [np.mean(np.subtract(lost, 0.05) ** 2) for lost in (smooth, single)]
        assert off[0] < 0.9 * off[1]


def test_the_smooth_quantile_moves_with_the_scores_and_with_the_weights():
    own = np.random.default_rng(0).normal(size=60)
    weight = np.ones(60)
    limit = smooth_quantile(own, weight, 0.05)
    assert smooth_quantile(2 * own + 3, weight, 0.05) == pytest.approx(2 * limit + 3)
    assert smooth_quantile(own, weight, 0.1) > limit
    assert smooth_quantile(own, np.where(own < np.median(own), 2.0, 1.0), 0.05) < limit
    silent = smooth_quantile(np.append(own, np.nan), np.append(weight, 7.0), 0.05)
    assert silent == limit
    assert smooth_quantile(own[:18], weight[:18], 0.05) == -np.inf
    assert smooth_quantile(np.full(40, 0.25), weight[:40], 0.05) == pytest.approx(0.25, abs=1e-6)


def test_a_seed_far_from_all_others_does_not_overflow_the_smooth_quantile():
    own = np.append(np.tile([-1.0, 1.0], 20_000), 4_000.0)
    assert np.isfinite(smooth_quantile(own, np.ones(len(own)), 0.05))  # warnings are errors


# ------------------------------------------------------------------ the promise


def outcome(draw, listed, seeds, false_alarm=0.05):
    """False alarms, share of foreign documents found, and the estimated share of them."""
    X, inside, pairs, components = overlapping_topics(draw, listed, seeds)
    found, _ = learn_membership(X, X.mean(axis=0, dtype=float), pairs, components, false_alarm)
    _, rejected = found.belonging.depth(found.neighbourhood.scores(X)[0])
    foreign = rejected[~inside].mean() if (~inside).any() else 0.0
    return rejected[inside].mean(), foreign, found.foreign, (~inside).mean()


@pytest.mark.parametrize(("seeds", "least"), [(1, 0.0), (2, 0.0), (4, 0.45), (8, 0.7)])
def test_false_alarms_stay_within_what_was_accepted(seeds, least):
    """Eight of twenty topics listed, ten draws.

    Mean false alarm, worst draw, share of foreign documents found (60% of the corpus is foreign):
    1 seed a topic    .000  .000  .00   nothing can be left out, and 8 seeds promise nothing
    2                 .000  .000  .00   16 seeds: 1 / 17 is more than .05
    4                 .020  .038  .70
    8                 .029  .059  .81
    """
    found = [outcome(draw, 8, seeds) for draw in range(10)]
    assert np.mean([alarm for alarm, *_ in found]) <= 0.05 + 0.01
    assert np.mean([caught for _, caught, *_ in found]) >= least
    assert np.mean([share.low <= truth <= share.high for *_, share, truth in found]) >= 0.8


@pytest.mark.parametrize("seeds", [2, 8])
def test_nearly_nothing_is_rejected_where_nothing_is_foreign(seeds):
    found = [outcome(draw, 20, seeds) for draw in range(5)]
    assert np.mean([alarm for alarm, *_ in found]) < 0.005
    assert all(share.low == 0.0 for *_, share, _ in found)
