"""From scores to belonging: each step against an independent oracle, and laws of the whole."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from mixture_worlds import overlapping_topics
from scipy.stats import norm
from sklearn.isotonic import IsotonicRegression

from hierseed.core.array_blocks import ArrayBlock
from hierseed.core.mixture.accuracy import Share
from hierseed.core.mixture.belonging import (
    LEAST_SEEDS,
    TAIL,
    Belonging,
    Membership,
    belonging_curve,
    density,
    isotonic_regression,
    learn_belonging,
    learn_membership,
    least_favourable_weights,
    listed_share,
    missing_levels,
    pack_membership,
    unpack_membership,
)
from hierseed.core.mixture.left_out import LeftOut
from hierseed.core.mixture.neighbours import NOTHING

# ------------------------------------------------------------------ oracles


@pytest.mark.parametrize("n", [1, 2, 7, 65, 300])
def test_monotone_is_isotonic_regression(n):
    rng = np.random.default_rng(n)
    for values in (rng.normal(size=n), np.sort(rng.normal(size=n))[::-1], np.ones(n)):
        weight = rng.uniform(0.1, 3.0, n)
        expected = IsotonicRegression().fit_transform(np.arange(n), values, sample_weight=weight)
        np.testing.assert_allclose(isotonic_regression(values, weight), expected, atol=1e-9)


def test_density_is_a_sum_of_normal_densities():
    rng = np.random.default_rng(0)
    values, weight = rng.normal(size=30), rng.dirichlet(np.ones(30))
    at = np.linspace(-3, 3, 11)
    expected = (norm.pdf(at[:, None], values, 0.3) * weight).sum(axis=1)
    np.testing.assert_allclose(density(at, values, weight, 0.3), expected, rtol=1e-12)


def left_out(scores, component):
    """Scores of seeds in topics with so many seeds that one more or less does not matter."""
    n = len(component)
    return LeftOut(scores, component, np.full(n, np.nan), np.full(n, 100))


def mixed(rng, n, listed, gap=3.0):
    """Scores of documents, of which this share is of listed topics; and which are."""
    inside = rng.random(n) < listed
    return np.where(inside, 0.0, -gap) + rng.normal(size=n), inside


@pytest.mark.parametrize("listed", [0.1, 0.3, 0.7, 1.0])
def test_the_listed_share_is_found_and_its_interval_covers_it(listed):
    rng = np.random.default_rng(round(100 * listed))
    found = []
    for _ in range(100):
        score, _ = mixed(rng, 2000, listed)
        own = rng.normal(size=60)
        found.append(listed_share(score, own, np.full(60, 1 / 60)))
    assert np.mean([share.value for share in found]) == pytest.approx(listed, abs=0.09)
    assert np.mean([share.low <= listed <= share.high for share in found]) > 0.9
    assert all(0 <= share.low <= share.value <= share.high <= 1 for share in found)


def test_the_listed_share_compares_the_upper_tails():
    """By hand: with 10 seeds and equal weights the tails are those of 7 to 4 seeds."""
    own, score = np.arange(10.0), np.array([-5.0, -5, -5, -5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5])
    share = listed_share(score, own, np.full(10, 0.1))
    tails = np.array([k / 10 for k in range(10, 0, -1) if 1 - TAIL[1] <= k / 10 <= 1 - TAIL[0]])
    cuts = [own[10 - round(10 * tail)] for tail in tails]
    above = np.array([(score >= cut).mean() for cut in cuts])
    precision = tails / (1 - tails)
    expected = (above / tails) @ precision / precision.sum()
    assert share.value == pytest.approx(expected)


@pytest.mark.parametrize("listed", [0.2, 0.6])
def test_the_curve_is_near_the_true_probability(listed):
    rng = np.random.default_rng(0)
    score, _ = mixed(rng, 4000, listed)
    own = rng.normal(size=1000)
    knots = np.quantile(score, np.linspace(0, 1, 65))
    curve = belonging_curve(knots, score, own, np.full(1000, 1 / 1000))
    inside = listed * norm.pdf(knots)
    truth = inside / (inside + (1 - listed) * norm.pdf(knots, -3.0))
    assert (np.diff(curve) >= 0).all()
    assert np.abs(curve - truth).mean() < 0.06
    mean = np.interp(score, knots, curve).mean()
    assert mean == pytest.approx(listed, abs=0.06)


def test_missing_levels_are_distinguished_by_how_they_score():
    """Documents of a missing leaf score near listed ones, those of a missing branch far away."""
    rng = np.random.default_rng(0)
    n = 300
    seeds = left_out(
        np.stack([-6 + rng.normal(size=n), -2 + rng.normal(size=n), rng.normal(size=n)], axis=1),
        np.zeros(n, dtype=np.intp),
    )
    score = np.concatenate([-6 + rng.normal(size=500), -2 + rng.normal(size=500)])
    knots = np.linspace(-9, 3, 49)
    found = missing_levels(knots, score, np.ones(1000), seeds, np.ones(n))
    np.testing.assert_allclose(found.sum(axis=0), 1.0)
    assert (found >= 0).all()
    assert (found[-1] == 0).all()
    assert found[0][knots < -5].min() > 0.8
    assert found[1][(knots > -2) & (knots < 1)].min() > 0.8
    # nothing is known: nowhere
    silent = left_out(np.full((n, 3), np.nan), seeds.component)
    assert (missing_levels(knots, score, np.ones(1000), silent, np.ones(n))[0] == 1).all()


@pytest.mark.parametrize("doubt", [1.0, 1.5, 3.0])
def test_worst_weights_are_the_best_of_all_ways_to_change_sizes_by_the_factor(doubt):
    """Every one of the 2^6 choices of larger and smaller topics, compared."""
    rng = np.random.default_rng(0)
    own, component = rng.normal(size=24), np.repeat(np.arange(6), 4)
    own += np.repeat(rng.normal(size=6), 4)
    own[5] = np.nan  # a seed of which nothing is known
    weight, finite = np.repeat(rng.uniform(1, 9, 6), 4), np.isfinite(own)

    def mean(factor):
        w = weight[finite] * factor[component[finite]]
        return w @ own[finite] / w.sum()

    every = [np.array(each) for each in product([1 / doubt, doubt], repeat=6)]
    found = least_favourable_weights(own, component, weight, doubt)
    lowest = min(mean(factor) for factor in every)
    assert found[finite] @ own[finite] / found[finite].sum() == pytest.approx(lowest)


def test_a_seed_without_itself_is_corrected_for_the_seed_that_its_topic_lacks():
    """Scores of topics with m seeds lack 6 / m; a document is compared with all of them."""
    others = np.repeat([1, 2, 3, 7], 5)  # of topics with 2, 3, 4 and 8 seeds
    truth = np.random.default_rng(0).normal(size=20) - 6 / (others + 1)
    alone = truth + 6 / (others + 1) - 6 / others
    fewer = alone + 6 / others - 6 / np.maximum(others - 1, 1)
    fewer[others < 2] = np.nan
    seeds = LeftOut(alone[:, None], np.zeros(20, dtype=np.intp), fewer, others)
    np.testing.assert_allclose(seeds.own, truth)
    silent = replace(seeds, fewer=np.full(20, np.nan))  # topics with two seeds: not known
    np.testing.assert_array_equal(silent.own, alone)


def test_a_large_loose_topic_does_not_make_documents_look_foreign():
    """Its documents are nearest to other topics, so that its size is underestimated by half."""
    rng = np.random.default_rng(0)
    truth = np.array([0.6, 0.1, 0.1, 0.1, 0.1])
    loose = np.array([-1.5, 0.0, 0.0, 0.0, 0.0])
    topic = rng.choice(5, 4000, p=truth)
    score = loose[topic] + rng.normal(size=4000)
    nearest = np.where((topic == 0) & (rng.random(4000) < 0.5), rng.integers(1, 5, 4000), topic)
    component = np.repeat(np.arange(5), 20)
    own = loose[component] + rng.normal(size=100)
    seeds = left_out(own[:, None] + [-3.0, 0.0], component)
    found = learn_belonging(score, nearest, seeds, np.full(5, 20), 0.05)
    assert not found.depth(score)[1].any()
    foreign = np.append(score, rng.normal(size=1500) - 4)
    near = np.append(nearest, rng.integers(0, 5, 1500))
    found = learn_belonging(foreign, near, seeds, np.full(5, 20), 0.05)
    rejected = found.depth(foreign)[1]
    assert rejected[4000:].mean() > 0.5
    assert rejected[:4000].mean() < 0.1  # at most twice the promise, as its size is half


# ------------------------------------------------------------------ laws


def learned(false_alarm=0.05, listed=0.4, seed=0, levels=2, n_seeds=80):
    rng = np.random.default_rng(seed)
    score, inside = mixed(rng, 3000, listed)
    columns = [-4 + k + rng.normal(size=n_seeds) for k in range(levels)]
    topic = np.arange(n_seeds) % 8
    seeds = left_out(np.stack([*columns, rng.normal(size=n_seeds)], axis=1), topic)
    nearest = rng.integers(0, 8, len(score))
    found = learn_belonging(score, nearest, seeds, np.full(8, n_seeds // 8), false_alarm)
    return found, score, inside


@pytest.mark.parametrize("levels", [1, 2, 4])
def test_belonging_rises_with_the_score_and_falls_down_the_tree(levels):
    found, score, _ = learned(levels=levels)
    assert found.below.shape == (levels + 1, len(found.knots))
    assert ((found.below >= 0) & (found.below <= 1)).all()
    assert (np.diff(found.below, axis=1) >= -1e-12).all()
    assert (np.diff(found.below, axis=0) <= 1e-12).all()
    depth, rejected = found.depth(score)
    assert (depth[~rejected] == levels).all()
    assert (score[rejected] < found.limit).all()
    assert (found.at(score)[rejected] < 0.5).all()
    order = np.argsort(score)
    assert (np.diff(depth[order]) >= 0).all()


def test_a_greater_false_alarm_rejects_no_less_and_none_rejects_nothing():
    rejected = []
    for false_alarm in (0.0, 0.02, 0.05, 0.2):
        found, score, inside = learned(false_alarm)
        out = found.depth(score)[1]
        rejected.append(out)
        assert out[inside].mean() <= false_alarm + 0.03
    assert not rejected[0].any()
    for less, more in pairwise(rejected):
        assert (more | ~less).all()
    assert rejected[2][~inside].mean() > 0.8


@pytest.mark.parametrize("shift", [0.0, 0.1])
def test_documents_that_score_as_seeds_do_all_belong(shift):
    """80 seeds: a tenth of a standard deviation is one standard error.

    The tails alone say that some documents are foreign in many draws. Two standard errors are
    exceeded by chance in a few draws of a hundred.
    """
    lost, doubted = [], []
    for seed in range(100):
        rng = np.random.default_rng(seed)
        score, own = rng.normal(size=3000) - shift, rng.normal(size=80)
        topic = np.arange(80) % 8
        seeds = left_out(np.stack([own - 3, own], axis=1), topic)
        nearest = rng.integers(0, 8, len(score))
        found = learn_belonging(score, nearest, seeds, np.full(8, 10), 0.05)
        lost.append(found.depth(score)[1].mean())
        doubted.append(found.at(score).min() < 0.98)
        if not doubted[-1]:
            assert not lost[-1]
            assert found.foreign.low == 0.0
    assert np.mean(lost) < (0.003 if shift else 0.0005)
    assert np.mean(doubted) < (0.2 if shift else 0.05)


def test_too_few_seeds_say_that_all_documents_belong():
    few, score, _ = learned(n_seeds=LEAST_SEEDS - 1)
    assert (few.below == 1.0).all()
    assert not few.depth(score)[1].any()
    assert few.foreign == Share(0.0, 0.0, 0.0)


@pytest.mark.parametrize("certain", [False, True])
def test_packed_and_unpacked_it_gives_the_same_bits(certain):
    X, _, pairs, components = overlapping_topics(0, 6, 4)
    found = Membership.certain(1)
    if not certain:
        found, _ = learn_membership(X, X.mean(axis=0, dtype=float), pairs, components, 0.05)
    header, arrays = pack_membership(found)
    again = unpack_membership(header, arrays)
    assert again.foreign == found.foreign
    assert again.belonging.limit == found.belonging.limit
    if certain:
        assert again.neighbourhood is None
        return
    score = found.neighbourhood.scores(X)[0]
    assert again.neighbourhood.scores(X)[0].tobytes() == score.tobytes()
    assert again.belonging.at(score, 0).tobytes() == found.belonging.at(score, 0).tobytes()
    assert again.parts(score).tobytes() == found.parts(score).tobytes()


@pytest.mark.parametrize("listed", [8, 20])
def test_a_document_without_content_belongs_nowhere(listed):
    """Where foreign documents were found, and where none were."""
    X, _, pairs, components = overlapping_topics(0, listed, 8)
    found, _ = learn_membership(X, X.mean(axis=0, dtype=float), pairs, components, 0.05)
    score = found.neighbourhood.scores(np.concatenate([np.zeros_like(X[:1]), X]))[0]
    assert found.belonging.at(score)[0] == 0.0
    assert found.belonging.at(score)[1:].min() > 0.0
    assert found.belonging.depth(score)[1][0]


def test_documents_unlike_all_topics_belong_less_than_the_score_of_their_neighbours_says():
    """Directions at random are less like the topics than nearly all seeds are."""
    X, inside, pairs, components = overlapping_topics(1, 8, 8)
    found, _ = learn_membership(X, X.mean(axis=0, dtype=float), pairs, components, 0.05)
    noise = np.random.default_rng(0).normal(size=(500, X.shape[1])).astype(np.float32)
    lenient = replace(found.neighbourhood, least=-np.inf, least_part=-np.inf)
    for rows, change in ((noise, 0.005), (X[inside], 0.0)):
        now = found.belonging.at(found.neighbourhood.scores(rows)[0])
        before = found.belonging.at(lenient.scores(rows)[0])
        assert (now <= before).all()
        assert (before - now).mean() >= change
        assert change or (before - now).mean() < 0.01


@pytest.mark.parametrize("empty", [0, 300])
def test_documents_without_content_belong_nowhere_and_are_no_evidence_against_others(empty):
    rng = np.random.default_rng(0)
    score, own = rng.normal(size=3000), rng.normal(size=80)
    score[:empty] = NOTHING
    topic = np.arange(80) % 8
    seeds = left_out(np.stack([own - 3, own], axis=1), topic)
    found = learn_belonging(score, rng.integers(0, 8, 3000), seeds, np.full(8, 10), 0.05)
    assert found.at(np.array([NOTHING])) == 0.0
    assert found.depth(np.array([NOTHING]))[1].all()
    assert not found.depth(score[empty:])[1].any()  # they score as seeds do


def test_certain_belonging_gives_full_weight():
    assert (Membership.certain(3).parts(np.ones(4)) == 8).all()
    assert (Belonging.certain(2).below == 1.0).all()


@pytest.mark.parametrize("listed", [8, 20])
def test_a_fit_decides_without_the_look_up_as_with_it(listed):
    """Where all documents belong none is looked up; those without content still belong nowhere."""
    X, _, pairs, components = overlapping_topics(0, listed, 8)
    found, _ = learn_membership(X, X.mean(axis=0, dtype=float), pairs, components, 0.05)
    assert found.belonging.all_belong == (listed == 20)
    X[::50] = 0.0
    block = ArrayBlock(X, 0, len(X), X.dtype)
    score, quick = found.inlier_scores(block), found.deciding_scores(block)
    assert found.parts(quick).tobytes() == found.parts(score).tobytes()
    for one, other in zip(found.belonging.depth(quick), found.belonging.depth(score)):
        assert one.tobytes() == other.tobytes()
    assert len(np.unique(quick)) == 2 or listed == 8
