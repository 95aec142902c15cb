"""The Triton kernels of the mixture's steps, in Triton's interpreter, against numpy."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="the extra 'gpu' is not installed")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

with pytest.MonkeyPatch.context() as patch:
    if DEVICE == "cpu":
        patch.setenv("TRITON_INTERPRET", "1")  # asked for when Triton is first imported
    triton = pytest.importorskip("triton", reason="Triton comes with CUDA builds of torch")
    if DEVICE == "cpu" and not hasattr(triton.language.sum, "rewrite"):
        pytest.skip("something else imported Triton for a GPU", allow_module_level=True)
    if DEVICE == "cpu" and np.lib.NumpyVersion(np.__version__) >= "2.4.0":
        pytest.skip("Triton's interpreter does not run with this numpy", allow_module_level=True)
    from hierseed.engines.torch import row_kernels

from hierseed.core.arrays import NUMPY  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the interpreter's inf - inf


@pytest.fixture(autouse=True)
def interpreter(monkeypatch):
    """Without a GPU the kernels are run by the interpreter."""
    if DEVICE == "cpu":
        monkeypatch.setenv("TRITON_INTERPRET", "1")


def put(values):
    return torch.as_tensor(values, device=DEVICE)


def get(values):
    return values.cpu().numpy()


def directions(n, width, large, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, width))
    if large:
        X[0, 0] = 90.0  # above 2**11, where a float16 holds even numbers only
    return NUMPY.round_directions(X, np.zeros(1), 4000.0)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(("n", "width"), [(1, 1), (37, 50), (130, 384)])
def test_rows_are_rounded_and_measured_as_on_the_processor(dtype, n, width):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, width)).astype(dtype)
    X[-1] = 0.0
    X[0, 0] = 2.5  # rounds to an even number
    for factor in (1.0, 2.0**12, 2.0**-3):
        found = get(row_kernels.scale_and_round(put(X), factor))
        np.testing.assert_array_equal(found, NUMPY.scale_and_round(X, factor))
    norms = get(row_kernels.squared_norms(put(X)))
    np.testing.assert_allclose(norms, NUMPY.wide_squared_norms(X), rtol=1e-14)
    for centre in (np.zeros(1), X[0].astype(np.float64)):
        found = get(row_kernels.round_directions(put(X), put(centre), 4000.0))
        np.testing.assert_array_equal(found, NUMPY.round_directions(X, centre, 4000.0))


def test_only_powers_of_two_pass_single_precision():
    assert row_kernels.is_power_of_two(2.0**12)
    assert row_kernels.is_power_of_two(0.25)
    assert not row_kernels.is_power_of_two(3.0)
    assert not row_kernels.is_power_of_two(2.0**120)


@pytest.mark.parametrize(("n", "m", "width"), [(1, 1, 384), (131, 130, 150), (40, 300, 200)])
@pytest.mark.parametrize("large", [True, False])
def test_products_of_whole_numbers_are_exact(n, m, width, large):
    U, V = directions(n, width, large), directions(m, width, large, seed=1)
    assert large == (max(abs(U).max(), abs(V).max()) > row_kernels.HALF)
    found = get(row_kernels.whole_product(put(U), put(V)))
    np.testing.assert_array_equal(found, U.astype(np.float64) @ V.astype(np.float64).T)


@pytest.mark.parametrize(("n", "m", "k"), [(1, 1, 1), (33, 17, 4), (20, 768, 15)])
def test_the_nearest_are_summed_ties_included(n, m, k):
    rng = np.random.default_rng(m)
    similarity = rng.integers(-40, 40, size=(n, m)).astype(np.float32)  # many ties
    similarity[0] = -(2.0**24) + 1
    values = rng.integers(-(10**6), 10**6, size=m).astype(np.float32)
    found = row_kernels.sum_of_nearest(put(similarity), k, put(values))
    for ours, theirs in zip(found, NUMPY.sum_of_nearest(similarity, k, values), strict=True):
        np.testing.assert_array_equal(get(ours), theirs)


@pytest.mark.parametrize(("k", "n"), [(1, 1), (3, 65), (141, 70)])
def test_shares_are_rounded_as_on_the_processor(k, n):
    rng = np.random.default_rng(k)
    L, scale = 30 * rng.normal(size=(k, n + 5)), 4096.0 * rng.integers(0, 9, size=n) / 8
    whole = put(L.copy())
    share, log = row_kernels.round_shares(whole[:, 5:], put(scale))
    expected, logs = NUMPY.round_shares(L[:, 5:].copy(), scale)
    np.testing.assert_array_equal(get(share), expected)
    np.testing.assert_allclose(get(log), logs, rtol=1e-14)
    np.testing.assert_array_equal(get(whole)[:, :5], L[:, :5])
