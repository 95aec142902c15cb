"""Fast ways to do a thing give the bits of the plain way: halves, tallies, pieces of a block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import make_world

from hierseed import HierSeed
from hierseed.core import compiled, distance
from hierseed.core.blocks import ArrayBlocks
from hierseed.core.descend import deepest
from hierseed.core.distance import two_least
from hierseed.core.exact import Grid, Tally
from hierseed.core.half import floats

FLOAT = np.dtype(np.float32)


@pytest.fixture(params=["numpy", "numba"])
def way(request, monkeypatch):
    """Run a test with and without the compiled loops."""
    if request.param == "numba":
        pytest.importorskip("numba", reason="the compiled loops are an extra: hierseed[fast]")
    monkeypatch.setattr(compiled, "REPAID", 0 if request.param == "numba" else np.inf)


def test_every_half_becomes_its_float(way):
    halves = np.arange(2**16, dtype=np.uint16).view(np.float16)
    finite = halves[np.isfinite(halves)].reshape(-1, 8)
    assert floats(finite, FLOAT).tobytes() == finite.astype(np.float32).tobytes()
    np.testing.assert_array_equal(floats(halves.reshape(-1, 8), FLOAT).ravel(), halves)


def test_halves_in_any_layout(way):
    X = np.random.default_rng(0).normal(size=(30, 7)).astype(np.float16)
    for rows in (X[::3], X[:, ::2], np.asfortranarray(X), X[:0]):
        found = floats(rows, FLOAT)
        assert found.flags.c_contiguous
        np.testing.assert_array_equal(found, rows.astype(np.float32))


def test_infinite_halves_alone(way):
    X = np.array([[np.inf, 1.0], [-np.inf, 2.0]], dtype=np.float16)
    np.testing.assert_array_equal(floats(X, FLOAT), X)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_two_least_of_a_row(way, dtype):
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


def tallied(way, X, to, out_of, grid):
    tally = Tally(5, X.shape[1], grid)
    compiled.REPAID, before = (0 if way == "numba" else np.inf), compiled.REPAID
    tally.move(X, to, out_of)
    compiled.REPAID = before
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
    if compiled.loops():
        assert tallied("numba", X, to, out_of, grid).tolist() == wanted.tolist()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_fit_does_not_depend_on_the_loops_nor_on_the_size_of_pieces(dtype, monkeypatch):
    taxonomy, X, y, _ = make_world("deep", per_leaf=60, spread=0.9)
    X = X.astype(dtype)
    fits = []
    for repaid, piece in [(np.inf, 200_000), (np.inf, 90), (0, 200_000), (0, 700)]:
        monkeypatch.setattr(compiled, "REPAID", repaid)
        monkeypatch.setattr(distance, "CHUNK_VALUES", piece)
        model = HierSeed(taxonomy).fit(X, y)
        fits.append((model.vectors_.tobytes(), model.labels_.tobytes(), model.objective_))
    assert fits.count(fits[0]) == len(fits)


def test_pieces_of_a_block_hold_its_rows(monkeypatch):
    monkeypatch.setattr(distance, "CHUNK_VALUES", 0)  # 64 rows at a time
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
        assert all(bool(block.memo) != forget for block in blocks._blocks)
    assert answers.count(answers[0]) == 4


def test_one_row_alone_is_placed_as_among_all():
    taxonomy, X, y, _ = make_world("two levels", per_leaf=30, spread=1.5)
    model = HierSeed(taxonomy).fit(X, y)
    assert [int(model.predict(x[None])[0]) for x in X] == model.labels_.tolist()
