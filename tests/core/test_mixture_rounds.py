"""The rounds of the mixture against slow and direct versions of the same equations."""

from dataclasses import replace

import numpy as np
import pytest
from mixture_worlds import begun, covariance, graded_membership, set_up
from scipy.stats import multivariate_normal
from worlds import TREES, make_world

from hierseed import AnchoredHierSeed
from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.kernels import compiled
from hierseed.core.mixture.accuracy import identity_curves
from hierseed.core.mixture.belonging import PARTS, Membership
from hierseed.core.mixture.components import make_components, sum_up
from hierseed.core.mixture.em import (
    PULL,
    SIZE_PRIOR,
    START,
    Initialisation,
    Settings,
    fit,
    m_step,
    objective,
    tree_means,
)
from hierseed.core.mixture.gaussian_mixture import (
    CholeskyCovariance,
    Mixture,
    Products,
    invert,
    responsibilities,
)
from hierseed.core.mixture.moments import FINE, DescentRule, MixtureCache, corpus_moments, e_step
from hierseed.core.mixture.placement import Placer, labels, log_joint
from hierseed.core.tree import Tree

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


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("name", ["two levels", "ragged", "deep"])
def test_rounds_equal_a_dense_version(name, graded):
    X, components, pairs, quantization, rows = set_up(name, per_leaf=40, spread=0.8)
    settings = Settings(max_iter=4, tol=-np.inf, tree_weight=2.0)
    membership = Membership.certain(components.tree.height)
    if graded:
        membership = graded_membership(X, components, pairs)
    blocks, _, problem, mixture = begun(
        X, components, pairs, quantization, rows, settings, membership=membership
    )
    U, K, c = np.delete(X, rows, axis=0), len(components), problem.centre
    found = fit(blocks, Initialisation(problem, mixture), quantization, membership)
    b = np.ones(len(U))
    if graded:
        b = membership.parts(membership.neighbourhood.scores(U)[0]) / PARTS
        assert len(np.unique(b)) > 5
    w = min(1.0, PULL * 10 * len(rows) / b.sum())
    S = np.eye(K)[pairs.component]
    mu, log_size = mixture.means, mixture.log_size
    W = START * problem.variance * np.eye(X.shape[1])
    for _ in range(4):
        density = [multivariate_normal(m, W).logpdf(U) for m in moved_out(mu, W, c)]
        L = np.stack(density, axis=1) + log_size
        R = np.exp(L - L.max(axis=1, keepdims=True))
        R *= b[:, None] / R.sum(axis=1, keepdims=True)
        num, den = w * R.T @ U + 10 * S.T @ pairs.vectors, w * R.sum(0) + 10 * S.sum(0)
        nodes = tree_means(components.nodes, components.node, num, den, 20.0)
        mu, steps = nodes[components.node], nodes[:-1] - nodes[components.nodes.parent]
        G = 20.0 * steps.T @ steps
        for k in range(K):
            G += w * ((U - mu[k]).T * R[:, k]) @ (U - mu[k])
            G += 10 * ((pairs.vectors - mu[k]).T * S[:, k]) @ (pairs.vectors - mu[k])
        W = G / (w * b.sum() + 10 * len(rows)) + problem.ridge * np.eye(X.shape[1])
        log_size = np.log(w * R.sum(0) + S.sum() / K + SIZE_PRIOR)
        log_size -= np.log(np.exp(log_size).sum())
    np.testing.assert_allclose(found.mixture.means, mu, atol=1e-5)
    np.testing.assert_allclose(covariance(found.mixture), W, atol=1e-5)
    np.testing.assert_allclose(found.mixture.log_size, log_size, atol=1e-4)


def moved_out(means, W, centre):
    """Means as documents see them: none nearer to the centre than the median, none much further."""
    away, inverse = means - centre, np.linalg.inv(W)
    length = np.array([np.sqrt(a @ inverse @ a) for a in away])
    usual = np.median(length)
    target = [usual if mine < usual else np.sqrt(mine * usual) for mine in length]
    return centre + away * (target / length)[:, None]


@pytest.mark.parametrize(("n", "ridge"), [(3, 0.5), (15, 0.5), (19, 0.5), (3, 1e-9)])
def test_a_covariance_by_the_identity_and_by_its_factor(n, ridge):
    rng = np.random.default_rng(n)
    root, sums = rng.normal(size=(40, 20)), rng.normal(size=(n, 20))
    means = sums * rng.uniform(0.01, 0.1, n)[:, None]
    squares = root.T @ root + means.T @ sums
    covariance, solved = Products(squares, 40.0, ridge).covariance(means, sums)
    W = (squares - means.T @ sums) / 40 + np.eye(20) * ridge
    assert isinstance(covariance, CholeskyCovariance) == (n == 19 or ridge < 0.5)
    np.testing.assert_allclose(solved.T, np.linalg.solve(W, means.T), atol=1e-11)
    np.testing.assert_allclose(covariance.solve(root).T, np.linalg.solve(W, root.T), atol=1e-9)
    assert covariance.log_det == pytest.approx(np.linalg.slogdet(W)[1], abs=1e-11)


@pytest.mark.parametrize(("spread", "smoothing", "shift"), [
    (1e-7, 1e-6, 0.0), (1e-3, 1e-3, 0.0), (0.1, 1.0, 1e2), (1e-5, 1.0, 0.0),
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


def test_objective_is_the_penalised_likelihood_it_says(unlevelled):
    X, components, pairs, quantization, rows = set_up(per_leaf=30, spread=0.8)
    membership = graded_membership(X, components, pairs)
    blocks, _, problem, mixture = begun(
        X, components, pairs, quantization, rows, Settings(), 50, membership
    )
    seen = e_step(blocks, mixture, quantization, rows, membership)
    mixture, nodes, quadratic = m_step(problem, seen)
    seen = e_step(blocks, mixture, quantization, rows, membership)
    value = objective(problem, mixture, seen, quadratic)
    W, steps = covariance(mixture), nodes[:-1] - nodes[components.nodes.parent]
    U = np.delete(X, rows, axis=0)
    logs = np.stack([multivariate_normal(m, W).logpdf(U) for m in mixture.means], axis=1)
    b = membership.parts(membership.neighbourhood.scores(U)[0]) / PARTS
    direct = problem.document_weight * np.log(np.exp(logs + mixture.log_size).sum(1)) @ b
    for x, k in zip(pairs.vectors, pairs.component):
        direct += 10 * multivariate_normal(mixture.means[k], W).logpdf(x)
    direct -= problem.strength / 2 * (steps @ np.linalg.inv(W) * steps).sum()
    direct -= problem.total_weight * problem.ridge / 2 * np.trace(np.linalg.inv(W))
    seeds_each = len(pairs.component) / len(components)
    direct += (SIZE_PRIOR + seeds_each) * mixture.log_size.sum()
    assert value == pytest.approx(-direct / problem.total_weight, rel=1e-6)


# ------------------------------------------------------------------ laws


@pytest.fixture
def unlevelled(monkeypatch):
    """Leave means where the M step puts them: only then it maximises the objective."""
    monkeypatch.setattr(Mixture, "levelled", lambda self, centre, variance=None: self)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", TREES)
def test_objective_never_rises_while_means_are_not_levelled(name, seed, unlevelled):
    X, components, pairs, quantization, rows = set_up(
        name, per_leaf=25, spread=1.5, seed=seed, width=8
    )
    settings = Settings(max_iter=25, tol=0)
    membership = graded_membership(X, components, pairs)
    blocks, _, problem, mixture = begun(
        X, components, pairs, quantization, rows, settings, membership=membership
    )
    history = fit(blocks, Initialisation(problem, mixture), quantization, membership).history
    values = [entry["objective"] for entry in history]
    assert len(values) > 3
    assert max(np.diff(values), default=0) < 1e-8


def test_levelled_means_keep_their_direction_and_a_mean_at_the_centre_stays():
    rng = np.random.default_rng(0)
    W = np.diag([1.0, 4.0, 0.25])
    means, centre, X = rng.normal(size=(7, 3)), rng.normal(size=3), rng.normal(size=(20, 3))
    means[3] = centre
    mixture = Mixture.of(means, CholeskyCovariance.of(W), np.zeros(7)).levelled(centre)
    there = np.delete(np.arange(7), 3)
    length = np.sqrt((((means - centre) / np.sqrt(np.diag(W))) ** 2).sum(axis=1))
    usual = np.median(length)
    target = np.where(length < usual, usual, np.sqrt(length * usual))
    moved = centre + (means - centre) * (target / np.where(length > 0, length, 1))[:, None]
    found = mixture.log_joint(X)
    direct = np.stack([multivariate_normal(m, W).logpdf(X) for m in moved])
    np.testing.assert_allclose(
        found[there] - found[there[0]], direct[there] - direct[there[0]], atol=1e-9
    )
    direct[3] = multivariate_normal(centre, W).logpdf(X)
    np.testing.assert_allclose(found[3] - found[0], direct[3] - direct[0], atol=1e-9)


def test_sums_are_exact_for_any_order_and_block():
    X, components, pairs, quantization, rows = set_up(per_leaf=200, spread=1.0)
    mixture = Mixture.of(
        pairs.vectors[: len(components)],
        CholeskyCovariance.of(np.eye(6)),
        np.zeros(len(components)),
    )
    none, membership = rows[:0], graded_membership(X, components, pairs)
    order = np.random.default_rng(0).permutation(len(X))
    one, two = ArrayBlocks(X), ArrayBlocks(X[order], 17, threads=2)
    a, b = (e_step(blocks, mixture, quantization, none, membership) for blocks in (one, two))
    assert a.sums.tobytes() == b.sums.tobytes()
    assert a.weights.tobytes() == b.weights.tobytes()
    assert a.log_likelihood == b.log_likelihood
    a, b = (corpus_moments(blocks, quantization, none, membership) for blocks in (one, two))
    assert a.products.tobytes() == b.products.tobytes()
    assert a.n == b.n < len(X)


def test_the_last_round_counts_alike_and_what_it_remembers_is_used_once():
    X, components, pairs, quantization, rows = set_up(per_leaf=100, spread=1.0)
    membership = graded_membership(X, components, pairs)
    blocks, _, _, mixture = begun(
        X, components, pairs, quantization, rows, Settings(), 70, membership
    )
    usual, last = (
        e_step(blocks, mixture, quantization, rows, membership, rule)
        for rule in (None, DescentRule(components, 2.0))
    )
    assert last.weights.tobytes() == usual.weights.tobytes()
    assert last.log_likelihood == usual.log_likelihood
    nodes = np.zeros((len(components.nodes), 6))
    placer = Placer(
        components, mixture.without_covariance(), 2.0, nodes, np.zeros(9), identity_curves(9),
        quantization.vectors, membership, np.full(len(components.tree), -1),
    )  # fmt: skip
    known, again = (list(blocks.map(log_joint, placer)) for _ in range(2))
    for one, two in zip(known, again, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)  # also those of seeds
    assert not any(block.cache(MixtureCache).logs for block in blocks._blocks)
    e_step(blocks, mixture, quantization, rows, membership, DescentRule(components, 2.0))
    hotter = replace(placer, mixture=Mixture.of_balls(mixture.means, 9.0, mixture.log_size))
    found, fresh = (next(b.map(log_joint, hotter)) for b in (blocks, ArrayBlocks(X, 70)))
    np.testing.assert_allclose(found, fresh, rtol=1e-12)  # of another mixture nothing is known


def test_where_the_last_round_saw_documents_go_is_used_once_and_by_the_same_model_only(monkeypatch):
    pytest.importorskip("numba", reason="numba has no wheel for this platform")
    monkeypatch.setattr(compiled, "BREAK_EVEN", 0)
    X, components, pairs, quantization, rows = set_up(per_leaf=100, spread=1.0)
    X, membership = X.astype(np.float32), graded_membership(X, components, pairs)
    blocks, _, _, mixture = begun(
        X, components, pairs, quantization, rows, Settings(), 70, membership
    )
    nodes = np.zeros((len(components.nodes), 6))
    placer = Placer(
        components, mixture.without_covariance(), 2.0, nodes, np.zeros(2), identity_curves(2),
        quantization.vectors, membership, np.full(len(components.tree), -1),
    )  # fmt: skip
    plain = e_step(blocks, mixture, quantization, rows, membership)

    def last():
        seen = e_step(blocks, mixture, quantization, rows, membership, DescentRule(components, 2.0))
        assert seen.weights.tobytes() == plain.weights.tobytes()
        assert seen.log_likelihood == plain.log_likelihood
        return [block.cache(MixtureCache).walked for block in blocks._blocks]

    def differs(placer):
        """Whether blocks place documents otherwise than blocks that know nothing."""
        found, fresh = (np.concatenate(list(b.map(labels, placer))) for b in (blocks, plain_blocks))
        assert not any(block.cache(MixtureCache).walked for block in blocks._blocks)
        return found.tolist() != fresh.tolist()

    plain_blocks = ArrayBlocks(X, 70)
    hotter, fewer = replace(placer, temperature=9.0), placer.without([components.topic[0]])
    for other in (placer, hotter, fewer):
        assert all(last())
        assert not differs(other)
    for walked in last():
        walked.path[:] = components.topic[1]
    assert differs(placer)  # it was used
    assert not differs(placer)


def test_seed_rows_are_left_out_of_the_corpus_sums():
    X, components, pairs, quantization, rows = set_up()
    U = np.delete(X, rows, axis=0)
    found = corpus_moments(ArrayBlocks(X, 10), quantization, rows, Membership.certain(2))
    assert found.n == len(U)
    np.testing.assert_allclose(found.products, U.T @ U, rtol=1e-5)
    membership = graded_membership(X, components, pairs)
    b = membership.parts(membership.neighbourhood.scores(U)[0]) / PARTS
    found = corpus_moments(ArrayBlocks(X, 10), quantization, rows, membership)
    assert found.n == b.sum()
    np.testing.assert_allclose(found.sums, b @ U, rtol=1e-5)
    np.testing.assert_allclose(found.products, U.T @ (U * b[:, None]), rtol=1e-5)


def test_shares_sum_to_one_and_soften_with_temperature():
    L = np.random.default_rng(0).normal(size=(4, 50)) * 900  # would overflow without care
    share, log = responsibilities(L.copy(), FINE)
    np.testing.assert_allclose(FINE.dequantize(share.sum(axis=0)), 1)
    np.testing.assert_allclose(log, L.max(axis=0), atol=3)
    assert (responsibilities(L.copy(), FINE, 50.0)[0].max(axis=0) <= share.max(axis=0) + 1).all()


def test_shares_sum_to_the_weight_of_the_document():
    rng = np.random.default_rng(0)
    L, weight = rng.normal(size=(4, 50)), rng.integers(0, PARTS + 1, 50) / PARTS
    share, log = responsibilities(L.copy(), FINE, weight=weight)
    np.testing.assert_allclose(FINE.dequantize(share.sum(axis=0)), weight, atol=1e-11)
    np.testing.assert_allclose(log, np.log(np.exp(L).sum(axis=0)))


def test_sum_up_adds_children_to_parents():
    tree = Tree([-1, 0, 0, 1, 1])
    components = make_components(tree, np.array([1, 0, 1, 1, 1], bool))
    assert components.topic.tolist() == [2, 3, 4, 0]  # leaves first
    total = sum_up(components, np.array([1.0, 2.0, 4.0, 8.0]))
    assert total.tolist() == [15.0, 6.0, 1.0, 2.0, 4.0]
