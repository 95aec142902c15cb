"""The Triton kernels in Triton's interpreter, against numpy: odd sizes, families, ties."""

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

from worlds import make_world  # noqa: E402

from hierseed import HierSeed  # noqa: E402
from hierseed.core.distance import Centres  # noqa: E402
from hierseed.core.exact import Grid, sum_by_group  # noqa: E402
from hierseed.engines.torch import TorchBlocks, distance, exact  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the interpreter's inf - inf

SIZES = [  # rows, centres, families, dimensions: nothing is a multiple of a tile but the last
    (1, 1, 1, 50),
    (131, 1, 1, 384),
    (70, 141, 12, 384),
    (33, 17, 1, 768),
    (40, 290, 3, 50),
    (128, 128, 4, 64),
]


@pytest.fixture(scope="module")
def launch():
    """The module that calls the kernels; without a GPU they are run by the interpreter."""
    with pytest.MonkeyPatch.context() as patch:
        if DEVICE == "cpu":
            patch.setenv("TRITON_INTERPRET", "1")
        from hierseed.engines.torch import launch

        yield launch


def world(n, k, families, width, dtype, seed=0):
    rng = np.random.default_rng(seed)
    C = rng.normal(size=(k, width)) / width**0.5
    of_centre = np.sort(np.arange(k) % families).astype(np.int32)
    family = rng.integers(families, size=n).astype(np.int32)
    X = (rng.normal(size=(n, width)) / width**0.5).astype(dtype)
    return X, C, of_centre, family


def on_device(X, C, of_centre, family, families):
    put = lambda values: torch.as_tensor(values, device=DEVICE)  # noqa: E731
    centres = distance.Centres(put(C), put(of_centre), families)
    X = put(X)
    return X, put(family), centres, X.double().square().sum(dim=1)


def brute(X, C, of_centre, family):
    """Distances (not squared) in float64, infinite to centres of other families."""
    apart = X.astype(np.float64)[:, None] - C[None]
    D = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
    D[family[:, None] != of_centre[None]] = np.inf
    return D


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(("n", "k", "families", "width"), SIZES)
def test_the_nearest_centre_and_a_margin_that_can_be_trusted(
    launch, monkeypatch, n, k, families, width, dtype
):
    X, C, of_centre, family = world(n, k, families, width, dtype)
    D = brute(X, C, of_centre, family)
    Xt, ft, centres, x2 = on_device(X, C, of_centre, family, families)
    monkeypatch.setattr(distance, "fused", lambda _: launch)
    best, margin = (t.cpu().numpy() for t in distance.nearest(Xt, None, ft, centres, x2))
    np.testing.assert_array_equal(best, D.argmin(axis=1))
    two = np.sort(np.column_stack([D, np.full(n, np.inf)]), axis=1)[:, :2]
    true = two[:, 1] - two[:, 0]
    assert (margin <= true).all()
    assert (margin[true > 0.1] > 0).all()  # and it is of use


def test_the_kernel_alone_is_right_wherever_it_is_sure(launch):
    X, C, of_centre, family = world(300, 40, 2, 50, "float16")
    C[1:20:2] = C[:19:2] + 1e-4 * C[1:20:2]  # pairs that half precision can hardly tell apart
    D = brute(X, C, of_centre, family)
    Xt, ft, centres, x2 = on_device(X, C, of_centre, family, 2)
    best, margin = (t.cpu().numpy() for t in launch.assign(Xt, None, ft, centres, x2))
    sure = margin > 0
    assert 0.1 < sure.mean() < 0.9
    np.testing.assert_array_equal(best[sure], D.argmin(axis=1)[sure])
    assert (best != D.argmin(axis=1)).any()  # the doubt is justified


def test_ties_go_to_the_lower_centre(launch, monkeypatch):
    X, C, of_centre, family = world(50, 20, 1, 64, "float16")
    C[10:] = C[:10]
    Xt, ft, centres, x2 = on_device(X, C, of_centre, family, 1)
    monkeypatch.setattr(distance, "fused", lambda _: launch)
    best, margin = distance.nearest(Xt, None, ft, centres, x2)
    assert int(best.max()) < 10
    assert float(margin.max()) <= 0


def test_rows_may_be_picked_in_any_order(launch, monkeypatch):
    X, C, of_centre, family = world(90, 30, 3, 50, "float16")
    rows = np.random.default_rng(1).permutation(90)[:41].astype(np.int32)
    Xt, ft, centres, x2 = on_device(X, C, of_centre, family, 3)
    monkeypatch.setattr(distance, "fused", lambda _: launch)
    at = torch.as_tensor(rows, device=DEVICE)
    best, _ = distance.nearest(Xt, at, ft[at], centres, x2[at])
    D = brute(X, C, of_centre, family)[rows]
    np.testing.assert_array_equal(best.cpu().numpy(), D.argmin(axis=1))


def test_a_centre_too_long_for_half_precision_is_compared_in_float64(launch, monkeypatch):
    X, C, of_centre, family = world(20, 5, 1, 16, "float16")
    C[0] = 1e5  # beyond the largest float16
    Xt, ft, centres, x2 = on_device(X, C, of_centre, family, 1)
    monkeypatch.setattr(distance, "fused", lambda _: launch)
    best, _ = distance.nearest(Xt, None, ft, centres, x2)
    want, _ = Centres(C, np.dtype(np.float32)).nearest(X.astype(np.float32), x2.cpu().numpy())
    np.testing.assert_array_equal(best.cpu().numpy(), want)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("bits", [12, 27, 40])
@pytest.mark.parametrize(
    ("n", "groups", "width"), [(1, 1, 50), (77, 5, 384), (9000, 2, 130), (300, 290, 50)]
)
def test_sums_by_group_are_exact(launch, n, groups, width, bits, dtype):
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, width)).astype(dtype)
    rows = rng.permutation(n)[: -(-n * 2 // 3)]
    group, grid = rng.integers(groups, size=len(rows)), Grid(bits)
    put = lambda values: torch.as_tensor(values, device=DEVICE)  # noqa: E731
    on_grid = dtype == "float16" and bits >= 24
    sums, counts = launch.sum_by_group(
        put(X), put(rows.astype(np.int32)), put(group), groups, 2.0**bits, on_grid
    )
    want = sum_by_group(group, grid.quantize(X[rows]), groups)
    assert sums.cpu().numpy().tobytes() == want.tobytes()
    np.testing.assert_array_equal(counts.cpu(), np.bincount(group, minlength=groups))


def test_pieces_hold_every_place_once(launch):
    counts = torch.tensor([0, 1, launch.PIECE, 0, 3 * launch.PIECE + 1, 0])
    group, begin, end = launch.pieces(counts.cumsum(0), int(counts.sum())).T
    used = begin < end
    assert used.sum() == 6
    group, begin, end = group[used], begin[used], end[used]
    assert (end - begin).max() <= launch.PIECE
    np.testing.assert_array_equal(group.bincount((end - begin).double(), len(counts)), counts)
    assert begin[0] == 0
    assert end[-1] == counts.sum()
    assert (begin[1:] == end[:-1]).all()


def test_a_whole_fit_through_the_kernels(launch, monkeypatch):
    taxonomy, X, y, _ = make_world("two levels", per_leaf=30, width=12, spread=1.1)
    X = X.astype(np.float16)
    alone = HierSeed(taxonomy, max_iter=2).fit(X, y)
    calls = []
    monkeypatch.setattr(distance, "fused", lambda _: calls.append(1) or launch)
    monkeypatch.setattr(exact, "fused", lambda _: calls.append(1) or launch)
    torched = HierSeed(taxonomy, max_iter=2).fit(TorchBlocks(X, DEVICE), y)
    assert calls
    assert torched.labels_.tobytes() == alone.labels_.tobytes()
    assert torched.vectors_.tobytes() == alone.vectors_.tobytes()
