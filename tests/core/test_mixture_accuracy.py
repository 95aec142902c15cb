"""What seeds held out say of the accuracy of all placements."""

import numpy as np
import pytest

from hierseed.core.mixture.accuracy import (
    SPREAD,
    HeldPlacements,
    Share,
    below_their_level,
    expect_topics,
    share_right,
    shift_to,
)


def placements(right, topic, sizes, score=None):
    right = np.asarray(right, dtype=bool)
    right = right[:, None] if right.ndim == 1 else right
    own = np.arange(len(sizes))[:, None] == np.asarray(topic)
    score = np.ones(right.shape) if score is None else np.asarray(score, dtype=float)
    return HeldPlacements(score, right, own, np.asarray(sizes, dtype=float))


def test_with_topics_of_one_size_it_is_the_share_of_seeds_placed_rightly():
    found = placements([1, 1, 1, 0] * 10, np.repeat([0, 1], 20), [0.5, 0.5])
    (share,) = found.accuracy(np.zeros(1))
    assert share.value == pytest.approx(0.75)
    wilson = Share.from_counts(0.75, 40)
    assert (share.low, share.high) == pytest.approx((wilson.low, wilson.high))


def test_a_large_topic_that_is_hard_widens_the_interval():
    right = np.repeat([1, 0], [36, 4])
    topic = np.repeat(np.arange(10), 4)
    even = placements(right, topic, np.full(10, 0.1)).accuracy(np.zeros(1))[0]
    skewed = placements(right, topic, np.append(np.full(9, 0.05), 0.55)).accuracy(np.zeros(1))[0]
    assert even.value == pytest.approx(0.9)
    assert skewed.value == pytest.approx((0.9 + 0.45) / 2)
    assert skewed.low < 0.45 < even.low
    assert skewed.high >= even.high - 1e-12


def test_topics_that_differ_count_as_few_cases_and_seeds_that_differ_as_many():
    within, between = np.full(10, 2.0), np.repeat([4.0, 0.0], 5)
    four = np.full(10, 4.0)
    alike, apart = share_right(within, four, 1.0), share_right(between, four, 1.0)
    assert (alike.value, apart.value) == pytest.approx((0.5, 0.5))
    assert (alike.low, alike.high) == pytest.approx(
        (Share.from_counts(0.5, 40).low, Share.from_counts(0.5, 40).high)
    )
    assert (apart.low, apart.high) == pytest.approx(
        (Share.from_counts(0.5, 10).low, Share.from_counts(0.5, 10).high)
    )


def test_the_interval_holds_the_accuracy_where_sizes_and_difficulty_of_topics_vary():
    rng, inside = np.random.default_rng(0), 0
    for _ in range(200):
        size = rng.lognormal(0.0, 0.8, 40)
        size /= size.sum()
        easy = rng.beta(2.0, 1.0, 40)
        fitted = size * rng.lognormal(0.0, 0.5, 40)  # the fit knows sizes roughly
        topic = np.repeat(np.arange(40), 4)
        found = placements(rng.random(160) < easy[topic], topic, fitted / fitted.sum())
        (share,) = found.accuracy(np.zeros(1))
        inside += share.low <= size @ easy <= share.high
    assert 180 <= inside <= 200


def test_only_placements_that_reach_the_threshold_of_each_level_count():
    right = [[1, 1], [1, 0], [0, 0], [0, 0]]
    score = [[0.9, 0.8], [0.8, 0.7], [0.3, 0.2], [0.2, np.nan]]
    found = placements(right, [0, 1, 0, 1], [0.5, 0.5], score)
    every, sure = found.accuracy(np.zeros(2)), found.accuracy(np.array([0.5, 0.75]))
    assert [one.value for one in every] == pytest.approx([1 / 2, 1 / 3])
    assert [one.value for one in sure] == [1.0, 1.0]


def test_of_a_level_that_no_seed_reaches_little_is_said():
    found = placements([[1, 0], [0, 0]], [0, 1], [0.5, 0.5], [[0.9, np.nan], [0.9, np.nan]])
    first, second = found.accuracy(np.zeros(2))
    assert (second.value, second.low, second.high) == (first.value, 0.0, first.high)


def test_a_seed_of_two_topics_counts_in_both():
    own = np.array([[True, False], [True, True]])
    found = HeldPlacements(np.ones((2, 1)), np.array([[True], [False]]), own, np.array([0.5, 0.5]))
    assert found.accuracy(np.zeros(1))[0].value == pytest.approx((2 / 3 + 3 / 4) / 2)


def test_the_order_of_seeds_does_not_matter():
    rng = np.random.default_rng(1)
    right, topic, sizes = rng.random(60) < 0.6, rng.integers(0, 7, 60), rng.random(7)
    order = rng.permutation(60)
    assert placements(right, topic, sizes).accuracy(np.zeros(1)) == placements(
        right[order], topic[order], sizes
    ).accuracy(np.zeros(1))


LEVEL = Share(0.6, 0.45, 0.73)


def test_scores_moved_to_an_accuracy_have_it_as_their_mean_and_keep_their_order():
    rng = np.random.default_rng(2)
    score, weight = rng.random(30), rng.integers(1, 500, 30)
    for target in (0.05, 0.5, 0.97):
        moved = shift_to(score, weight, target)
        assert moved @ weight / weight.sum() == pytest.approx(target, abs=1e-9)
        np.testing.assert_array_equal(np.argsort(moved), np.argsort(score))
        odds = np.log(moved / (1 - moved)) - np.log(score / (1 - score))
        np.testing.assert_allclose(odds, odds[0], rtol=1e-6)
    np.testing.assert_allclose(shift_to(np.full(3, 0.4), weight[:3], 0.8), 0.8)


@pytest.mark.parametrize("documents", [3, 40, 5_000])
def test_intervals_of_topics_hold_their_accuracy_where_levels_and_topics_err_as_said(documents):
    """Drawn as the model says: its level errs, topics stray from their scores, documents vary."""
    rng, inside, lowest = np.random.default_rng(documents), [], []
    n, level = np.full(50, documents), np.ones(50, dtype=int)
    off = (np.log(LEVEL.high / (1 - LEVEL.high)) - np.log(0.6 / 0.4)) / 1.96
    for _ in range(100):
        score = rng.beta(6, 2, 50)
        value = shift_to(score, n, 0.6)
        odds = np.log(value / (1 - value)) + rng.normal() * off + SPREAD * rng.normal(size=50)
        seen = rng.binomial(documents, 1 / (1 + np.exp(-odds))) / documents
        found = expect_topics(score, n, level, [LEVEL])
        np.testing.assert_allclose([one.value for one in found], value)
        inside += [one.low <= each <= one.high for one, each in zip(found, seen)]
        lowest += seen[below_their_level(found, n, level, [LEVEL], sure=1.28)].tolist()
    assert 0.93 < np.mean(inside) < 0.985
    assert np.mean(lowest or [0.0]) < 0.4


def test_a_topic_is_expected_of_where_its_level_is_and_it_has_documents():
    score = np.array([0.9, 0.8, np.nan, 0.7, 0.6])
    documents, level = np.array([9, 5, 4, 0, 2]), np.array([1, 2, 1, 2, 3])
    found = expect_topics(score, documents, level, [LEVEL, Share(0.3, 0.0, 1.0)])
    assert [one is None for one in found] == [False, False, True, True, True]
    assert found[0].value == pytest.approx(0.6)
    assert (found[1].value, found[1].low, found[1].high) == pytest.approx((0.3, 0.0, 1.0))


def test_fewer_documents_and_a_less_certain_level_widen_the_interval():
    def width(documents, level):
        (one,) = expect_topics(np.array([0.7]), np.array([documents]), np.array([1]), [level])
        return one.high - one.low

    assert width(5_000, LEVEL) < width(50, LEVEL) < width(5, LEVEL)
    assert width(5_000, Share(0.6, 0.6, 0.6)) < width(5_000, LEVEL)
    assert width(1, LEVEL) == 1.0


def test_topics_below_their_level_come_lowest_first():
    score, n = np.array([0.9, 0.3, 0.9, 0.2, 0.9]), np.full(5, 100)
    level = np.array([1, 1, 1, 1, 2])
    levels = [Share(0.6, 0.1, 0.9), Share(0.2, 0.1, 0.3)]
    found = expect_topics(score, n, level, levels)
    assert below_their_level(found, n, level, levels, sure=1.28) == [3, 1]
    assert below_their_level(found, n, level, levels, sure=100.0) == []
    few = np.full(5, 2)
    assert below_their_level(found, few, level, levels, sure=1.28) == []
