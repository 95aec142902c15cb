"""HierSeed as people use it: what it promises."""

import tracemalloc

import numpy as np
import pytest
from worlds import TREES, make_world, split_into_blocks

from hierseed import HierSeed, Taxonomy, UnfitHierSeed
from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.hierseed.descend import predict
from hierseed.errors import ModelError

MODELS = [HierSeed, UnfitHierSeed]


def same_bits(one, two):
    return one.tobytes() == two.tobytes()


# ------------------------------------------------------------------ truth


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", TREES)
def test_well_separated_topics_are_found(model, name):
    taxonomy, X, y, truth = make_world(name, spread=0.05, per_leaf=30, width=12)
    found = model(taxonomy, other=False).fit(X, y).labels_
    assert (found == truth).mean() > 0.97


# ------------------------------------------------------------------ the same answer every time


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_same_bits_for_any_row_order_block_size_and_thread_count(dtype, monkeypatch):
    taxonomy, X, y, _ = make_world("deep", per_leaf=150, width=24, spread=1.2)
    X = X.astype(dtype)
    whole = HierSeed(taxonomy).fit(X, y)
    order = np.random.default_rng(7).permutation(len(X))
    for rows, threads in [(64, 1), (97, 2), (256, 3)]:
        split_into_blocks(monkeypatch, rows, threads, X.shape[1])
        other = HierSeed(taxonomy, n_jobs=threads).fit(X[order], y[order])
        monkeypatch.undo()
        assert same_bits(other.vectors_, whole.vectors_)
        assert same_bits(other.radii_, whole.radii_)
        assert other.objective_ == whole.objective_
        assert np.array_equal(other.labels_, whole.labels_[order])


def test_twice_in_a_row_and_a_second_fit_forgets_the_first():
    taxonomy, X, y, _ = make_world()
    _, X2, y2, _ = make_world(seed=9)
    fresh = HierSeed(taxonomy).fit(X, y)
    used = HierSeed(taxonomy).fit(X2, y2).fit(X, y)
    assert same_bits(fresh.vectors_, used.vectors_)
    assert fresh.taxonomy_ == used.taxonomy_


def test_the_order_of_topics_is_no_matter():
    taxonomy, X, y, _ = make_world("two levels", spread=0.8)
    mirrored = Taxonomy.from_paths(TREES["two levels"][::-1])
    rename = np.array([mirrored.index(path) for path in taxonomy.paths] + [-1])
    one = HierSeed(taxonomy).fit(X, y)
    two = HierSeed(mirrored).fit(X, rename[y])
    names = np.array([*one.taxonomy_.paths, "None"])[one.labels_]
    assert (names == np.array([*two.taxonomy_.paths, "None"])[two.labels_]).all()


@pytest.mark.parametrize("model", MODELS)
def test_rotating_and_shifting_the_space_is_no_matter(model):
    taxonomy, X, y, _ = make_world(spread=0.8)
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))
    one = model(taxonomy).fit(X, y)
    two = model(taxonomy).fit(3.0 * (X @ rotation) + 5.0, y)
    assert np.array_equal(one.labels_, two.labels_)
    np.testing.assert_allclose(two.vectors_, 3.0 * (one.vectors_ @ rotation) + 5.0, atol=1e-6)


def test_every_row_twice_is_no_matter():
    taxonomy, X, y, _ = make_world(spread=0.8)
    one = HierSeed(taxonomy).fit(X, y)
    two = HierSeed(taxonomy).fit(np.concatenate([X, X]), np.concatenate([y, y]))
    np.testing.assert_allclose(one.vectors_, two.vectors_, atol=1e-12)
    assert np.array_equal(np.tile(one.labels_, 2), two.labels_)


# ------------------------------------------------------------------ laws


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize(
    "options", [{}, {"eccentricity": 0.9}, {"pivot_level": 1, "other": "below"}]
)
@pytest.mark.filterwarnings("ignore::hierseed.estimators.hierseed.EmptyTopicWarning")
def test_labels_are_predictions_and_assignments_nest(name, options):
    taxonomy, X, y, _ = make_world(name, spread=1.0)
    model = HierSeed(taxonomy, **options).fit(X, y)
    before = model.vectors_.copy()
    assert np.array_equal(model.labels_, model.predict(X))
    found = model.assign(X)
    assert np.array_equal(found.labels, model.labels_)
    assert same_bits(before, model.vectors_)
    tree = model.taxonomy_.tree
    for path, topic in zip(found.path, found.topic):
        assert [p for p in path if p >= 0] == (tree.path(topic) if topic >= 0 else [])
    inside = ~np.isnan(found.score)
    assert ((found.score[inside] >= 0) & (found.score[inside] <= 1)).all()
    assert not (np.diff(found.score, axis=1) > 1e-12).any()
    assert (found.runner_up != found.topic).all()
    assert model.coverage_ == found.coverage
    leaf = tree.is_leaf[found.topic[found.topic >= 0]]
    assert leaf.all()


def test_one_document_at_a_time_gives_the_same_placement():
    taxonomy, X, y, _ = make_world("ragged", spread=1.0)
    model = HierSeed(taxonomy).fit(X.astype(np.float32), y)
    alone = [model.predict(row[None])[0] for row in X.astype(np.float32)]
    assert np.array_equal(alone, model.labels_)


def test_history_reports_each_round():
    taxonomy, X, y, _ = make_world(spread=1.0)
    seen = []
    model = HierSeed(taxonomy).fit(X, y, progress=seen.append)
    assert seen == model.history_
    assert len(seen) == model.n_iter_
    assert {"round", "objective", "coverage", "moved", "seconds"} <= set(seen[0])
    kept = [entry for entry in seen if entry["kept"]]
    assert kept[-1]["objective"] == model.objective_
    assert seen[0]["moved"] == len(X)


def test_dropping_documents_does_not_pay():
    """A round that shrinks its reach is charged for what it drops, so it can't win by that."""
    taxonomy, X, y, _ = make_world(spread=1.0)
    model = HierSeed(taxonomy, other="below", les_weight=0.0, tol=0.0).fit(X, y)
    objectives = [entry["objective"] for entry in model.history_ if entry["kept"]]
    assert objectives == sorted(objectives, reverse=True)
    for entry in model.history_:
        if entry["coverage"] < 1:
            assert entry["objective"] > entry["within"]


def test_eccentricity_allows_several_topics_a_document():
    taxonomy, X, y, _ = make_world(spread=1.0)
    single = HierSeed(taxonomy).fit(X, y).assign(X)
    wide = HierSeed(taxonomy, eccentricity=1.0).fit(X, y).assign(X)
    assert len(single) == len(X)
    assert len(wide) > len(X)
    assert len(np.unique(wide.row)) == len(X)
    per_topic = np.full(len(taxonomy), np.nan)
    per_topic[:] = 1.0
    also = HierSeed(taxonomy, eccentricity=per_topic, other="below").fit(X, y).assign(X)
    assert len(also) > len(X)


def test_a_document_can_be_none():
    taxonomy, X, y, _ = make_world(spread=0.2)
    model = HierSeed(taxonomy, other="below").fit(X, y)
    far = np.full((1, X.shape[1]), 1e3)
    assert model.predict(far)[0] == -1
    frame = model.assign(far).to_frame(ids=["far"])
    assert frame.loc[0, "is_none"]
    assert frame.loc[0, "topic"] == ""
    assert frame.loc[0, "score"] == 0
    assert frame.loc[0, "runner_up"] in {"A", "B", "C"}


# ------------------------------------------------------------------ memory


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_the_matrix_is_not_copied(dtype):
    taxonomy, X, y, _ = make_world("one level", per_leaf=25_000, width=256)
    X = X.astype(dtype)
    tracemalloc.start()
    HierSeed(taxonomy, max_iter=2, n_jobs=1).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    whole_in_float32 = X.size * 4
    assert peak < whole_in_float32  # one copy of the whole would be over


def test_blocks_shrink_as_siblings_grow():
    """Documents times siblings would be 3,000 x 2,000 numbers, 48 MB for each such array."""
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_paths([f"A > {number}" for number in range(2000)])
    X = rng.normal(size=(3000, 4))
    y = np.where(np.arange(3000) < 2000, np.arange(3000) + 1, -1)
    model = HierSeed(taxonomy, other=False, max_iter=1, refine_max_iter=1, n_jobs=1)
    tracemalloc.start()
    labels = model.fit(X, y).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6
    (whole,) = ArrayBlocks(X, block_rows=3000).map(predict, model._model)
    np.testing.assert_array_equal(whole, labels)


def test_memory_maps_are_read_in_place(tmp_path):
    taxonomy, X, y, _ = make_world(spread=0.8)
    np.save(tmp_path / "X.npy", X.astype(np.float16))
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    one = HierSeed(taxonomy).fit(mapped, y)
    two = HierSeed(taxonomy).fit(X.astype(np.float16), y)
    assert same_bits(one.vectors_, two.vectors_)


# ------------------------------------------------------------------ seeds and earlier models


def test_seeds_outside_the_corpus_count_like_those_inside():
    taxonomy, X, y, _ = make_world()
    rows = np.flatnonzero(y >= 0)
    inside = HierSeed(taxonomy).fit(X, y)
    outside = HierSeed(taxonomy).fit(X, X_seeds=X[rows], y_seeds=y[rows])
    assert same_bits(inside.vectors_, outside.vectors_)


def test_a_seed_of_several_topics_counts_in_each():
    taxonomy, X, y, _ = make_world("one level")
    shared = [[int(t)] if t >= 0 else [] for t in y]
    row = int(np.flatnonzero(y == 0)[0])
    shared[row] = [0, 1]
    model = HierSeed(taxonomy, other=False, max_iter=1).fit(X, shared)
    mean = X[[*np.flatnonzero(y == 1), row]].mean(axis=0)
    np.testing.assert_allclose(model.vectors_[1], mean)


def test_unfit_looks_at_the_seeds_only():
    taxonomy, X, y, _ = make_world()
    rows = np.flatnonzero(y >= 0)
    more = np.concatenate([X[rows], np.random.default_rng(0).normal(size=(50, 6)) * 9])
    one = UnfitHierSeed(taxonomy).fit(X, y)
    two = UnfitHierSeed(taxonomy).fit(more, np.concatenate([y[rows], np.full(50, -1)]))
    assert same_bits(one.vectors_, two.vectors_)


def test_going_on_from_an_earlier_model_keeps_known_ids():
    taxonomy, X, y, _ = make_world(spread=0.8)
    first = HierSeed(taxonomy).fit(X, y)
    again = HierSeed(taxonomy).fit(X, start=first)
    assert again.taxonomy_ == first.taxonomy_
    assert again.history_[0]["objective"] <= first.history_[0]["objective"] * 1.05

    edited = first.taxonomy_.add(["C > new"])
    rng = np.random.default_rng(3)
    more = np.concatenate([X, rng.normal(size=(20, 6)) * 0.1 + 4.0])
    labels = np.full(len(more), -1)
    labels[len(X) : len(X) + 3] = edited.index("C > new")
    grown = HierSeed(edited).fit(more, labels, start=first)
    assert grown.taxonomy_.paths[: len(first.taxonomy_)] == first.taxonomy_.paths
    assert grown.taxonomy_.paths.count("A > Other") == 1


def test_going_on_after_a_topic_was_removed():
    taxonomy, X, y, _ = make_world(spread=0.8)
    first = HierSeed(taxonomy).fit(X, y)
    smaller = Taxonomy.from_paths([p for p in TREES["two levels"] if p != "A > a3"])
    again = HierSeed(smaller).fit(X, start=first)
    assert "A > a3" not in again.taxonomy_
    assert again.labels_.max() < len(again.taxonomy_)


def test_a_start_that_does_not_fit_is_refused():
    taxonomy, X, y, _ = make_world()
    with pytest.raises(ModelError, match="not fitted"):
        HierSeed(taxonomy).fit(X, y, start=HierSeed(taxonomy))
    first = HierSeed(taxonomy).fit(X, y)
    with pytest.raises(ModelError, match="6 dimensions, X has 5"):
        HierSeed(taxonomy).fit(X[:, :5], y, start=first)


@pytest.mark.parametrize("model", MODELS)
def test_save_and_load(model, tmp_path):
    taxonomy, X, y, _ = make_world("deep", spread=1.0)
    first = model(taxonomy, eccentricity=np.full(len(taxonomy), 0.8)).fit(X, y)
    first.save(tmp_path / "model")
    again = model.load(tmp_path / "model")
    assert again.taxonomy == taxonomy
    assert again.taxonomy_ == first.taxonomy_
    assert np.array_equal(again.predict(X), first.predict(X))
    clockless = [{k: v for k, v in one.items() if k != "seconds"} for one in first.history_]
    assert again.history_ == clockless
    assert again.get_params()["eccentricity"] == [0.8] * len(taxonomy)
    assert again.assign(X).to_frame().equals(first.assign(X).to_frame())


# ------------------------------------------------------------------ showing itself


def test_models_and_assignments_show_themselves():
    taxonomy, X, y, _ = make_world()
    model = HierSeed(taxonomy)
    assert "HierSeed" in model._repr_html_()
    model.fit(X, y)
    assert "coverage" in model._repr_html_()
    assert "<details" in model.assign(X)._repr_html_()
