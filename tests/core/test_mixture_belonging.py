"""From scores to belonging: each step against an independent oracle, and the promise kept."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from scipy.stats import gamma, norm
from sklearn.isotonic import IsotonicRegression

from hierseed.core.mixture.belonging import (
    LEAST_SEEDS,
    TAIL,
    Belonging,
    belonging_curve,
    conformal_quantile,
    density,
    learn_belonging,
    listed_share,
    missing_levels,
    monotone,
    smooth_quantile,
    worst_weights,
)
from hierseed.core.mixture.components import Pairs, make_components
from hierseed.core.mixture.left_out import LeftOut
from hierseed.core.mixture.membership import (
    Membership,
    learn_membership,
    pack_membership,
    unpack_membership,
)
from hierseed.core.mixture.neighbours import NOTHING
from hierseed.core.share import Share
from hierseed.core.tree import Tree

# ------------------------------------------------------------------ oracles


@pytest.mark.parametrize("n", [1, 2, 7, 65, 300])
def test_monotone_is_isotonic_regression(n):
    rng = np.random.default_rng(n)
    for values in (rng.normal(size=n), np.sort(rng.normal(size=n))[::-1], np.ones(n)):
        weight = rng.uniform(0.1, 3.0, n)
        expected = IsotonicRegression().fit_transform(np.arange(n), values, sample_weight=weight)
        np.testing.assert_allclose(monotone(values, weight), expected, atol=1e-9)


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
    found = worst_weights(own, component, weight, doubt)
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
    assert np.mean(lost) < (0.002 if shift else 0.0005)
    assert np.mean(doubted) < (0.2 if shift else 0.05)


def test_too_few_seeds_say_that_all_documents_belong():
    few, score, _ = learned(n_seeds=LEAST_SEEDS - 1)
    assert few.is_certain
    assert not few.depth(score)[1].any()
    assert few.foreign == Share(0.0, 0.0, 0.0)


@pytest.mark.parametrize("certain", [False, True])
def test_packed_and_unpacked_it_gives_the_same_bits(certain):
    X, _, pairs, components = corpus(0, 6, 4)
    found = Membership.certain(1)
    if not certain:
        found, _ = learn_membership(X, X.mean(axis=0, dtype=float), pairs, components, 0.05)
    header, arrays = pack_membership(found)
    again = unpack_membership(header, arrays)
    assert again.foreign == found.foreign
    assert again.belonging.limit == found.belonging.limit
    if certain:
        assert again.hood is None
        return
    score = found.hood.scores(X)[0]
    assert again.hood.scores(X)[0].tobytes() == score.tobytes()
    assert again.belonging.at(score, 0).tobytes() == found.belonging.at(score, 0).tobytes()
    assert again.parts(score).tobytes() == found.parts(score).tobytes()


@pytest.mark.parametrize("listed", [8, 20])
def test_a_document_without_content_belongs_nowhere(listed):
    """Where foreign documents were found, and where none were."""
    X, _, pairs, components = corpus(0, listed, 8)
    found, _ = learn_membership(X, X.mean(axis=0, dtype=float), pairs, components, 0.05)
    score = found.hood.scores(np.concatenate([np.zeros_like(X[:1]), X]))[0]
    assert found.belonging.at(score)[0] == 0.0
    assert found.belonging.at(score)[1:].min() > 0.0
    assert found.belonging.depth(score)[1][0]


def test_documents_unlike_all_topics_belong_less_than_the_score_of_their_neighbours_says():
    """Directions at random are less like the topics than nearly all seeds are."""
    X, inside, pairs, components = corpus(1, 8, 8)
    found, _ = learn_membership(X, X.mean(axis=0, dtype=float), pairs, components, 0.05)
    noise = np.random.default_rng(0).normal(size=(500, X.shape[1])).astype(np.float32)
    lenient = replace(found.hood, least=-np.inf, least_part=-np.inf)
    for rows, change in ((noise, 0.005), (X[inside], 0.0)):
        now = found.belonging.at(found.hood.scores(rows)[0])
        before = found.belonging.at(lenient.scores(rows)[0])
        assert (now <= before).all()
        assert (before - now).mean() >= change
        assert change or (before - now).mean() < 0.01


@pytest.mark.parametrize("empty", [0, 300])
def test_documents_without_content_belong_nowhere_however_many_there_are(empty):
    rng = np.random.default_rng(0)
    score, own = rng.normal(size=3000), rng.normal(size=80)
    score[:empty] = NOTHING
    topic = np.arange(80) % 8
    seeds = left_out(np.stack([own - 3, own], axis=1), topic)
    found = learn_belonging(score, rng.integers(0, 8, 3000), seeds, np.full(8, 10), 0.05)
    assert found.at(np.array([NOTHING])) == 0.0
    assert found.depth(np.array([NOTHING]))[1].all()


def test_certain_belonging_gives_full_weight():
    assert (Membership.certain(3).parts(np.ones(4)) == 8).all()
    assert Belonging.certain(2).is_certain


# ------------------------------------------------------------------ the promise


def corpus(draw, listed, seeds, of=20, each=40, width=48):
    """Documents of 20 topics that overlap, of which some are listed, as a sample; no seed in it."""
    rng = np.random.default_rng(draw)
    topic = np.repeat(np.arange(of), each)
    X = rng.normal(size=(of, width))[topic] + 1.7 * rng.normal(size=(len(topic), width))
    chosen = np.concatenate(
        [rng.permutation(np.flatnonzero(topic == t))[:seeds] for t in range(listed)]
    )
    pairs = Pairs(X[chosen], chosen, topic[chosen])
    rest = np.setdiff1d(np.arange(len(X)), chosen)
    components = make_components(Tree([-1] * listed), np.ones(listed, bool))
    return X[rest].astype(np.float32), topic[rest] < listed, pairs, components


def outcome(draw, listed, seeds, false_alarm=0.05):
    """False alarms, share of foreign documents found, and the estimated share of them."""
    X, inside, pairs, components = corpus(draw, listed, seeds)
    found, _ = learn_membership(X, X.mean(axis=0, dtype=float), pairs, components, false_alarm)
    _, rejected = found.belonging.depth(found.hood.scores(X)[0])
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
