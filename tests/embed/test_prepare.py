import json

import numpy as np
import pytest
from sklearn.decomposition import PCA

from hierseed.core.kernels import compiled
from hierseed.embed import Preparation, Prepared
from hierseed.errors import CorpusError, ModelError, ParameterError


@pytest.fixture(name="X")
def vectors() -> np.ndarray:
    rng = np.random.default_rng(0)
    spread = rng.normal(size=(20, 20)) * np.linspace(3, 0.1, 20)
    return (rng.normal(size=(9000, 20)) @ spread + 5).astype(np.float32)


def test_centre_and_unit_length_are_what_they_say(X):
    ready = Preparation().fit(X).transform(X)
    centred = X - X.astype(np.float64).mean(axis=0)
    expected = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    np.testing.assert_allclose(ready, expected, atol=1e-5)
    assert ready.dtype == np.float32


def test_the_order_of_documents_does_not_change_a_bit_of_the_mean(X):
    order = np.random.default_rng(1).permutation(len(X))
    one, two = Preparation().fit(X), Preparation().fit(X[order])
    assert one.mean_.tobytes() == two.mean_.tobytes()
    assert X.sum(axis=0).tobytes() != X[order].sum(axis=0).tobytes()  # plain sums do change


def test_the_input_is_left_alone(X):
    before = X.copy()
    Preparation(pca=3).fit(X).transform(X)
    np.testing.assert_array_equal(X, before)


def test_pca_agrees_with_sklearn_up_to_sign(X):
    preparation = Preparation(unit=False, pca=4).fit(X)
    expected = PCA(4, svd_solver="full").fit(X.astype(np.float64)).transform(X.astype(np.float64))
    np.testing.assert_allclose(np.abs(preparation.transform(X)), np.abs(expected), atol=2e-3)


def test_pca_without_centring_is_a_projection(X):
    preparation = Preparation(centre=False, unit=False, pca=4).fit(X)
    projected = X.astype(np.float64) @ preparation.components_
    np.testing.assert_allclose(preparation.transform(X), projected, rtol=1e-6)


def test_a_shift_of_all_rows_changes_nothing(X):
    shifted = X + np.float32(8)
    a = Preparation().fit(X).transform(X)
    np.testing.assert_allclose(a, Preparation().fit(shifted).transform(shifted), atol=1e-4)


def test_rows_of_zeros_stay_zero_instead_of_nan():
    rows = np.array([[0, 0], [3, 4]], dtype=np.float32)
    ready = Preparation(centre=False).fit(rows).transform(rows)
    np.testing.assert_allclose(ready, [[0, 0], [0.6, 0.8]], atol=1e-7)


@pytest.mark.parametrize("rows", [3, slice(5, 9), slice(None), np.array([7, 2, 2]), [4, 1]])
def test_a_prepared_view_equals_preparing_everything(X, rows):
    preparation = Preparation(pca=6).fit(X)
    view = Prepared(X.astype(np.float16), preparation)
    assert view.shape == (9000, 6)
    assert len(view) == 9000
    assert view.dtype == np.float32
    everything = preparation.transform(X.astype(np.float16))
    np.testing.assert_allclose(view[rows], everything[rows], atol=1e-6)


def test_saved_and_rebuilt_gives_the_same_bits(X):
    preparation = Preparation(pca=5).fit(X)
    arrays = {**preparation.arrays, "vectors": np.zeros(3)}
    again = Preparation.from_saved(preparation.header, arrays)
    np.testing.assert_array_equal(again.transform(X), preparation.transform(X))


def test_a_second_fit_forgets_the_first(X):
    preparation = Preparation(pca=5).fit(X)
    preparation.fit(X[:100])
    np.testing.assert_array_equal(preparation.mean_, Preparation().fit(X[:100]).mean_)


def test_faults_are_named(X):
    with pytest.raises(ModelError, match="not fitted"):
        Preparation().transform(X)
    with pytest.raises(ModelError, match="not fitted"):
        Preparation(centre=False, pca=2).transform(X)
    with pytest.raises(CorpusError, match=r"rows of 3 numbers.*rows of 20"):
        Preparation().fit(X).transform(X[:, :3])
    with pytest.raises(CorpusError, match=r"pca=21 is outside 1 … 20"):
        Preparation(pca=21).fit(X)
    with pytest.raises(CorpusError, match=r"1\.0e\+30, whose squares"):
        Preparation().fit(np.full((2, 3), 1e30, dtype=np.float32))
    with pytest.raises(CorpusError, match="0 rows"):
        Preparation().fit(X[:0])
    X[8500, 2] = np.nan
    with pytest.raises(CorpusError, match=r"not finite \(rows 8,500\)"):
        Preparation().fit(X)


# ---------------------------------------------------------------- blocks


def test_blocks_are_scaled_one_by_one_and_weighted():
    X = np.random.default_rng(0).normal(size=(50, 7)).astype(np.float32)
    X[:, 3:] *= 100
    ready = Preparation(blocks=(3, 4), weights=(1.0, 0.5)).fit(X).transform(X)
    centred = X - X.mean(axis=0)
    first = centred[:, :3] / np.linalg.norm(centred[:, :3], axis=1, keepdims=True)
    np.testing.assert_allclose(ready[:, :3], first / np.sqrt(1.25), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(ready[:, 3:], axis=1), 0.5 / np.sqrt(1.25), atol=1e-5)


def test_a_block_of_weight_zero_is_left_out():
    X = np.random.default_rng(0).normal(size=(50, 7)).astype(np.float32)
    without = Preparation(blocks=(3, 4)).fit(X).with_weights((1.0, 0.0))
    assert without.dimension(7) == 3
    alone = Preparation().fit(X[:, :3]).transform(X[:, :3])
    np.testing.assert_allclose(without.transform(X), alone, atol=1e-6)
    assert Prepared(X, without).shape == (50, 3)


def test_blocks_are_saved():
    X = np.random.default_rng(0).normal(size=(50, 7)).astype(np.float32)
    fitted = Preparation(blocks=(3, 4), weights=(1.0, 0.25)).fit(X)
    again = Preparation.from_saved(json.loads(json.dumps(fitted.header)), fitted.arrays)
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))


def test_blocks_that_do_not_fit_are_refused():
    X = np.ones((5, 7), dtype=np.float32)
    with pytest.raises(CorpusError, match="rows of 7 numbers"):
        Preparation(blocks=(3, 5)).fit(X)
    with pytest.raises(ParameterError, match="1 weights for 2 blocks"):
        Preparation(blocks=(3, 4), weights=(1.0,))
    with pytest.raises(ParameterError, match="pca and blocks"):
        Preparation(blocks=(3, 4), pca=2)


# ---------------------------------------------------------------- the compiled way


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize(
    "parts",
    [{}, {"blocks": (8, 12), "weights": (0.5, 0.7)}, {"blocks": (8, 12), "weights": (0, 0.3)},
     {"blocks": (3, 9, 8), "weights": (0.3, 0, 0.7)}],
)  # fmt: skip
def test_the_kernel_gives_the_bits_of_numpy(X, dtype, unit, centre, parts, monkeypatch):
    pytest.importorskip("numba", reason="numba has no wheel for this platform")
    X = X[:700].astype(dtype)
    X[5], X[9, :8], X[11, 8:] = 0, 0, 0
    preparation = Preparation(unit=unit, centre=centre, **parts).fit(X)
    X[13, 2], X[14, 12] = np.nan, np.inf
    found = []
    with np.errstate(invalid="ignore"):
        for break_even in (np.inf, 0):
            monkeypatch.setattr(compiled, "BREAK_EVEN", break_even)
            found.append(preparation.transform(X))
    np.testing.assert_array_equal(*found)
    assert not found[1][5].any()
    good = np.isfinite(X).all(axis=1)
    assert found[0][good].tobytes() == found[1][good].tobytes()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("turned", [False, True])
def test_rows_in_any_order_are_prepared_as_all_of_them(X, dtype, turned, monkeypatch):
    pytest.importorskip("numba", reason="numba has no wheel for this platform")
    X = X[:300].astype(dtype)
    if turned:
        X = np.asfortranarray(X)
    preparation = Preparation().fit(X)
    every = preparation.transform(X)
    monkeypatch.setattr(compiled, "BREAK_EVEN", 0)
    view = Prepared(X, preparation)
    for rows in ([299, 0, 7, 7], [-1, 3], [], np.arange(299, -1, -1), np.arange(5, dtype=np.int32)):
        rows = np.asarray(rows, dtype=None if len(rows) else np.intp)
        assert view[rows].tobytes() == every[rows].tobytes()
    for beyond in (300, -301):
        with pytest.raises(IndexError):
            view[np.array([0, beyond])]
