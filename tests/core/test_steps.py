"""Each step alone: against an oracle, by hand, or by the law that it must keep."""

import warnings
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.blocks import squared_norms
from hierseed.core.distance import Centres, squared_distances
from hierseed.core.exact import Grid, sum_by_group
from hierseed.core.hierseed.empty_topics import widen
from hierseed.core.hierseed.model import Model, pivots
from hierseed.core.hierseed.objective import objective
from hierseed.core.hierseed.other import other_vector
from hierseed.core.hierseed.pivot import assigned, radii
from hierseed.core.hierseed.refine import refine
from hierseed.core.hierseed.sphere import Candidates, windows
from hierseed.core.hierseed.vectors import bottom_up, start
from hierseed.core.tree import Tree


def model_of(parent, vectors, reach=np.inf, eccentricity=np.nan):
    tree = Tree(parent)
    own = np.full(len(tree), np.nan)
    own[pivots(tree, 1)] = reach
    return Model(tree, 1, np.asarray(vectors, float), own, np.full(len(tree), eccentricity))


# ------------------------------------------------------------------ exact sums


@given(st.integers(0, 2**32 - 1), st.integers(1, 400), st.floats(1e-6, 1e6))
def test_sums_do_not_depend_on_the_order(seed, n, size):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)).astype(np.float32) * np.float32(size)
    groups = rng.integers(0, 4, n)
    grid = Grid.holding(n, float(np.abs(X).max()))
    order = rng.permutation(n)
    one = sum_by_group(groups, grid.quantize(X), 4)
    two = sum_by_group(groups[order], grid.quantize(X[order]), 4)
    half = n // 2
    three = sum_by_group(groups[:half], grid.quantize(X[:half]), 4)
    three = three + sum_by_group(groups[half:], grid.quantize(X[half:]), 4)
    assert np.array_equal(one, two)
    assert np.array_equal(one, three)
    truth = np.array([X[groups == g].astype(np.float64).sum(axis=0) for g in range(4)])
    np.testing.assert_allclose(grid.dequantize(one), truth, atol=n * 2.0**-grid.bits)


def test_plain_sums_do_depend_on_the_order():
    """The test above would be idle if float sums were order-free anyway."""
    X = np.random.default_rng(0).normal(size=4001).astype(np.float32)
    assert X.sum() != X[::-1].sum()


# ------------------------------------------------------------------ nearest centre


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]))
@settings(max_examples=60)
def test_nearest_is_the_float64_nearest_and_ties_go_to_the_lower_id(seed, dtype):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, size=(50, 5)).astype(dtype) / 8  # many exact ties
    C = np.concatenate([rng.integers(-3, 4, size=(6, 5)) / 8, np.zeros((1, 5)), np.zeros((1, 5))])
    found, margin = Centres(C, X.dtype).nearest(X, squared_norms(X))
    D = ((X[:, None].astype(np.float64) - C) ** 2).sum(axis=2)
    assert np.array_equal(found, D.argmin(axis=1))
    gaps = np.sort(np.sqrt(D), axis=1)
    assert (margin <= gaps[:, 1] - gaps[:, 0] + 1e-12).all()


def test_close_calls_do_not_depend_on_the_place_in_the_block():
    rng = np.random.default_rng(1)
    C = rng.normal(size=(7, 384))
    C[3] = C[2] + 1e-7 * rng.normal(size=384)  # float32 can't tell them apart
    X = (C[2] + rng.normal(size=(501, 384))).astype(np.float32)
    centres = Centres(C, X.dtype)
    whole, _ = centres.nearest(X, squared_norms(X))
    for at in (0, 1, 250, 500):
        alone, _ = centres.nearest(X[at : at + 1], squared_norms(X[at : at + 1]))
        assert alone[0] == whole[at]
    D = ((X[:, None].astype(np.float64) - C) ** 2).sum(axis=2)
    clear = np.abs(D[:, 2] - D[:, 3]) > 1e-7
    assert clear.sum() > 400
    assert np.array_equal(whole[clear], D.argmin(axis=1)[clear])


# ------------------------------------------------------------------ the sphere


@given(st.integers(0, 2**32 - 1), st.integers(2, 9))
@settings(max_examples=60)
def test_windows_find_the_best_of_all_triples(seed, n_children):
    distances = np.random.default_rng(seed).gamma(2.0, size=(12, n_children))
    spread, radius = windows(distances)
    for row, (s, r) in enumerate(zip(spread, radius)):
        triples = combinations(distances[row], min(3, n_children))
        best = min((max(t) - min(t), np.mean(t)) for t in triples)
        assert (s, r) == pytest.approx(best)


def test_the_strict_sphere_holds_no_child():
    distances = np.random.default_rng(5).gamma(2.0, size=(40, 8))
    spread, _ = windows(distances, empty=True)
    nearest_three = np.sort(distances, axis=1)[:, :3]
    np.testing.assert_allclose(spread, nearest_three[:, 2] - nearest_three[:, 0])


@given(st.integers(0, 2**32 - 1), st.sampled_from(["ratio", "deviation"]))
@settings(max_examples=60)
def test_candidates_merge_in_any_order_to_the_same_centre(seed, tolerance):
    rng = np.random.default_rng(seed)
    spread, radius = rng.gamma(1.0, size=90), rng.gamma(3.0, size=90)
    grid, grid2 = Grid.holding(90, spread.max()), Grid.holding(90, spread.max() ** 2)
    limit = 10 * spread.min()
    if tolerance == "deviation":
        limit = max(spread.min(), spread.mean() - spread.std())
    wanted = int(np.where(spread <= limit, radius, -1).argmax())
    for cuts in ([45], [10, 50, 80]):
        parts = [
            Candidates.of(spread[rows], radius[rows], rows, grid, grid2)
            for rows in np.split(rng.permutation(90), cuts)
        ]
        together = parts[0]
        for part in parts[1:]:
            together = together.merge(part)
        assert together.centre(tolerance, grid, grid2) == wanted


# ------------------------------------------------------------------ start and bottom-up


def test_inner_topics_without_seeds_start_at_the_mean_of_their_children():
    tree = Tree([-1, 0, 0, -1])
    means = np.array([[9.0, 9], [0, 2], [2, 0], [5, 5]])
    found = start(tree, means, np.array([False, True, True, True]))
    assert found.tolist() == [[1, 1], [0, 2], [2, 0], [5, 5]]


def test_bottom_up_weights():
    tree = Tree([-1, 0, 0])
    vectors = np.array([[0.0], [1.0], [3.0]])
    found = bottom_up(
        tree,
        vectors,
        lambda level, moved: {0: np.array([10.0])},
        pivot_level=1,
        self_weight=2.0,
        les_weight=4.0,
    )
    assert found[0, 0] == pytest.approx((2 * 0 + 2 + 4 * 10) / (2 + 1 + 4))
    assert found[1:].tolist() == [[1.0], [3.0]]


# ------------------------------------------------------------------ Other


def test_other_lies_opposite_the_children_as_far_as_their_mean():
    topic, children = np.zeros(2), np.array([[2.0, 0.0], [0.0, 4.0]])
    found = other_vector(topic, children)
    assert np.linalg.norm(found) == pytest.approx(np.linalg.norm([1.0, 2.0]))
    np.testing.assert_allclose(found / np.linalg.norm(found), [-(0.5**0.5), -(0.5**0.5)])
    eta = np.linalg.norm([0.5, 0.5])
    np.testing.assert_allclose(other_vector(topic, children, "printed"), found * 2 * eta)


def test_balanced_children_need_no_other():
    assert other_vector(np.zeros(2), np.array([[1.0, 0], [-2.0, 0]])) is None
    assert other_vector(np.ones(2), np.ones((1, 2))) is None


# ------------------------------------------------------------------ the pivot


def test_radii_by_hand():
    tree = Tree([-1, 0, 0, -1, -1, 4])
    vectors = np.array([[0.0, 0], [1, 0], [0, 3], [10, 0], [50, 0], [50, 0]])
    found = radii(tree, vectors, pivots(tree, 1))
    assert found[0] == 6  # twice the furthest child
    assert found[3] == 10  # the nearest sibling
    assert found[4] == 40  # an only child on its topic's place counts as none
    assert np.isnan(found[[1, 2, 5]]).all()
    assert radii(Tree([-1]), vectors[:1], np.array([0]))[0] == np.inf
    wider = radii(tree, vectors, pivots(tree, 1), child_factor=2.5, sibling_factor=1.5)
    assert wider[[0, 3, 4]].tolist() == [7.5, 15, 60]


def test_an_only_child_at_the_pivot_is_bounded_by_its_cousins():
    """Not by nothing: it would take every document that no other topic reaches."""
    tree = Tree([-1, -1, 0, 1, 1])
    vectors = np.array([[0.0], [10], [0], [7], [12]])
    assert radii(tree, vectors, pivots(tree, 2))[2:].tolist() == [7, 5, 5]


@pytest.mark.parametrize(("nearest_document", "wanted"), [(1.5, 1.65), (2.5, 1.0)])
def test_an_empty_topic_reaches_for_a_near_document_only(nearest_document, wanted):
    blocks = ArrayBlocks(np.array([[nearest_document], [9.0]]))
    model, empty = widen(blocks, model_of([-1], [[0.0]], reach=1.0), alpha=1.1)
    assert model.radii[0] == pytest.approx(wanted)
    assert empty.tolist() == ([] if wanted > 1 else [0])


def test_eccentricity_from_all_to_none_of_an_overlap():
    vectors = [[0.0], [4.0]]
    X = np.array([[1.5], [2.0], [2.4], [-1.0]])  # the radii of 3 overlap in 1 … 3
    D = squared_distances(X, np.array(vectors))
    for e, first, second in [(1.0, [1, 1, 1, 1], [1, 1, 1, 0]), (0.0, [0, 0, 0, 1], [0, 0, 0, 0])]:
        kept = assigned(D, squared_norms(X), model_of([-1, -1], vectors, 3.0, e))
        assert kept[:, 0].tolist() == [bool(v) for v in first]
        assert kept[:, 1].tolist() == [bool(v) for v in second]
    kept = assigned(D, squared_norms(X), model_of([-1, -1], vectors, 3.0))
    assert kept[:, 0].tolist() == [True, True, False, True]  # level at 2.0: the lower id
    assert kept[:, 1].tolist() == [False, False, True, False]


# ------------------------------------------------------------------ top-down k-means


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("block_rows", [37, 1000])
def test_refine_is_lloyd(dtype, block_rows):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(400, 8)).astype(dtype)
    C = rng.normal(size=(6, 8))
    vectors = np.concatenate([[np.zeros(8)], C])
    model = model_of([-1] + [0] * 6, vectors)
    grid = Grid.holding(400, 20.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for iterations in (1, 2, 5, 100):
            oracle = KMeans(6, init=C, n_init=1, max_iter=iterations, tol=0, algorithm="lloyd").fit(
                X.astype(np.float64)
            )
            blocks = ArrayBlocks(X, block_rows=block_rows)
            found = refine(blocks, model, grid, max_iter=iterations, tol=0.0)
            np.testing.assert_allclose(found.vectors[1:], oracle.cluster_centers_, atol=1e-5)


def test_a_child_without_documents_keeps_its_vector():
    X = np.array([[0.0], [0.1], [1.0], [1.1]])
    model = model_of([-1, 0, 0, 0], [[0.5], [0.0], [1.0], [99.0]])
    found = refine(ArrayBlocks(X), model, Grid.holding(4, 2.0), max_iter=10, tol=0.0)
    np.testing.assert_allclose(found.vectors[:, 0], [0.5, 0.05, 1.05, 99.0])


def test_the_objective_never_rises_inside_refine():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(500, 5))
    vectors = rng.normal(size=(9, 5))
    grid, grid2 = Grid.holding(500, 10.0), Grid.holding(500, 100.0)
    costs = []
    for iterations in range(1, 12):
        blocks = ArrayBlocks(X, block_rows=61)
        model = model_of([-1, 0, 0, 0, 0, 1, 1, 2, 2], vectors.copy())
        model = refine(blocks, model, grid, max_iter=iterations, tol=0.0)
        level_two = objective(blocks, select(model, 5), grid, grid2)
        costs.append(level_two.total)
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(costs))
    assert costs[-1] < costs[0]


def select(model, n):
    """The same model cut to its first n topics: refine is monotone level by level."""
    return Model(
        Tree(model.tree.parent[:n]), 1, model.vectors[:n], model.radii[:n],
        model.eccentricity[:n],
    )  # fmt: skip


# ------------------------------------------------------------------ the objective


def test_the_objective_counts_every_document():
    X = np.array([[0.0], [1.0], [6.0]])
    model = model_of([-1, 0, 0], [[0.0], [0.0], [2.0]], reach=2.0)
    found = objective(ArrayBlocks(X), model, Grid.holding(3, 8.0), Grid.holding(3, 64.0))
    placed = 1 * (0 + 1) + 2 * (0 + 1)  # level times squares; 1.0 is level, goes to the lower id
    charged = 1 * 36 + 2 * 16  # 6.0 is out of reach: its nearest topic's price
    assert found.within == pytest.approx(placed)
    assert found.total == pytest.approx(placed + charged)
    assert (found.covered, found.n) == (2, 3)


def test_a_document_that_ends_early_pays_for_the_levels_it_skips():
    parent = [-1, 0, 1, 0]  # topic 3 is a leaf at level 2 of 3
    vectors = [[0.0], [50.0], [60.0], [1.0]]
    found = objective(
        ArrayBlocks(np.array([[3.0]])),
        model_of(parent, vectors),
        Grid.holding(1, 4.0),
        Grid.holding(1, 16.0),
    )
    assert found.within == pytest.approx(1 * 9 + 2 * 4)  # the paper's sum
    assert found.total == pytest.approx(1 * 9 + (2 + 3) * 4)
