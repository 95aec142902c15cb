"""The torch engine against numpy: the same steps, to the bit where sums decide.

On a GPU where there is one, else on the CPU.
"""

import numpy as np
import pandas as pd
import pytest
from worlds import TREES, make_world

from hierseed import AnchoredHierSeed, HierSeed, UnfitHierSeed
from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.arrays import Arrays
from hierseed.core.blocks import portable
from hierseed.core.hierseed import refine
from hierseed.core.mixture import sample
from hierseed.embed.prepare import Preparation, Prepared
from hierseed.engines.choose import Engine
from hierseed.errors import CorpusError
from hierseed.io.model_bundle import digest_of_documents

torch = pytest.importorskip("torch", reason="the extra 'gpu' is not installed")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

from hierseed.engines.torch import HostStepWarning, NoGpuWarning, TorchBlocks  # noqa: E402
from hierseed.engines.torch import block as torch_block  # noqa: E402
from hierseed.engines.torch import blocks as engine  # noqa: E402
from hierseed.engines.torch.arrays import TorchArrays  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::hierseed.estimators.hierseed.EmptyTopicWarning")

DTYPES = {"int32", "index", "float32", "float64", "bool"}
METHODS = {
    "hierseed": (HierSeed, {}),
    "several topics a document": (HierSeed, {"eccentricity": 0.8}),
    "spheres by deviation": (HierSeed, {"sphere": "deviation"}),
    "empty spheres": (HierSeed, {"sphere": "empty", "les_weight": 2.0}),
    "unfit": (UnfitHierSeed, {}),
    "anchored": (AnchoredHierSeed, {}),
    "anchored, precise": (AnchoredHierSeed, {"precision": 0.8}),
}


def corpus(name="deep", dtype="float16", **options):
    taxonomy, X, y, _ = make_world(name, per_leaf=40, width=12, spread=1.1, **options)
    return taxonomy, X.astype(dtype), y


class Watched(TorchBlocks):
    """Remembers which steps ran, and which of them on the processor."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.steps, self.on_host = set(), set()

    def map(self, step, *model):
        self.steps.add(step)
        if not getattr(step, "portable", False):
            self.on_host.add(step)
        return super().map(step, *model)


def same(alone, torched):
    """Labels and vectors to the bit; what is read off float64 distances to its last digits."""
    assert torched.labels_.dtype == alone.labels_.dtype
    assert torched.labels_.tobytes() == alone.labels_.tobytes()
    assert torched.vectors_.tobytes() == alone.vectors_.tobytes()
    for ours, theirs in zip(torched.history_, alone.history_, strict=True):
        assert ours["moved"] == pytest.approx(theirs["moved"], rel=1e-12)
        assert ours["objective"] == pytest.approx(theirs["objective"], rel=1e-12)
    for name in ("margins_", "radii_", "thresholds_", "sizes_"):
        if hasattr(alone, name):
            np.testing.assert_allclose(getattr(torched, name), getattr(alone, name), rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_a_fit_is_that_of_the_processor(method):
    make, options = METHODS[method]
    taxonomy, X, y = corpus()
    alone = make(taxonomy, **options).fit(X, y)
    same(alone, make(taxonomy, **options).fit(TorchBlocks(X, DEVICE, block_rows=100), y))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("make", [HierSeed, AnchoredHierSeed])
def test_numbers_of_all_sizes(make, dtype):
    taxonomy, X, y = corpus(dtype=dtype)
    same(make(taxonomy).fit(X, y), make(taxonomy).fit(TorchBlocks(X, DEVICE, block_rows=100), y))


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("make", [HierSeed, AnchoredHierSeed])
def test_trees_of_all_shapes(name, make):
    taxonomy, X, y = corpus(name, seed=3)
    same(make(taxonomy).fit(X, y), make(taxonomy).fit(TorchBlocks(X, DEVICE, block_rows=90), y))


def test_pieces_of_a_block_take_turns(monkeypatch):
    monkeypatch.setattr(TorchArrays, "piece", 64)
    taxonomy, X, y = corpus()
    blocks = TorchBlocks(X, DEVICE, block_rows=200)
    same(AnchoredHierSeed(taxonomy).fit(X, y), AnchoredHierSeed(taxonomy).fit(blocks, y))


def test_families_that_do_not_fit_one_kernel_take_turns(monkeypatch):
    monkeypatch.setattr(torch_block, "TOGETHER", 3)
    taxonomy, X, y = corpus("two levels")
    _, _, first = taxonomy.tree.families[1]
    assert len(list(torch_block.packs([*first.tolist(), len(taxonomy.tree.families[1][0])]))) > 1
    same(HierSeed(taxonomy).fit(X, y), HierSeed(taxonomy).fit(TorchBlocks(X, DEVICE), y))


@pytest.mark.parametrize("make", [HierSeed, UnfitHierSeed, AnchoredHierSeed])
def test_placing_and_assigning_take_the_engine_too(make):
    taxonomy, X, y = corpus()
    model = make(taxonomy).fit(X, y)
    blocks = Watched(X, DEVICE, block_rows=64)
    np.testing.assert_array_equal(model.predict(blocks), model.predict(X))
    found, want = model.assign(blocks, y).to_frame(), model.assign(X, y).to_frame()
    pd.testing.assert_frame_equal(found, want, rtol=1e-6)
    if make is AnchoredHierSeed:
        np.testing.assert_allclose(model.predict_proba(blocks), model.predict_proba(X), atol=1e-11)
    assert not blocks.on_host


@pytest.mark.parametrize("make", [HierSeed, AnchoredHierSeed])
def test_no_pass_of_a_fit_is_left_to_the_processor(make, monkeypatch, tmp_path):
    monkeypatch.setattr(sample, "SAMPLE", 50)  # the initialisation has a sample of its own
    taxonomy, X, y = corpus()
    raw = Watched(X, DEVICE, block_rows=100)
    preparation = Preparation().fit(raw)
    blocks = Watched(Prepared(X, preparation), DEVICE, block_rows=100)
    make(taxonomy).fit(blocks, y, checkpoint=tmp_path / "rounds").predict(blocks)
    assert len(raw.steps) == 2
    assert len(blocks.steps) > 5
    assert not raw.on_host | blocks.on_host


@pytest.mark.parametrize("make", [HierSeed, AnchoredHierSeed])
@pytest.mark.parametrize("first", ["processor", "device"])
def test_a_fit_stopped_here_resumes_there(make, first, tmp_path):
    taxonomy, X, y = corpus()
    preparation = Preparation().fit(X)
    raw = TorchBlocks(X, DEVICE, block_rows=70)
    here = Preparation().fit(raw)
    assert here.mean_.tobytes() == preparation.mean_.tobytes()
    ready = Prepared(X, preparation)
    engines = {"processor": ready, "device": raw.prepared(ready)}
    alone = make(taxonomy).fit(ready, y)

    def stop(event):
        raise KeyboardInterrupt

    folder = tmp_path / "rounds"
    with pytest.raises(KeyboardInterrupt):
        make(taxonomy).fit(engines.pop(first), y, progress=stop, checkpoint=folder)
    (second,), rounds = engines.values(), []
    model = make(taxonomy).fit(second, y, progress=rounds.append, checkpoint=folder)
    same(alone, model)
    assert len(rounds) == model.n_iter_ - 1


@pytest.mark.parametrize(
    "options", [{}, {"centre": False}, {"unit": False}, {"pca": 5}, {"blocks": (5, 7)}], ids=str
)
@pytest.mark.parametrize("resident", [True, False])
def test_rows_are_prepared_on_the_device_to_the_same_bits(options, resident):
    _, X, _ = corpus()
    X[7] = 0.0
    preparation, there = Preparation(**options).fit(X), Preparation(**options)
    raw = Watched(X, DEVICE, block_rows=64, resident=resident)
    there.fit(raw)
    assert not raw.on_host
    for name, learned in preparation.arrays.items():
        assert there.arrays[name].tobytes() == learned.tobytes()
    if options.get("blocks"):
        preparation = preparation.with_weights((1.0, 0.5))
    blocks = raw.prepared(Prepared(X, preparation))
    found = np.concatenate(list(blocks.map(rows_of)))
    assert found.tobytes() == preparation.transform(X).tobytes()


@portable
def rows_of(block):
    return block.xp.to_numpy(block.X)


def test_vectors_are_read_once(tmp_path):
    taxonomy, X, y = corpus()

    class Counted:
        shape, dtype, ndim, read = X.shape, X.dtype, 2, 0

        def __getitem__(self, rows):
            found = X[rows]
            self.read += len(found) if isinstance(rows, slice) else 0
            return found

    vectors = Counted()
    with Engine(device=DEVICE).open(lambda event: None) as engine:
        preparation = Preparation().fit(engine.blocks(vectors))
        ready = engine.blocks(Prepared(vectors, preparation))
        AnchoredHierSeed(taxonomy).fit(ready, y, checkpoint=tmp_path / "rounds")
    assert vectors.read == len(X)


def test_checksums_see_every_number_and_its_place(tmp_path):
    _, X, _ = corpus()
    found = {digest_of_documents(TorchBlocks(X, DEVICE, block_rows=rows)) for rows in (7, 100, 240)}
    assert found == {digest_of_documents(ArrayBlocks(X, 50))}
    for change in (lambda X: X[[1, 0, *range(2, len(X))]], lambda X: X[:, ::-1]):
        assert (
            digest_of_documents(TorchBlocks(np.ascontiguousarray(change(X)), DEVICE)) not in found
        )
    X[77, 3] += 1
    assert digest_of_documents(TorchBlocks(X, DEVICE)) not in found


def test_a_step_that_is_not_portable_runs_on_the_processor_and_says_so():
    _, X, _ = corpus()
    with pytest.warns(HostStepWarning, match="first_values"):
        found = list(TorchBlocks(X, DEVICE, block_rows=100).map(first_values))
    np.testing.assert_array_equal(np.concatenate(found), X[:, 0].astype(np.float32))


def first_values(block):
    return block.X[:, 0]


def test_the_array_functions_of_torch_are_those_of_numpy():
    rng = np.random.default_rng(0)
    xp, there = Arrays(), TorchArrays(torch.device(DEVICE))
    values = np.round(rng.normal(size=(40, 5)), 1)  # ties
    vector, mask = np.round(rng.normal(size=60), 1), rng.random(60) < 0.4
    groups = rng.integers(-1, 4, size=60)
    cases = {
        "full": lambda f, put: f.full(3, 2, f.int32),
        "arange": lambda f, put: f.arange(5),
        "astype": lambda f, put: f.astype(put(vector), f.int32),
        "copy": lambda f, put: f.copy(put(vector)),
        "concat": lambda f, put: f.concat([put(values), put(values)], axis=1),
        "where": lambda f, put: f.where(put(mask), put(vector), np.inf),
        "flatnonzero": lambda f, put: f.flatnonzero(put(mask)),
        "nonzero": lambda f, put: f.nonzero(put(values) > 0),
        "min": lambda f, put: f.min(put(values), axis=0),
        "argmin": lambda f, put: f.argmin(put(values), axis=1),
        "argmax": lambda f, put: f.argmax(put(values) > 0, axis=1),
        "sort_rows": lambda f, put: f.sort_rows(put(values)),
        "two_smallest": lambda f, put: f.two_smallest(put(values)),
        "argsort": lambda f, put: f.argsort(put(vector)),
        "argsort_groups": lambda f, put: f.argsort_groups(put(abs(groups)), 4),
        "cumulative_max": lambda f, put: f.cumulative_max(put(vector)),
        "sqrt": lambda f, put: f.sqrt(put(vector**2)),
        "max": lambda f, put: f.max(put(values), axis=0),
        "largest": lambda f, put: f.largest(put(values), 1),
        "largest_in_columns": lambda f, put: f.largest_in_columns(put(abs(values)), 3),
        "exp": lambda f, put: f.exp(put(vector.copy())),
        "log": lambda f, put: f.log(put(abs(vector) + 1)),
        "log1p": lambda f, put: f.log1p(put(abs(vector))),
        "rint": lambda f, put: f.rint(put(vector * 1.5)),
        "minimum": lambda f, put: f.minimum(put(vector), put(-vector)),
        "interp": lambda f, put: f.interp(
            put(np.append(vector, [-9.0, 0.5, 9.0])), np.array([-1.0, 0.5, 0.7]), np.arange(3.0)
        ),
        "matmul": lambda f, put: f.matmul(put(np.rint(values)), put(np.rint(values.T))),
        "squared_norms": lambda f, put: f.squared_norms(put(np.rint(values))),
        "wide_squared_norms": lambda f, put: f.wide_squared_norms(put(values.astype(np.float32))),
        "words": lambda f, put: [
            f.words(put(values.astype(dtype)[:, :width]))
            for dtype in ("float16", "float32", "float64")
            for width in (4, 5)
        ],
        "isfinite": lambda f, put: f.isfinite(put(np.array([1.0, np.nan, np.inf]))),
        "all_in_rows": lambda f, put: f.all_in_rows(put(values) > -1),
        "bincount": lambda f, put: [
            f.bincount(put(abs(groups)), 6),
            f.bincount(put(abs(groups)), 6, put(np.round(vector * 10))),
        ],
        "scale_and_round": lambda f, put: f.scale_and_round(put(vector), 5.0),
        "round_directions": lambda f, put: f.round_directions(put(values), values[0], 4000.0),
        "whole_product": lambda f, put: f.whole_product(put(np.rint(values)), put(np.eye(5))),
        "sum_of_nearest": lambda f, put: f.sum_of_nearest(
            put(np.rint(values).astype(np.float32)), 2, put(np.arange(5, dtype=np.float32))
        ),
        "sum_of_marked": lambda f, put: f.sum_of_marked(
            put(values > 0), put(np.array([3, 2**24 - 1, 2**24, 5, 1], dtype=np.float32))
        ),
        "round_shares": lambda f, put: f.round_shares(put(values.copy()), 4096.0),
        "by_group": lambda f, put: [
            part
            for some in (groups, groups[:1], np.full(4, 2), np.full(3, -1), groups[:0])
            for number, at in f.by_group(put(some), 4)
            for part in (f.full(1, number, f.int32), at)
        ],
    }
    public = {name for name in vars(Arrays) if callable(getattr(Arrays, name)) and name[0] != "_"}
    assert set(cases) | {"asarray", "to_numpy"} == public - {
        "int8",
        "int32",
        "index",
        "float32",
        "float64",
        "bool",
    }
    for name, case in cases.items():
        want, found = case(xp, xp.asarray), case(there, there.asarray)
        if not isinstance(want, list | tuple):
            want, found = [want], [found]
        for one, other in zip(want, found, strict=True):
            np.testing.assert_allclose(there.to_numpy(other), one, rtol=1e-15, err_msg=name)


def test_rows_come_from_a_tensor_a_map_or_an_array(tmp_path):
    taxonomy, X, y = corpus()
    np.save(tmp_path / "X.npy", X)
    alone = HierSeed(taxonomy).fit(X, y)
    for vectors in (torch.from_numpy(X), np.load(tmp_path / "X.npy", mmap_mode="r"), X[:, :]):
        for resident in (True, False):
            blocks = TorchBlocks(vectors, DEVICE, block_rows=150, resident=resident)
            same(alone, HierSeed(taxonomy).fit(blocks, y))
            rows = np.array([3, 0, 77])
            assert blocks.take(rows).tobytes() == ArrayBlocks(X).take(rows).tobytes()


def test_what_a_block_forgets_costs_time_only():
    taxonomy, X, y = corpus()

    class Forgetful(TorchBlocks):
        def map(self, step, *model):
            for block in self._blocks:
                block.forget()
            return super().map(step, *model)

    same(
        HierSeed(taxonomy).fit(X, y),
        HierSeed(taxonomy).fit(Forgetful(X, DEVICE, block_rows=150), y),
    )


@pytest.mark.parametrize("resident", [True, False])
def test_a_block_too_large_for_a_step_is_halved(monkeypatch, resident):
    taxonomy, X, y = corpus()
    monkeypatch.setattr(engine, "LEAST_ROWS", 10)
    step = refine.move

    @portable
    def greedy(block, *model):
        if isinstance(block, torch_block.TorchBlock) and len(block) > 70:
            raise torch.OutOfMemoryError("too many rows")
        return step(block, *model)

    monkeypatch.setattr(refine, "move", greedy)
    blocks = TorchBlocks(X, DEVICE, block_rows=130, resident=resident)
    same(HierSeed(taxonomy).fit(X, y), HierSeed(taxonomy).fit(blocks, y))
    sizes = [len(block) for block in blocks._blocks]
    assert max(sizes) <= 70
    assert sum(sizes) == len(X)
    monkeypatch.setattr(engine, "LEAST_ROWS", 130)
    with pytest.raises(torch.OutOfMemoryError, match="too many"):
        HierSeed(taxonomy).fit(TorchBlocks(X, DEVICE, block_rows=130, resident=resident), y)


def test_copies_of_a_document_are_ties_and_go_where_they_go_on_the_processor():
    taxonomy, X, y = corpus("two levels")
    X = np.round(X)  # many equal distances
    X = np.concatenate([X, X, -X])
    y = np.concatenate([y, np.full(2 * len(y), -1)])
    same(HierSeed(taxonomy).fit(X, y), HierSeed(taxonomy).fit(TorchBlocks(X, DEVICE), y))


def test_rows_that_are_no_numbers_are_named():
    taxonomy, X, y = corpus()
    X[5, 2] = np.nan
    with pytest.raises(CorpusError, match=r"1 of 240 rows \(rows 5\)"):
        HierSeed(taxonomy).fit(TorchBlocks(X, DEVICE, block_rows=50), y)
    with pytest.raises(CorpusError, match="2D"):
        TorchBlocks(X[0], DEVICE)
    for tensor in (torch.zeros(3), torch.zeros((3, 4), dtype=torch.bfloat16)):
        with pytest.raises(CorpusError, match="one row per document"):
            TorchBlocks(tensor, DEVICE)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_without_a_card_the_processor_is_used_with_a_note():
    taxonomy, X, y = corpus()
    with pytest.warns(NoGpuWarning, match="no CUDA device"):
        blocks = TorchBlocks(X, device="cuda")
    same(HierSeed(taxonomy).fit(X, y), HierSeed(taxonomy).fit(blocks, y))
