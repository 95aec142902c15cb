"""The anchored mixture, part by part, against slow and direct versions of the same equations."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from worlds import TREES, make_world

from hierseed import AnchoredHierSeed
from hierseed.core.anchor.calibrate import most_likely
from hierseed.core.anchor.components import make_components, sum_up
from hierseed.core.anchor.covariance import Factored, Products, invert
from hierseed.core.anchor.curve import bend, learn, straight
from hierseed.core.anchor.em import (
    PULL,
    SIZE_PRIOR,
    START,
    Settings,
    advance,
    fit,
    maximise,
    objective,
    pose,
    start,
)
from hierseed.core.anchor.hold_back import halves
from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.mixture import Mixture, shares
from hierseed.core.anchor.moments import LOGS, Totals, spread, totals
from hierseed.core.anchor.opening import distinct, far_halves, open_up
from hierseed.core.anchor.place import FINE, Placer, log_joint
from hierseed.core.anchor.precision import STEPS, thresholds
from hierseed.core.anchor.sample import SAMPLE, draw
from hierseed.core.anchor.scale import Scale
from hierseed.core.anchor.seeds import Pairs, sum_seeds
from hierseed.core.anchor.tree_means import tree_means
from hierseed.core.blocks import ArrayBlocks
from hierseed.core.tree import Tree


def set_up(name="two levels", other=True, **world):
    """Blocks, components, seed pairs, lattice and seed rows of a small world."""
    taxonomy, X, y, _ = make_world(name, **world)
    rows = np.flatnonzero(y >= 0)
    has_seeds = np.bincount(y[rows], minlength=len(taxonomy)) > 0
    inner = np.flatnonzero(~taxonomy.tree.is_leaf & ~has_seeds)
    rest = np.append(inner, -1) if other else np.zeros(0, dtype=np.intp)
    components = make_components(taxonomy.tree, has_seeds, rest)
    pairs = Pairs(X[rows], rows, components.of_topic[y[rows]])
    lattice = Lattice.holding(len(X), float(np.linalg.norm(X, axis=1).max()))
    return X, components, pairs, lattice, rows


def begun(X, components, pairs, lattice, rows, settings, block=64, within=None):
    """Blocks, seeds, problem and the mixture that round balls at the parents' means start from."""
    blocks, seeds = ArrayBlocks(X, block), sum_seeds(pairs, components, lattice, rows)
    scale = Scale(within or float(X.var(axis=0).sum()), settings.tree_weight or 8.0)
    problem = pose(components, seeds, spread(blocks, lattice, rows), scale, settings)
    rest = X[: components.is_rest.sum()]
    return blocks, seeds, problem, start(problem, rest)


def covariance(mixture):
    return np.linalg.inv(mixture.covariance.solve(np.eye(mixture.means.shape[1])))


# ------------------------------------------------------------------ oracles


@pytest.mark.parametrize("name", TREES)
def test_tree_means_solve_the_whole_system_at_once(name):
    tree = make_world(name)[0].tree
    rng = np.random.default_rng(1)
    leaves = np.flatnonzero(tree.is_leaf)
    weights = rng.integers(0, 6, len(leaves)).astype(float)
    weights[0] += 1
    sums = rng.normal(size=(len(leaves), 3)) * weights[:, None]
    means = tree_means(tree, leaves, sums, weights, 2.5)
    n = len(tree)
    A, b = np.zeros((n + 1, n + 1)), np.zeros((n + 1, 3))
    A[leaves, leaves] += weights
    b[leaves] += sums
    for node, above in enumerate(tree.parent):  # minimise 2.5/2 |node - parent|^2 over all edges
        A[node, node] += 2.5
        A[above, above] += 2.5
        A[node, above] -= 2.5
        A[above, node] -= 2.5
    np.testing.assert_allclose(means, np.linalg.solve(A, b), atol=1e-9)


@pytest.mark.parametrize("name", ["two levels", "ragged", "deep"])
def test_rounds_equal_a_dense_version(name):
    X, components, pairs, lattice, rows = set_up(name, per_leaf=40, spread=0.8)
    settings = Settings(max_iter=4, tol=0, tree_weight=2.0)
    blocks, seeds, problem, mixture = begun(X, components, pairs, lattice, rows, settings)
    found = fit(blocks, components, seeds, settings, lattice, mixture, problem.scale)
    U, K = np.delete(X, rows, axis=0), len(components)
    w = min(1.0, PULL * 10 * len(rows) / len(U))
    S = np.eye(K)[pairs.component]
    mu, log_size = mixture.means, mixture.log_size
    W = START * problem.variance * np.eye(X.shape[1])
    for _ in range(4):
        density = [multivariate_normal(m, W).logpdf(U) for m in mu]
        L = np.stack(density, axis=1) + log_size
        R = np.exp(L - L.max(axis=1, keepdims=True))
        R /= R.sum(axis=1, keepdims=True)
        num, den = w * R.T @ U + 10 * S.T @ pairs.vectors, w * R.sum(0) + 10 * S.sum(0)
        nodes = tree_means(components.nodes, components.node, num, den, 20.0)
        mu, steps = nodes[components.node], nodes[:-1] - nodes[components.nodes.parent]
        G = 20.0 * steps.T @ steps
        for k in range(K):
            G += w * ((U - mu[k]).T * R[:, k]) @ (U - mu[k])
            G += 10 * ((pairs.vectors - mu[k]).T * S[:, k]) @ (pairs.vectors - mu[k])
        W = G / (w * len(U) + 10 * len(rows)) + problem.ridge * np.eye(X.shape[1])
        log_size = np.log(w * R.sum(0) + S.sum(0) + SIZE_PRIOR)
        log_size -= np.log(np.exp(log_size).sum())
    np.testing.assert_allclose(found.mixture.means, mu, atol=1e-5)
    np.testing.assert_allclose(covariance(found.mixture), W, atol=1e-5)
    np.testing.assert_allclose(found.mixture.log_size, log_size, atol=1e-4)


@pytest.mark.parametrize(("n", "ridge"), [(3, 0.5), (15, 0.5), (19, 0.5), (3, 1e-9)])
def test_a_covariance_by_the_identity_and_by_its_factor(n, ridge):
    rng = np.random.default_rng(n)
    root, sums = rng.normal(size=(40, 20)), rng.normal(size=(n, 20))
    means = sums * rng.uniform(0.01, 0.1, n)[:, None]
    squares = root.T @ root + means.T @ sums
    covariance, solved = Products(squares, 40.0, ridge).less(means, sums)
    W = (squares - means.T @ sums) / 40 + np.eye(20) * ridge
    assert isinstance(covariance, Factored) == (n == 19 or ridge < 0.5)
    np.testing.assert_allclose(solved.T, np.linalg.solve(W, means.T), atol=1e-11)
    np.testing.assert_allclose(covariance.solve(root).T, np.linalg.solve(W, root.T), atol=1e-9)
    assert covariance.log_det == pytest.approx(np.linalg.slogdet(W)[1], abs=1e-11)


@pytest.mark.parametrize(("spread", "smoothing", "shift"), [
    (1e-7, 1e-6, 0.0), (1e-3, 1e-3, 0.0), (0.1, 1.0, 1e3), (1e-5, 1.0, 0.0),
])  # fmt: skip
def test_tight_topics_and_topics_far_away_keep_their_digits(spread, smoothing, shift):
    taxonomy, X, y, truth = make_world("deep", per_leaf=30, width=64, spread=spread)
    model = AnchoredHierSeed(taxonomy, smoothing=smoothing).fit(X + shift, y)
    assert np.array_equal(model.labels_, truth)


@pytest.mark.parametrize("n", [1, 48, 49, 211])
def test_the_inverse_by_halves(n):
    root = np.random.default_rng(0).normal(size=(2 * n, n))
    matrix = root.T @ root / n + np.eye(n) * 0.1
    inverse, log_det = invert(matrix)
    np.testing.assert_allclose(inverse @ matrix, np.eye(n), atol=1e-11)
    np.testing.assert_allclose(inverse, inverse.T, rtol=1e-12, atol=1e-13)
    assert log_det == pytest.approx(np.linalg.slogdet(matrix)[1], rel=1e-12)


def test_objective_is_the_penalised_likelihood_it_says():
    X, components, pairs, lattice, rows = set_up(per_leaf=30, spread=0.8)
    blocks, _, problem, mixture = begun(X, components, pairs, lattice, rows, Settings(), 50)
    mixture, nodes, fixed = maximise(problem, totals(blocks, mixture, lattice, rows))
    value = objective(problem, mixture, totals(blocks, mixture, lattice, rows), fixed)
    W, steps = covariance(mixture), nodes[:-1] - nodes[components.nodes.parent]
    U = np.delete(X, rows, axis=0)
    logs = np.stack([multivariate_normal(m, W).logpdf(U) for m in mixture.means], axis=1)
    direct = problem.document_weight * np.log(np.exp(logs + mixture.log_size).sum(1)).sum()
    for x, k in zip(pairs.vectors, pairs.component):
        direct += 10 * multivariate_normal(mixture.means[k], W).logpdf(x) + mixture.log_size[k]
    direct -= problem.strength / 2 * (steps @ np.linalg.inv(W) * steps).sum()
    direct -= problem.mass * problem.ridge / 2 * np.trace(np.linalg.inv(W))
    direct += SIZE_PRIOR * mixture.log_size.sum()
    assert value == pytest.approx(-direct / problem.mass, rel=1e-6)


# ------------------------------------------------------------------ laws


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", TREES)
def test_objective_never_rises(name, seed):
    X, components, pairs, lattice, rows = set_up(name, per_leaf=25, spread=1.5, seed=seed, width=8)
    settings = Settings(max_iter=25, tol=0)
    blocks, seeds, problem, mixture = begun(X, components, pairs, lattice, rows, settings)
    history = fit(blocks, components, seeds, settings, lattice, mixture, problem.scale).history
    values = [entry["objective"] for entry in history]
    assert len(values) > 3
    assert max(np.diff(values), default=0) < 1e-8


def test_sums_are_exact_for_any_order_and_block():
    X, components, pairs, lattice, rows = set_up(per_leaf=200, spread=1.0)
    mixture = Mixture.of(
        pairs.vectors[: len(components)], Factored.of(np.eye(6)), np.zeros(len(components))
    )
    none = rows[:0]
    order = np.random.default_rng(0).permutation(len(X))
    one, two = ArrayBlocks(X), ArrayBlocks(X[order], 17, threads=2)
    a, b = totals(one, mixture, lattice, none), totals(two, mixture, lattice, none)
    assert a.sums.tobytes() == b.sums.tobytes()
    assert a.weights.tobytes() == b.weights.tobytes()
    assert a.log_likelihood == b.log_likelihood
    assert spread(one, lattice, none).products.tobytes() == (
        spread(two, lattice, none).products.tobytes()
    )


def test_the_last_round_counts_alike_and_what_it_remembers_is_used_once():
    X, components, pairs, lattice, rows = set_up(per_leaf=100, spread=1.0)
    blocks, _, _, mixture = begun(X, components, pairs, lattice, rows, Settings(), 70)
    usual, last = (totals(blocks, mixture, lattice, rows, last) for last in (False, True))
    assert last.weights.tobytes() == usual.weights.tobytes()
    assert last.log_likelihood == usual.log_likelihood
    nodes = np.zeros((len(components.nodes), 6))
    placer = Placer(
        components, mixture.without_covariance(), 2.0, nodes, np.zeros(9), straight(9),
        lattice.vectors,
    )  # fmt: skip
    known, again = (list(blocks.map(log_joint, placer)) for _ in range(2))
    for one, two in zip(known, again, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)  # also those of seeds
    assert not any(block.memo.get(LOGS) for block in blocks._blocks)
    totals(blocks, mixture, lattice, rows, True)
    hotter = replace(placer, mixture=Mixture.of_balls(mixture.means, 9.0, mixture.log_size))
    found, fresh = (next(b.map(log_joint, hotter)) for b in (blocks, ArrayBlocks(X, 70)))
    np.testing.assert_allclose(found, fresh, rtol=1e-12)  # of another mixture nothing is known


def test_seed_rows_are_left_out_of_the_corpus_sums():
    X, _, _, lattice, rows = set_up()
    blocks = ArrayBlocks(X, 10)
    found = spread(blocks, lattice, rows)
    U = np.delete(X, rows, axis=0)
    assert found.n == len(U)
    np.testing.assert_allclose(found.products, U.T @ U, rtol=1e-5)


def test_shares_sum_to_one_and_soften_with_temperature():
    L = np.random.default_rng(0).normal(size=(4, 50)) * 900  # would overflow without care
    share, log = shares(L.copy(), FINE)
    np.testing.assert_allclose(FINE.value(share.sum(axis=0)), 1)
    np.testing.assert_allclose(log, L.max(axis=0), atol=3)
    assert (shares(L.copy(), FINE, 50.0)[0].max(axis=0) <= share.max(axis=0) + 1).all()


def test_sum_up_adds_children_to_parents():
    tree = Tree([-1, 0, 0, 1, 1])
    components = make_components(tree, np.array([1, 0, 1, 1, 1], bool), np.array([-1]))
    total = sum_up(components, np.arange(1.0, 1 + len(components)))
    by_topic = dict(zip(components.topic.tolist(), np.arange(1.0, 1 + len(components))))
    assert total[1] == by_topic[3] + by_topic[4]
    assert total[0] == total[1] + by_topic[2] + by_topic[0]
    assert total[-1] == by_topic[-1]


def test_several_groups_of_one_other_add_up():
    tree = Tree([-1, 0, 0, 0])  # the last is Other
    has_seeds = np.array([0, 1, 1, 0], bool)
    components = make_components(tree, has_seeds, np.array([0, 0, -1]), np.array([3, 3, -1]))
    assert components.topic.tolist() == [1, 2, 3, 3, -1]
    assert components.parent.tolist() == [0, 0, 0, 0, -1]
    assert sum_up(components, np.array([1.0, 2, 4, 8, 16])).tolist() == [15, 1, 2, 12, 16]


# ------------------------------------------------------------------ the opening


def halved_world():
    """Six listed topics far apart; the first is one of two halves, and has its seeds in one."""
    rng = np.random.default_rng(0)
    topic = np.repeat(np.arange(6), 100)
    X = rng.normal(size=(700, 12))
    X[np.arange(600), topic] += 8
    X[600:, 0] += 8
    X[600:, 11] += 12  # what nobody listed: beside the first topic, as far as others are
    rows = np.concatenate([100 * t + np.arange(4) for t in range(6)])
    components = make_components(Tree([-1] * 6), np.ones(6, bool), np.array([-1]))
    pairs = Pairs(X[rows], rows, topic[rows])
    lattice = Lattice.holding(len(X), float(np.linalg.norm(X, axis=1).max()))
    return X, components, pairs, lattice, rows


def test_the_far_half_of_a_topic_lies_where_its_seeds_do_not():
    X, components, pairs, lattice, rows = halved_world()
    listed = components.with_rest(np.zeros(0, dtype=np.intp))  # nothing else to take it in
    blocks, _, problem, mixture = begun(X, listed, pairs, lattice, rows, Settings(), within=12.0)
    sample = draw(blocks, lattice, rows)
    mixture, seen = advance(problem, sample, mixture, 3)
    parents, means, weights = far_halves(problem, sample, mixture, seen)
    assert parents.tolist() == [-1] * 6
    np.testing.assert_allclose(means[0], X[600:].mean(axis=0), atol=0.6)
    assert weights[0] == pytest.approx(100, rel=0.1)


@pytest.mark.parametrize("missing", [True, False])
def test_the_opening_finds_what_nobody_listed_and_nothing_else(missing):
    X, components, pairs, lattice, rows = halved_world()
    seeds = sum_seeds(pairs, components, lattice, rows)
    sample = draw(ArrayBlocks(X[: 700 if missing else 600]), lattice, rows)
    found = open_up(sample, components, seeds, Settings())
    rest = np.flatnonzero(found.components.is_rest)
    assert (len(rest) > 0) == missing
    share = FINE.value(shares(found.mixture.log_joint(X), FINE)[0][rest].sum(axis=0))
    assert (share[600:] > 0.9).mean() == missing
    assert share[:600].mean() < 0.01


def test_groups_near_a_listed_topic_or_almost_empty_are_dropped():
    means = np.array([[0.0, 0], [4, 0], [2, 3.25], [0, 1], [4, 8]])
    mixture = Mixture.of(means, Factored.of(np.eye(2)), np.log(np.full(5, 0.2)))
    components = make_components(Tree([-1, -1]), np.ones(2, bool), np.full(3, -1))
    # the third lies just far enough; what few documents say of its place is chance, and too little
    for counts, expected in (([1e9, 9, 9], [0, 1, 2, 4]), ([9.0, 9, 9], [0, 1, 4]),
                             ([1e9, 9, 2], [0, 1, 2])):  # fmt: skip
        seen = Totals(np.array([9.0, 9, *counts]), means, 0.0)
        assert distinct(components, mixture, seen, np.array([4, 3]), 0.9).tolist() == expected
    # the third is as near to the first, the last is nearer to the second: two seeds say little
    seen = Totals(np.array([9.0, 9, 1e9, 9, 9]), means, 0.0)
    assert distinct(components, mixture, seen, np.array([4, 2]), 0.9).tolist() == [0, 1, 2]


# ------------------------------------------------------------------ calibration and the dial


@pytest.mark.parametrize("truth", [1.5, 3.0, 6.0])
def test_temperature_is_found_from_labels_drawn_at_it(truth):
    rng = np.random.default_rng(3)
    L = rng.normal(size=(8, 4000)) * 8
    share = FINE.value(shares(L.copy(), FINE, truth)[0])
    own = (share.cumsum(axis=0) < rng.random(4000)).sum(axis=0)
    mine = np.eye(8, dtype=bool)[own].T
    assert most_likely(L, mine) == pytest.approx(truth, rel=0.08)
    twins = np.concatenate([L, L - 1e9])  # a second topic that is out of reach changes nothing
    assert most_likely(twins, np.tile(mine, (2, 1))) == most_likely(L, mine)


def test_curves_are_found_from_what_was_drawn_on_them():
    rng = np.random.default_rng(0)
    score = rng.beta(2, 1, size=(20_000, 3))
    truth = [(0.0, 1.0), (-0.8, 1.4), (-0.4, 0.7)]
    right = np.stack([rng.random(20_000) < bend(s, c) for s, c in zip(score.T, truth)], axis=1)
    score[rng.random(20_000) < 0.3, 2] = np.nan  # placed higher up
    np.testing.assert_allclose(learn(score, right), truth, atol=0.12)


def test_a_curve_that_few_seeds_tell_of_stays_near_the_one_above():
    score = np.array([[0.9, 0.8, np.nan], [0.6, 0.5, np.nan]])
    right = np.array([[True, False, False], [True, False, False]])
    curve = learn(score, right)
    assert abs(curve[1] - curve[0]).max() < 0.5  # two failures are no proof
    assert curve[1, 0] < curve[0, 0]
    np.testing.assert_array_equal(curve[2], curve[1])


def test_curves_rise_and_straight_ones_change_no_bit():
    score = np.linspace(0, 1, 101)
    assert bend(score, straight(3)[2]) is score
    worst = learn(np.linspace(0.01, 0.99, 99)[:, None], np.arange(99)[:, None] < 50)[0]
    bent = bend(score, worst)
    assert (np.diff(bent) > 0).all()
    assert 0 <= bent.min() <= bent.max() <= 1


def test_halves_share_out_each_topic_and_do_not_see_the_order():
    rng = np.random.default_rng(0)
    component = np.repeat(np.arange(5), [1, 2, 3, 4, 9])
    vectors = rng.normal(size=(len(component), 4))
    half = halved(Pairs(vectors, np.arange(len(component)), component))
    assert half[0] == -1
    for k in range(1, 5):
        mine = half[component == k]
        assert abs((mine == 0).sum() - (mine == 1).sum()) <= 1
    order = rng.permutation(len(component))
    again = halved(Pairs(vectors[order], order, component[order]))
    assert np.array_equal(again, half[order])


def test_a_seed_of_several_topics_is_held_back_from_all_of_them():
    rng = np.random.default_rng(1)
    component = np.concatenate([np.repeat(np.arange(4), 4), [1, 2, 3]])
    seed = np.concatenate([np.arange(16), [0, 1, 12]])
    half = halved(Pairs(rng.normal(size=(16, 4))[seed], seed, component))
    for one in range(16):
        assert len({*half[seed == one]}) == 1
    for number in (0, 1):  # and no topic is left without any
        assert np.bincount(component[half != number], minlength=4).min() > 0


def halved(pairs):
    components = make_components(Tree([-1] * 5), np.ones(5, bool), np.zeros(0, dtype=np.intp))
    lattice = Lattice.holding(100, 10.0)
    return halves(pairs, sum_seeds(pairs, components, lattice, pairs.seed))


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_sample_goes_by_content_and_has_the_right_size(dtype):
    X = np.random.default_rng(0).normal(size=(4 * SAMPLE + 5, 3)).astype(dtype)
    lattice = Lattice.holding(len(X), 10.0)
    none = np.zeros(0, dtype=np.intp)
    drawn = draw(ArrayBlocks(X), lattice, none)
    assert len(drawn.X) * drawn.copies == pytest.approx(len(X), rel=0.15)
    assert not drawn.whole
    order = np.random.default_rng(1).permutation(len(X))
    back = draw(ArrayBlocks(X[order], 777), lattice, none)
    assert back.X.tobytes() == drawn.X.tobytes()  # in the same order, too
    assert back.corpus.products.tobytes() == drawn.corpus.products.tobytes()
    chosen = {*map(bytes, drawn.X)}
    seeds = np.flatnonzero([bytes(x) in chosen for x in lattice.vectors.count(X).astype("f")])[:3]
    less = draw(ArrayBlocks(X), lattice, seeds)
    assert len(less.X) == len(drawn.X) - 3  # seeds are left out of the sample


def test_a_small_corpus_is_its_own_sample():
    X, components, pairs, lattice, rows = set_up("deep", per_leaf=40, spread=0.8)
    sample = draw(ArrayBlocks(X, 50), lattice, rows)
    assert sample.whole
    whole = spread(ArrayBlocks(X), lattice, rows)
    assert sample.corpus.products.tobytes() == whole.products.tobytes()
    mixture = Mixture.of(
        pairs.vectors[: len(components)] * 9, Factored.of(np.eye(6)), np.zeros(len(components))
    )
    exact, found = totals(ArrayBlocks(X), mixture, lattice, rows), sample.totals(mixture)
    np.testing.assert_allclose(found.weights, exact.weights, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(found.sums, exact.sums, rtol=1e-3, atol=1e-3)


def test_a_corpus_of_copies_has_a_sample_too():
    X = np.tile(np.random.default_rng(0).normal(size=(1, 3)), (SAMPLE + 1, 1))
    lattice = Lattice.holding(len(X), 10.0)
    for rows in (np.zeros(0, dtype=np.intp), np.arange(len(X))):
        for shift in range(8):  # whether one is chosen depends on what it says; then all are
            found = draw(ArrayBlocks(X + shift / 8), lattice, rows)
            assert len(found.X) == len(X) - len(rows)


def test_thresholds_keep_as_much_as_the_precision_allows():
    rng = np.random.default_rng(0)
    score = rng.beta(3, 1.5, size=20_000)
    counts = np.bincount((score * STEPS).astype(int), minlength=STEPS)[None]
    low, high = thresholds(counts, 0.7)[0], thresholds(counts, 0.9)[0]
    assert low < high
    assert score[score >= high].mean() >= 0.9 - 1e-3
    assert score[score >= high - 2 / STEPS].mean() < 0.9 + 1e-3
    assert thresholds(counts, 0.2)[0] == 0.0
    assert thresholds(counts, 0.9999)[0] > 1.0
