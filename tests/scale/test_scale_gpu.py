"""The torch engine against numpy: the same steps, to the bit where sums decide.

On a card where there is one, else on the processor.
"""

import importlib

import numpy as np
import pytest
from worlds import TREES, make_world

from hierseed import AnchoredHierSeed, HierSeed, UnfitHierSeed
from hierseed.core.blocks import ArrayBlocks
from hierseed.core.mixture import sample
from hierseed.errors import CorpusError

torch = pytest.importorskip("torch", reason="the extra 'gpu' is not installed")
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"

from hierseed.engines.torch import NoGpuWarning, TorchBlocks, descend  # noqa: E402
from hierseed.engines.torch import blocks as engine  # noqa: E402
from hierseed.engines.torch.twins import TWINS, twin_of  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::hierseed.estimators.hierseed.EmptyTopicWarning")

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
        if twin_of(step) is None:
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


def test_families_that_do_not_fit_one_kernel_take_turns(monkeypatch):
    monkeypatch.setattr(descend, "TOGETHER", 3)
    taxonomy, X, y = corpus("two levels")
    assert len(list(descend.families(taxonomy.tree, 1))) > 1
    same(HierSeed(taxonomy).fit(X, y), HierSeed(taxonomy).fit(TorchBlocks(X, DEVICE), y))


@pytest.mark.parametrize("make", [HierSeed, AnchoredHierSeed])
def test_placing_and_assigning_take_the_engine_too(make):
    taxonomy, X, y = corpus()
    model = make(taxonomy).fit(X, y)
    blocks = TorchBlocks(X, DEVICE, block_rows=64)
    np.testing.assert_array_equal(model.predict(blocks), model.predict(X))
    assert model.assign(blocks, y).to_frame().equals(model.assign(X, y).to_frame())


@pytest.mark.parametrize("make", [HierSeed, AnchoredHierSeed])
def test_no_pass_of_a_fit_is_left_to_the_processor(make, monkeypatch):
    monkeypatch.setattr(sample, "SAMPLE", 50)  # the opening has a sample of its own
    taxonomy, X, y = corpus()
    blocks = Watched(X, DEVICE, block_rows=100)
    make(taxonomy).fit(blocks, y).predict(blocks)
    assert len(blocks.steps) > 5
    assert not blocks.on_host


def test_a_step_without_a_twin_runs_on_the_processor():
    _, X, _ = corpus()
    found = list(TorchBlocks(X, DEVICE, block_rows=100).map(first_values))
    np.testing.assert_array_equal(np.concatenate(found), X[:, 0].astype(np.float32))


def first_values(block):
    return block.X[:, 0]


@pytest.mark.parametrize("name", TWINS)
def test_the_original_of_every_twin_exists(name):
    module, step = name.rsplit(".", 1)
    assert callable(getattr(importlib.import_module(module), step))


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
                block.memo = {}
            return super().map(step, *model)

    same(
        HierSeed(taxonomy).fit(X, y),
        HierSeed(taxonomy).fit(Forgetful(X, DEVICE, block_rows=150), y),
    )


@pytest.mark.parametrize("resident", [True, False])
def test_a_block_too_large_for_a_step_is_halved(monkeypatch, resident):
    taxonomy, X, y = corpus()
    monkeypatch.setattr(engine, "LEAST_ROWS", 10)
    name = "hierseed.core.hierseed.refine.move"
    step = TWINS[name]

    def greedy(block, *model):
        if len(block) > 70:
            raise torch.OutOfMemoryError("too many rows")
        return step(block, *model)

    monkeypatch.setitem(TWINS, name, greedy)
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
def test_without_a_card_the_processor_is_used_with_a_word():
    taxonomy, X, y = corpus()
    with pytest.warns(NoGpuWarning, match="no CUDA device"):
        blocks = TorchBlocks(X, device="cuda")
    same(HierSeed(taxonomy).fit(X, y), HierSeed(taxonomy).fit(blocks, y))
