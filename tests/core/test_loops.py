"""Fast ways to do a thing give the bits of the plain rule: halves, tallies, pieces of a block."""

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import make_world

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy
from hierseed.core import blocks as block_module
from hierseed.core.array_blocks import ArrayBlock, ArrayBlocks, as_floats
from hierseed.core.arrays import NUMPY
from hierseed.core.blocks import Families
from hierseed.core.distance import squared_distances, two_least
from hierseed.core.exact import Grid, Quantization, Tally
from hierseed.core.hierseed import sphere
from hierseed.core.hierseed.descend import PlacementCache, deepest, place
from hierseed.core.hierseed.model import Model
from hierseed.core.hierseed.sphere import tightest, unbeaten
from hierseed.core.kernels import compiled
from hierseed.core.kernels.compiled import aligned_zeros
from hierseed.core.mixture.belonging import PARTS
from hierseed.core.mixture.moments import _add_products, weighted_sums
from hierseed.core.mixture.neighbours import Neighbourhood
from hierseed.core.tree import Tree

FLOAT = np.dtype(np.float32)


@pytest.fixture(params=["numpy", "numba"])
def rule(request, monkeypatch):
    """Run a test with and without the compiled loops."""
    if request.param == "numba":
        pytest.importorskip("numba", reason="numba has no wheel for this platform")
    monkeypatch.setattr(compiled, "BREAK_EVEN", 0 if request.param == "numba" else np.inf)


def test_every_half_becomes_its_float(rule):
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)].reshape(-1, 8)
    assert as_floats(finite, FLOAT).tobytes() == finite.astype(np.float32).tobytes()
    np.testing.assert_array_equal(as_floats(halves.reshape(-1, 8), FLOAT).ravel(), halves)


def test_halves_in_any_layout(rule):
    X = np.random.default_rng(0).normal(size=(30, 7)).astype(np.float16)
    for rows in (X[::3], X[:, ::2], np.asfortranarray(X), X[:0]):
        found = as_floats(rows, FLOAT)
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found, rows.astype(np.float32))


def test_infinite_halves_alone(rule):
    X = np.array([[np.inf, 1.0], [-np.inf, 2.0]], dtype=np.float16)
    np.testing.assert_array_equal(as_floats(X, FLOAT), X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_two_least_of_a_row(rule, dtype):
    rng = np.random.default_rng(0)
    for columns in (5, 6, 7, 16, 128):
        D = rng.integers(-9, 9, size=(500, columns)).astype(dtype)  # many ties
        offset = rng.integers(0, 3, columns).astype(dtype)
        offset[columns - 3 :] = np.inf  # columns that only fill a register
        values = D + offset
        best, first, second = two_least(D.copy(), offset)
        ordered = np.sort(values, axis=1)
        np.testing.assert_array_equal(best, values.argmin(axis=1))
        np.testing.assert_array_equal(first, ordered[:, 0])
        np.testing.assert_array_equal(second, ordered[:, 1])


def tallied(rule, X, to, out_of, grid):
    tally = Tally(5, X.shape[1], grid)
    compiled.BREAK_EVEN, before = (0 if rule == "numba" else np.inf), compiled.BREAK_EVEN
    tally.move(X, to, out_of)
    compiled.BREAK_EVEN = before
    return tally.sums


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_moved_rows_are_added_and_taken_out(seed, dtype, fresh):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(60, 4)) * 2.0 ** rng.integers(-30, 3, size=(60, 4))).astype(dtype)
    X[:5] = [2.0**-21, -(2.0**-21), 3 * 2.0**-21, 0.0]  # half a step of the grid: to even
    to, out_of = rng.integers(0, 5, 60), rng.integers(-1, 5, 60)
    if fresh:
        out_of[:] = -1
    grid = Grid(20)
    wanted = np.zeros((5, 4))
    for x, gain, loss in zip(X, to, out_of):
        whole = np.array([float(round(float(v) * 2.0**20)) for v in x])  # Python rounds to even
        wanted[gain] += whole
        if loss >= 0:
            wanted[loss] -= whole
    assert tallied("numpy", X, to, out_of, grid).tolist() == wanted.tolist()
    if compiled.load_kernels():
        assert tallied("numba", X, to, out_of, grid).tolist() == wanted.tolist()


def swept(X, C, was, monkeypatch, repaid):
    """Nearest centres and margins, and what a tally of them holds; at once and in two pieces."""
    monkeypatch.setattr(compiled, "BREAK_EVEN", repaid)
    block, centres = ArrayBlock(X, 0, len(X), X.dtype), Families.one(C)
    rows, one, cut = np.arange(len(X)), np.zeros(len(X), dtype=np.intp), len(X) // 3
    parts = [
        block.reassign(centres, rows[at], one[at], was[at], Grid(30))
        for at in (slice(0, cut), slice(cut, None))
    ]
    best, margin = (np.concatenate(some) for some in list(zip(*parts))[:2])
    sums, counts = np.zeros(C.shape), np.zeros(len(C), dtype=int)
    for _, _, gains in parts:
        sums[gains.centre] += gains.sums
        counts[gains.centre] += gains.counts
    alone = block.nearest(centres)
    assert alone.tolist() == best.tolist()
    return best, margin, sums, counts


@given(
    st.integers(0, 2**32 - 1), st.integers(0, 90), st.integers(2, 150), st.integers(1, 40),
    st.booleans(),
)  # fmt: skip
@settings(max_examples=150, deadline=None)
def test_the_nearest_centre_by_both_ways(seed, n, k, width, ties):
    pytest.importorskip("numba", reason="numba has no wheel for this platform")
    rng = np.random.default_rng(seed)
    X, C = rng.normal(size=(n, width)).astype(np.float32), rng.normal(size=(k, width))
    if ties:
        C[k // 2 :] = C[: k - k // 2]  # level: to the lower id
        X[: n // 2] = (C[0] + C[1]) / 2
    was = rng.integers(-1, k, n)
    with pytest.MonkeyPatch.context() as patch:
        plain, plain_margin, plain_sums, plain_counts = swept(X, C, was, patch, np.inf)
        best, margin, sums, counts = swept(X, C, was, patch, 0)
    D = ((X[:, None].astype(np.float64) - C) ** 2).sum(axis=2)
    if not ties:
        assert best.tolist() == D.argmin(axis=1).tolist()
    D = np.sort(np.sqrt(D), axis=1)
    scale = (X**2).sum(axis=1) + (C**2).sum(axis=1).max(initial=0)
    loose = 3 * np.sqrt((width + 8) * np.finfo(np.float32).eps * scale)
    for found in (margin, plain_margin):
        assert (found <= D[:, 1] - D[:, 0] + 1e-9).all()  # what a document's skipping rests on
        assert (found >= D[:, 1] - D[:, 0] - loose).all()
    assert best.tolist() == plain.tolist()
    assert sums.tolist() == plain_sums.tolist()
    assert counts.tolist() == plain_counts.tolist()


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_families_rows_and_sums_by_both_ways(dtype, monkeypatch):
    """A block in the middle of an array, rows in any order, families that no row is in."""
    pytest.importorskip("numba", reason="numba has no wheel for this platform")
    rng = np.random.default_rng(0)
    for n, width, sizes in ((3, 5, [2, 3]), (200, 33, [1, 40, 2, 7, 300]), (500, 64, [9] * 30)):
        X = rng.normal(size=(n + 20, width)).astype(dtype)
        C, first = rng.normal(size=(sum(sizes), width)), np.cumsum([0, *sizes])[:-1]
        rows = rng.permutation(n)[: n - 1].astype(np.int32)
        family = rng.choice([0, 1], n - 1) if n < 500 else rng.integers(0, 30, n - 1)
        was = np.where(rng.random(n - 1) < 0.5, -1, first[family])
        groups = rng.integers(0, 4, n - 1)
        answers = []
        for repaid in (np.inf, 0):
            monkeypatch.setattr(compiled, "BREAK_EVEN", repaid)
            for vectors in (X, np.asfortranarray(X)):  # kernels can't read the second
                block = ArrayBlock(vectors, 7, n + 7, FLOAT)
                centres = Families(C, first)
                best, _, gains = block.reassign(centres, rows, family, was, Grid(30))
                sums = np.zeros(C.shape)
                sums[gains.centre] = gains.sums
                near = block.nearest(centres, rows, family)
                added, counts = block.sum_by_group(rows, groups, 4, Grid(30))
                answers.append([a.tolist() for a in (best, sums, near, added, counts)])
                exact = ((X[7 + rows][:, None].astype(float) - C[:50]) ** 2).sum(axis=2)
                np.testing.assert_allclose(block.distances(C[:50], rows), exact, rtol=1e-10)
                norms = (X[7 : n + 7].astype(float) ** 2).sum(axis=1)
                np.testing.assert_allclose(block.squared_norms, norms, rtol=1e-14)
        assert answers.count(answers[0]) == 4


def test_which_registers_a_processor_has():
    tiles = pytest.importorskip("hierseed.core.kernels.llvm_kernels", exc_type=ImportError)
    assert tiles.shape({"avx2": True, "fma": True, "avx512f": True}, "x86_64") == (16, 4)
    assert tiles.shape({"avx2": True, "fma": True, "f16c": True}, "x86_64") == (8, 2)
    assert tiles.shape({}, "arm64") == (4, 4)
    with pytest.raises(RuntimeError, match="x86_64"):
        tiles.shape({"avx2": True}, "x86_64")


OTHER = """
import platform, sys
from unittest.mock import patch
features = dict.fromkeys(("avx2", "fma", "f16c"), sys.argv[1] == "8")
machine = "arm64" if sys.argv[1] == "4" else "x86_64"
with (
    patch("llvmlite.binding.get_host_cpu_features", lambda: features),
    patch("platform.machine", lambda: machine),
):
    from hierseed.core.kernels import llvm_kernels as tiles
import numpy as np
from hierseed.core.kernels import compiled
from hierseed.core.array_blocks import ArrayBlock
from hierseed.core.blocks import Families
assert tiles.LANES == int(sys.argv[1])
rng = np.random.default_rng(0)
for n, k, width in ((17, 2, 5), (18, 9, 30), (50, 70, 33), (25, 131, 16)):
    X, C = rng.normal(size=(n, width)).astype(np.float32), rng.normal(size=(k, width))
    answers = []
    for compiled.BREAK_EVEN in (float("inf"), 0):
        block = ArrayBlock(X, 0, n, X.dtype)
        answers.append((block.nearest(Families.one(C)), block.distances(C)))
    assert answers[0][0].tolist() == answers[1][0].tolist()
    np.testing.assert_allclose(answers[0][1], answers[1][1], rtol=1e-10)
"""


@pytest.mark.slow
@pytest.mark.parametrize("lanes", ["8", "4"])
def test_the_nearest_centre_with_narrower_registers(lanes, tmp_path):
    pytest.importorskip("numba", reason="numba has no wheel for this platform")
    kept = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", OTHER, lanes], check=True, env=kept)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_fit_does_not_depend_on_the_loops_nor_on_the_size_of_pieces(dtype, monkeypatch):
    taxonomy, X, y, _ = make_world("deep", per_leaf=60, spread=0.9)
    X = X.astype(dtype)
    fits = []
    for repaid, piece in [(np.inf, 200_000), (np.inf, 90), (0, 200_000), (0, 700)]:
        monkeypatch.setattr(compiled, "BREAK_EVEN", repaid)
        monkeypatch.setattr(block_module, "CHUNK_VALUES", piece)
        monkeypatch.setattr(sphere, "MOST_DISTANCES", piece)
        model = HierSeed(taxonomy).fit(X, y)
        fits.append((model.vectors_.tobytes(), model.labels_.tobytes(), model.objective_))
    assert fits.count(fits[0]) == len(fits)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_mixture_does_not_depend_on_the_kernels(dtype, monkeypatch):
    """Belonging, E-step, covariance and placement; two rows alike, one of them a reference."""
    taxonomy, X, y, _ = make_world("deep", per_leaf=60, spread=0.9)
    X = X.astype(dtype)
    X[1::7] = X[::7][: len(X[1::7])]
    fits = []
    for repaid in (np.inf, 0):
        monkeypatch.setattr(compiled, "BREAK_EVEN", repaid)
        model = AnchoredHierSeed(taxonomy).fit(X, y)
        fits.append((model.vectors_.tobytes(), model.labels_.tobytes(), model.foreign_share_))
        fits[-1] += (model.predict(X).tobytes(),)
    assert fits[0] == fits[1]


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.booleans(), st.booleans())
@settings(max_examples=50, deadline=None)
def test_spheres_by_both_ways(seed, children, empty, ties):
    pytest.importorskip("numba", reason="numba has no wheel for this platform")
    D = np.random.default_rng(seed).random((70, children))
    if ties:
        D = np.round(D * 3) / 4
    found = []
    for repaid in (np.inf, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiled, "BREAK_EVEN", repaid)
            spread, radius = tightest(D.copy(), empty=empty)
            front = unbeaten(spread, radius).tolist()
        found.append((spread.tolist(), radius.tolist(), front))
    assert found[0] == found[1]


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("width", [5, 65, 200])
@pytest.mark.parametrize("uneven", [1.0, 30.0])
def test_weighted_products_by_both_ways(dtype, width, uneven):
    """As many rows at a time as 32 bits hold; where one column is nearly all, too few."""
    pytest.importorskip("numba", reason="numba has no wheel for this platform")
    rng = np.random.default_rng(width)
    X = rng.standard_normal((700, width)).astype(np.float32)
    X[:, 3] *= uneven
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)
    parts = rng.integers(0, PARTS + 1, len(X)).astype(np.float64)
    quantization = Quantization.holding(1_000_000, 1.0)
    block = ArrayBlock(X, 0, len(X), FLOAT)
    slow = weighted_sums(block.quantized(quantization.vectors), parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "BREAK_EVEN", 0)
        found = _add_products(block.kernel_rows(), width, parts, quantization)
    assert (found is None) == (uneven > 1)
    for one, two in zip(slow, found or slow, strict=True):
        np.testing.assert_array_equal(one, two)


@given(st.integers(0, 2**32 - 1), st.booleans())
@settings(max_examples=50, deadline=None)
def test_documents_are_placed_at_the_pivot_by_both_ways(seed, ties):
    """Siblings of several families in any order, radii of zero and without a bound, ties."""
    pytest.importorskip("numba", reason="numba has no wheel for this platform")
    rng = np.random.default_rng(seed)
    X, parents = rng.integers(-3, 4, (60, 2)).astype(np.float32), rng.integers(0, 3, 8)
    vectors = rng.integers(-3, 4, (11, 2)) + (0.0 if ties else rng.random((11, 2)))
    radii = np.append([np.nan] * 3, rng.choice([0.0, 1.0, 2.0, 3.5, np.inf], 8))
    tree = Tree(np.append([-1] * 3, parents))
    block, found = ArrayBlock(X, 0, 60, FLOAT), []
    model = Model(tree, 2, vectors, radii, np.full(11, np.nan))
    D = squared_distances(X, vectors[model.pivots])
    for repaid in (np.inf, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiled, "BREAK_EVEN", repaid)
            placed = place(block, model, D)
        arrays = (placed.row, placed.topic, placed.nearest, placed.first)
        found.append([(each.dtype, each.tolist()) for each in arrays])
    assert found[0] == found[1]


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (7,), (5, 33)])
def test_zeros_begin_where_a_line_does(shape):
    for dtype in (np.float32, np.float64):
        some = [aligned_zeros(shape, dtype) for _ in range(5)]
        assert all(one.ctypes.data % 64 == 0 for one in some if one.size)
        assert all(one.shape == shape and one.dtype == dtype and not one.any() for one in some)


def test_pieces_of_a_block_are_alike():
    for n in (0, 1, 64, 65, 129, 5208):
        pieces = [at.stop - at.start for at in block_module.chunks(n, 384)]
        assert sum(pieces) == n
        assert not pieces or max(pieces) - min(pieces) < len(pieces) + 1


def test_pieces_of_a_block_hold_its_rows(monkeypatch):
    monkeypatch.setattr(block_module, "CHUNK_VALUES", 0)  # 64 rows at a time
    X = np.random.default_rng(0).normal(size=(300, 5)).astype(np.float16)
    (block,) = ArrayBlocks(X, block_rows=200, start=100)._blocks
    for rows in (None, np.arange(200), np.arange(200)[::-1], np.array([7]), np.array([], int)):
        wanted = X[100:] if rows is None else X[100 + rows]
        places = list(block.chunks(rows))
        assert sum(at.stop - at.start for at, _ in places) == len(wanted)
        for at, piece in places:
            np.testing.assert_array_equal(piece, wanted[at])


def test_blocks_that_forget_answer_the_same():
    taxonomy, X, y, _ = make_world("deep", per_leaf=60, spread=0.9)
    model = HierSeed(taxonomy).fit(X, y)._model
    answers = []
    for forget in (False, True):
        blocks = ArrayBlocks(X, block_rows=50, forget=forget)
        answers.append([deepest(block, model).topic.tolist() for block in blocks._blocks])
        answers.append([found.topic.tolist() for found in blocks.map(deepest, model)])
        assert all(bool(block.cache(PlacementCache).by_level) != forget for block in blocks._blocks)
    assert answers.count(answers[0]) == 4


def test_one_row_alone_is_placed_as_among_all():
    taxonomy, X, y, _ = make_world("two levels", per_leaf=30, spread=1.5)
    model = HierSeed(taxonomy).fit(X, y)
    assert [int(model.predict(x[None])[0]) for x in X] == model.labels_.tolist()


@pytest.mark.parametrize("rows", [1, 2, 30])
def test_largest_in_columns_equals_a_sort_with_ties_and_zeros(rows, rule):
    values = np.random.default_rng(rows).integers(0, 4, (rows, 500)) / 4.0
    order = np.argsort(-values, axis=0, kind="stable")[:5].T
    want = np.take_along_axis(values.T, order, axis=1)
    place, found = NUMPY.largest_in_columns(values, 5)
    np.testing.assert_array_equal(found, want)
    np.testing.assert_array_equal(place, np.where(want > 0, order, -1))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("width", [3, 37, 96])
def test_the_kernel_looks_up_the_neighbours_that_numpy_finds(width, dtype, monkeypatch):
    pytest.importorskip("numba", reason="numba has no wheel for this platform")
    rng = np.random.default_rng(width)
    X = (rng.standard_normal((300, width)) + 0.3).astype(dtype)
    X[5], X[6], X[20:120] = 0, X[7], X[20]  # more alike than neighbours, and than groups
    topics, centre = rng.standard_normal((7, width)), X.mean(axis=0, dtype=np.float64)
    neighbourhood = Neighbourhood.learn(X[:200].astype(np.float64), topics, centre)
    neighbourhood = replace(neighbourhood, least=1e6, least_part=0.5)
    monkeypatch.setattr(compiled, "BREAK_EVEN", np.inf)
    score, nearest = neighbourhood.scores(X)
    monkeypatch.setattr(compiled, "BREAK_EVEN", 0)
    again = neighbourhood.scores(X)
    np.testing.assert_array_equal(again[0], score)
    np.testing.assert_array_equal(again[1], nearest)


def test_the_radius_of_an_empty_topic_does_not_depend_on_the_kernels(monkeypatch):
    """Documents lie beyond the radius of their topic: twice the distance to its children."""
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_paths([f"{a} > {b}" for a in range(60) for b in "xy"])
    X, seeds, topics = [], [], []
    for topic in taxonomy.tree.children(-1):
        place, away, far = rng.normal(size=(3, 300))
        for child, side in zip(taxonomy.tree.children(topic), (-0.5, 0.5)):
            seeds.append(place + side * away / np.linalg.norm(away))
            topics.append(child)
        X.append(place + rng.uniform(1.1, 1.9) * far / np.linalg.norm(far))
    found = []
    for repaid in (0, np.inf):
        monkeypatch.setattr(compiled, "BREAK_EVEN", repaid)
        model = HierSeed(taxonomy, max_iter=1).fit(
            np.array(X, dtype=np.float32), X_seeds=seeds, y_seeds=topics
        )
        found.append(model.radii_)
    assert np.nanmax(found[0]) > 1.1
    np.testing.assert_array_equal(*found)
