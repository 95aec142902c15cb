"""From probabilities to scores: temperature, curves, and thresholds."""

import numpy as np
import pytest

from hierseed.core.mixture.accuracy import calibrate_scores, identity_curves, learn_curves
from hierseed.core.mixture.calibration import BINS, most_likely, thresholds
from hierseed.core.mixture.gaussian_mixture import responsibilities
from hierseed.core.mixture.placement import FINE


@pytest.mark.parametrize("truth", [1.5, 3.0, 6.0])
def test_temperature_is_found_from_labels_drawn_at_it(truth):
    rng = np.random.default_rng(3)
    L = rng.normal(size=(8, 4000)) * 8
    share = FINE.dequantize(responsibilities(L.copy(), FINE, truth)[0])
    own = (share.cumsum(axis=0) < rng.random(4000)).sum(axis=0)
    mine = np.eye(8, dtype=bool)[own].T
    assert most_likely(L, mine) == pytest.approx(truth, rel=0.08)
    twins = np.concatenate([L, L - 1e9])  # a second topic that is out of reach changes nothing
    assert most_likely(twins, np.tile(mine, (2, 1))) == most_likely(L, mine)


def test_curves_are_found_from_what_was_drawn_on_them():
    rng = np.random.default_rng(0)
    score = rng.beta(2, 1, size=(20_000, 3))
    truth = [(0.0, 1.0), (-0.8, 1.4), (-0.4, 0.7)]
    right = np.stack(
        [rng.random(20_000) < calibrate_scores(s, c) for s, c in zip(score.T, truth)], axis=1
    )
    score[rng.random(20_000) < 0.3, 2] = np.nan  # placed higher up
    np.testing.assert_allclose(learn_curves(score, right), truth, atol=0.12)


def test_a_curve_that_few_seeds_support_stays_near_the_one_above():
    score = np.array([[0.9, 0.8, np.nan], [0.6, 0.5, np.nan]])
    right = np.array([[True, False, False], [True, False, False]])
    curve = learn_curves(score, right)
    assert abs(curve[1] - curve[0]).max() < 0.5  # two failures are no proof
    assert curve[1, 0] < curve[0, 0]
    np.testing.assert_array_equal(curve[2], curve[1])


def test_curves_rise_and_straight_ones_change_no_bit():
    score = np.linspace(0, 1, 101)
    assert calibrate_scores(score, identity_curves(3)[2]) is score
    worst = learn_curves(np.linspace(0.01, 0.99, 99)[:, None], np.arange(99)[:, None] < 50)[0]
    bent = calibrate_scores(score, worst)
    assert (np.diff(bent) > 0).all()
    assert 0 <= bent.min() <= bent.max() <= 1


def test_thresholds_keep_as_much_as_the_precision_allows():
    rng = np.random.default_rng(0)
    score = rng.beta(3, 1.5, size=20_000)
    counts = np.bincount((score * BINS).astype(int), minlength=BINS)[None]
    low, high = thresholds(counts, 0.7)[0], thresholds(counts, 0.9)[0]
    assert low < high
    assert score[score >= high].mean() >= 0.9 - 1e-3
    assert score[score >= high - 2 / BINS].mean() < 0.9 + 1e-3
    assert thresholds(counts, 0.2)[0] == 0.0
    assert thresholds(counts, 0.9999)[0] > 1.0
