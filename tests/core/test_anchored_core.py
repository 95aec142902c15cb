"""The anchored mixture, part by part, against slow and direct versions of the same equations."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from worlds import TREES, make_world

from hierseed.core.anchor.calibrate import SAMPLE, halves, most_likely, sample
from hierseed.core.anchor.components import make_components, parents_of_others, sum_up
from hierseed.core.anchor.em import (
    PULL,
    SIZE_PRIOR,
    START,
    Settings,
    fit,
    maximise,
    objective,
    start,
)
from hierseed.core.anchor.lattice import Lattice
from hierseed.core.anchor.mixture import Mixture, shares
from hierseed.core.anchor.moments import spread, totals
from hierseed.core.anchor.precision import STEPS, thresholds
from hierseed.core.anchor.seeds import Pairs, sum_seeds
from hierseed.core.anchor.tree_means import tree_means
from hierseed.core.blocks import ArrayBlocks
from hierseed.core.tree import Tree


def set_up(name="two levels", other=True, **world):
    """Blocks, components, seed pairs, lattice and seed rows of a small world."""
    taxonomy, X, y, _ = make_world(name, **world)
    rows = np.flatnonzero(y >= 0)
    has_seeds = np.bincount(y[rows], minlength=len(taxonomy)) > 0
    if other:
        taxonomy = taxonomy.with_others(
            parents_of_others(taxonomy.tree, has_seeds, taxonomy.is_other)
        )
        has_seeds = np.append(has_seeds, np.zeros(len(taxonomy) - len(has_seeds), dtype=bool))
    components = make_components(taxonomy.tree, has_seeds, taxonomy.is_other, other)
    pairs = Pairs(X[rows], rows, components.of_topic[y[rows]])
    lattice = Lattice.holding(len(X), float(np.linalg.norm(X, axis=1).max()))
    return X, components, pairs, lattice, rows


# ------------------------------------------------------------------ oracles


@pytest.mark.parametrize("name", TREES)
def test_tree_means_solve_the_whole_system_at_once(name):
    tree = make_world(name)[0].tree
    rng = np.random.default_rng(1)
    leaves = np.flatnonzero(tree.is_leaf)
    weights = rng.integers(0, 6, len(leaves)).astype(float)
    weights[0] += 1
    sums = rng.normal(size=(len(leaves), 3)) * weights[:, None]
    means, steps = tree_means(tree, leaves, sums, weights, 2.5)
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
    np.testing.assert_allclose(steps, means[:n] - means[tree.parent])


@pytest.mark.parametrize("name", ["two levels", "ragged", "deep"])
def test_rounds_equal_a_dense_version(name):
    X, components, pairs, lattice, rows = set_up(name, per_leaf=40, spread=0.8)
    settings = Settings(max_iter=4, tol=0, tree_weight=2.0)
    seeds = sum_seeds(pairs, components, lattice, rows)
    found = fit(ArrayBlocks(X, 64), components, seeds, settings, lattice)
    problem = found.problem
    U, K = np.delete(X, rows, axis=0), len(components)
    w = min(1.0, PULL * 10 * len(rows) / len(U))
    S = np.eye(K)[pairs.component]
    mixture, _ = start(problem, found.strangers)
    mu, log_size = mixture.means, mixture.log_size
    W = START * problem.variance * np.eye(X.shape[1])
    for _ in range(4):
        density = [multivariate_normal(m, W).logpdf(U) for m in mu]
        L = np.stack(density, axis=1) + log_size
        R = np.exp(L - L.max(axis=1, keepdims=True))
        R /= R.sum(axis=1, keepdims=True)
        num, den = w * R.T @ U + 10 * S.T @ pairs.vectors, w * R.sum(0) + 10 * S.sum(0)
        nodes, steps = tree_means(components.nodes, components.node, num, den, 20.0)
        mu = nodes[components.node]
        G = 20.0 * steps.T @ steps
        for k in range(K):
            G += w * ((U - mu[k]).T * R[:, k]) @ (U - mu[k])
            G += 10 * ((pairs.vectors - mu[k]).T * S[:, k]) @ (pairs.vectors - mu[k])
        W = G / (w * len(U) + 10 * len(rows)) + problem.ridge * np.eye(X.shape[1])
        log_size = np.log(w * R.sum(0) + S.sum(0) + SIZE_PRIOR)
        log_size -= np.log(np.exp(log_size).sum())
    np.testing.assert_allclose(found.mixture.means, mu, atol=1e-5)
    np.testing.assert_allclose(np.linalg.inv(found.mixture.inverse), W, atol=1e-5)
    np.testing.assert_allclose(found.mixture.log_size, log_size, atol=1e-4)


def test_objective_is_the_penalised_likelihood_it_says():
    X, components, pairs, lattice, rows = set_up(per_leaf=30, spread=0.8)
    seeds, blocks = sum_seeds(pairs, components, lattice, rows), ArrayBlocks(X, 50)
    settings = Settings(max_iter=2, tol=0)
    found = fit(blocks, components, seeds, settings, lattice)
    problem = found.problem
    mixture, _ = start(problem, found.strangers)
    mixture, _, steps = maximise(problem, totals(blocks, mixture, lattice, rows))
    value = objective(problem, mixture, totals(blocks, mixture, lattice, rows), steps)
    W = np.linalg.inv(mixture.inverse)
    U = np.delete(X, rows, axis=0)
    logs = np.stack([multivariate_normal(m, W).logpdf(U) for m in mixture.means], axis=1)
    direct = problem.document_weight * np.log(np.exp(logs + mixture.log_size).sum(1)).sum()
    for x, k in zip(pairs.vectors, pairs.component):
        direct += 10 * multivariate_normal(mixture.means[k], W).logpdf(x) + mixture.log_size[k]
    direct -= problem.strength / 2 * (steps @ mixture.inverse * steps).sum()
    direct -= problem.mass * problem.ridge / 2 * np.trace(mixture.inverse)
    direct += SIZE_PRIOR * mixture.log_size.sum()
    assert value == pytest.approx(-direct / problem.mass, rel=1e-6)


# ------------------------------------------------------------------ laws


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", TREES)
def test_objective_never_rises(name, seed):
    X, components, pairs, lattice, rows = set_up(name, per_leaf=25, spread=1.5, seed=seed, width=8)
    seeds = sum_seeds(pairs, components, lattice, rows)
    settings = Settings(max_iter=25, tol=0)
    history = fit(ArrayBlocks(X), components, seeds, settings, lattice).history
    values = [entry["objective"] for entry in history]
    assert len(values) > 3
    assert max(np.diff(values), default=0) < 1e-8


def test_sums_are_exact_for_any_order_and_block():
    X, components, pairs, lattice, rows = set_up(per_leaf=200, spread=1.0)
    mixture = Mixture.of(pairs.vectors[: len(components)], np.eye(6), np.zeros(len(components)))
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


def test_seed_rows_are_left_out_of_the_corpus_sums():
    X, _, _, lattice, rows = set_up()
    blocks = ArrayBlocks(X, 10)
    found = spread(blocks, lattice, rows)
    U = np.delete(X, rows, axis=0)
    assert found.n == len(U)
    np.testing.assert_allclose(found.products, U.T @ U, rtol=1e-5)


def test_shares_sum_to_one_and_soften_with_temperature():
    L = np.random.default_rng(0).normal(size=(50, 4)) * 900  # would overflow without care
    share, log = shares(L.copy())
    np.testing.assert_allclose(share.sum(axis=1), 1)
    np.testing.assert_allclose(log, L.max(axis=1), atol=3)
    assert (shares(L.copy(), 50.0)[0].max(axis=1) <= share.max(axis=1) + 1e-12).all()


def test_sum_up_adds_children_to_parents():
    tree = Tree([-1, 0, 0, 1, 1])
    components = make_components(tree, np.array([1, 0, 1, 1, 1], bool), np.zeros(5, bool), True)
    total = sum_up(components, np.arange(1.0, 1 + len(components)))
    by_topic = dict(zip(components.topic.tolist(), np.arange(1.0, 1 + len(components))))
    assert total[1] == by_topic[3] + by_topic[4]
    assert total[0] == total[1] + by_topic[2] + by_topic[0]
    assert total[-1] == by_topic[-1]


# ------------------------------------------------------------------ calibration and the dial


@pytest.mark.parametrize("truth", [1.5, 3.0, 6.0])
def test_temperature_is_found_from_labels_drawn_at_it(truth):
    rng = np.random.default_rng(3)
    L = rng.normal(size=(4000, 8)) * 8
    P = shares(L.copy(), truth)[0]
    own = (P.cumsum(axis=1) < rng.random(len(P))[:, None]).sum(axis=1)
    assert most_likely(L, own, np.ones(len(L))) == pytest.approx(truth, rel=0.08)


def test_halves_share_out_each_topic_and_do_not_see_the_order():
    rng = np.random.default_rng(0)
    component = np.repeat(np.arange(5), [1, 2, 3, 4, 9])
    vectors = rng.normal(size=(len(component), 4))
    half = halves(Pairs(vectors, np.arange(len(component)), component))
    assert half[0] == -1
    for k in range(1, 5):
        mine = half[component == k]
        assert abs((mine == 0).sum() - (mine == 1).sum()) <= 1
    order = rng.permutation(len(component))
    again = halves(Pairs(vectors[order], order, component[order]))
    assert np.array_equal(again, half[order])


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_sample_goes_by_content_and_has_the_right_size(dtype):
    X = np.random.default_rng(0).normal(size=(4 * SAMPLE + 5, 3)).astype(dtype)
    lattice = Lattice.holding(len(X), 10.0)
    none = np.zeros(0, dtype=np.intp)
    some, copies, _ = sample(ArrayBlocks(X), lattice, none)
    assert some.n * copies == pytest.approx(len(X), rel=0.15)
    back, _, _ = sample(ArrayBlocks(X[::-1], 777), lattice, none)
    rows = np.arange(some.n)
    chosen = {*map(bytes, some.take(rows))}
    assert chosen == {*map(bytes, back.take(rows))}
    seeds = np.flatnonzero([bytes(x) in chosen for x in X.astype(np.float64)])[:3]
    less, _, skip = sample(ArrayBlocks(X), lattice, seeds)
    assert less.n == some.n - len(seeds)  # seeds are left out of the sample
    assert not len(skip)


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
