"""AnchoredHierSeed as people use it: what it promises."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from worlds import TREES, make_world, split_into_blocks

from hierseed import AnchoredHierSeed, Taxonomy
from hierseed.core.mixture.accuracy import identity_curves
from hierseed.estimators.anchored import UnseededTopicWarning


def same_bits(one, two):
    return one.tobytes() == two.tobytes()


# ------------------------------------------------------------------ truth


@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("name", TREES)
def test_well_separated_topics_are_found(name, seeds):
    taxonomy, X, y, truth = make_world(name, spread=0.05, per_leaf=30, width=12, seeds=seeds)
    model = AnchoredHierSeed(taxonomy, other=False).fit(X, y)
    assert (model.labels_ == truth).mean() > 0.97


def test_the_corpus_teaches_what_few_seeds_can_not():
    taxonomy, X, y, truth = make_world(per_leaf=300, width=30, spread=1.6, seeds=2)
    fitted = AnchoredHierSeed(taxonomy, other=False).fit(X, y)
    means = np.stack([X[y == t].mean(axis=0) for t in np.unique(y[y >= 0])])
    distance = ((X[:, None] - means[None]) ** 2).sum(axis=2)
    nearest = np.unique(y[y >= 0])[distance.argmin(axis=1)]
    assert (fitted.labels_ == truth).mean() > (nearest == truth).mean() + 0.05


def test_sizes_are_learned_from_the_corpus():
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_paths(["A > a", "A > b", "B > c"])
    share = np.array([0.7, 0.1, 0.2])
    leaf = np.array([1, 2, 4])
    truth = rng.choice(3, p=share, size=3000)
    X = np.eye(3)[truth] * 2 + rng.normal(size=(3000, 3)) * 0.35
    y = np.full(3000, -1)
    for k in range(3):
        y[np.flatnonzero(truth == k)[:4]] = leaf[k]
    model = AnchoredHierSeed(taxonomy, other=False).fit(X, y)
    np.testing.assert_allclose(model.sizes_[leaf], share, atol=0.05)
    assert model.sizes_[0] == pytest.approx(model.sizes_[1] + model.sizes_[2])


def test_curves_change_what_scores_say_and_not_where_documents_go():
    taxonomy, X, y, _ = make_world("deep", per_leaf=40, width=12, spread=1.2, seeds=4)
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    placed = model.assign(X)
    assert not np.allclose(model.curve_, identity_curves(taxonomy.tree.height))
    model._placer = replace(model._placer, curve=identity_curves(taxonomy.tree.height))
    plain = model.assign(X)
    np.testing.assert_array_equal(placed.topic, plain.topic)
    for level in range(taxonomy.tree.height):
        told = np.isfinite(placed.score[:, level])
        assert (placed.score[told, level] != plain.score[told, level]).any()
        if level:
            assert (placed.score[told, level] <= placed.score[told, level - 1]).all()


@pytest.mark.parametrize("gone", ["A > a3", "C"])
def test_documents_of_an_unlisted_topic_are_not_pressed_into_listed_ones(gone):
    covered = []
    for seed in range(8):
        taxonomy, X, y, truth = make_world(per_leaf=60, width=30, spread=0.8, seed=seed, seeds=5)
        keep = [path for path in TREES["two levels"] if not path.startswith(gone)]
        smaller = Taxonomy.from_paths(keep)
        new_id = {taxonomy.index(path): smaller.index(path) for path in keep}
        seeds = np.array([new_id.get(t, -1) for t in y])
        model = AnchoredHierSeed(smaller).fit(X, seeds)
        lost = np.array([t not in new_id for t in truth])
        caught = (model.labels_ < 0) | model.taxonomy_.is_other[model.labels_]
        assert caught[lost].mean() > 0.9
        assert caught[~lost].mean() < 0.07
        share = model.foreign_share_
        covered.append(share.low <= lost.mean() <= share.high)
    assert sum(covered) >= 7  # intervals of two standard errors


def test_too_few_seeds_to_keep_the_promise_reject_nothing():
    """Of n seeds none may be lost unless 1 / (n + 1) is within the accepted false alarms."""
    keep = [path for path in TREES["two levels"] if path[0] != "C"]
    smaller = Taxonomy.from_paths(keep)
    taxonomy, X, y, _ = make_world(per_leaf=60, width=30, spread=0.8, seeds=3)
    new_id = {taxonomy.index(path): smaller.index(path) for path in keep}
    seeds = np.array([new_id.get(t, -1) for t in y])  # 15 in all
    for false_alarm, rejects in ((0.05, False), (0.07, True), (0.0, False)):
        model = AnchoredHierSeed(smaller, false_alarm=false_alarm).fit(X, seeds)
        assert (model.labels_ < 0).any() == rejects


def test_scores_are_honest_where_the_model_holds():
    taxonomy, X, y, truth = make_world(per_leaf=400, width=10, spread=1.4, seeds=8)
    model = AnchoredHierSeed(taxonomy, other=False).fit(X, y)
    placed = model.assign(X)
    path = taxonomy.tree.ancestors[truth]
    for level in range(2):
        right = placed.levels[:, level] == path[:, level]
        assert placed.score[:, level].mean() == pytest.approx(right.mean(), abs=0.1)


# ------------------------------------------------------------------ the same answer every time


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_same_bits_for_any_row_order_block_size_and_thread_count(dtype, monkeypatch):
    taxonomy, X, y, _ = make_world("deep", per_leaf=150, width=24, spread=1.2)
    X = X.astype(dtype)
    whole = AnchoredHierSeed(taxonomy).fit(X, y)
    order = np.random.default_rng(7).permutation(len(X))
    for rows, threads in [(64, 1), (97, 2), (256, 3)]:
        split_into_blocks(monkeypatch, rows, threads, X.shape[1])
        other = AnchoredHierSeed(taxonomy, n_jobs=threads).fit(X[order], y[order])
        monkeypatch.undo()
        assert same_bits(other.vectors_, whole.vectors_)
        assert other.temperature_ == whole.temperature_
        assert other.objective_ == whole.objective_
        assert np.array_equal(other.labels_, whole.labels_[order])


def test_twice_in_a_row_and_a_second_fit_forgets_the_first():
    taxonomy, X, y, _ = make_world()
    _, X2, y2, _ = make_world(seed=9)
    fresh = AnchoredHierSeed(taxonomy).fit(X, y)
    used = AnchoredHierSeed(taxonomy).fit(X2, y2).fit(X, y)
    assert same_bits(fresh.vectors_, used.vectors_)
    assert fresh.history_[-1]["objective"] == used.history_[-1]["objective"]
    assert np.array_equal(fresh.labels_, used.labels_)


def test_shift_rotation_and_scale_of_the_vectors_change_nothing():
    taxonomy, X, y, _ = make_world(per_leaf=40, spread=0.8)
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    moved = AnchoredHierSeed(taxonomy).fit(X @ turn * 3 + 1.0, y)
    assert (moved.labels_ == model.labels_).mean() > 0.98
    assert moved.temperature_ == pytest.approx(model.temperature_, rel=0.05)


# ------------------------------------------------------------------ laws


@pytest.mark.parametrize("name", TREES)
def test_seeds_stay_and_the_rest_is_as_predicted(name):
    taxonomy, X, y, _ = make_world(name, spread=2.5)  # seeds far on the wrong side
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    seeds = y >= 0
    assert np.array_equal(model.labels_[seeds], y[seeds])
    before = model.vectors_.copy()
    assert np.array_equal(model.predict(X)[~seeds], model.labels_[~seeds])
    assert same_bits(before, model.vectors_)
    placed = model.assign(X, y)
    assert np.array_equal(placed.labels, model.labels_)
    assert (placed.at(placed.score)[seeds[placed.row]] == 1).all()


@pytest.mark.parametrize("name", TREES)
def test_scores_fall_down_the_path_and_children_belong_to_their_parents(name):
    taxonomy, X, y, _ = make_world(name, spread=1.0)
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    placed = model.assign(X)
    tree = model.taxonomy_.tree
    assert np.array_equal(placed.path, tree.ancestors[placed.topic])
    score = np.where(np.isnan(placed.score), 0, placed.score)
    assert (np.diff(score, axis=1) <= 1e-9).all()
    assert ((score >= 0) & (score <= 1)).all()
    assert (np.isfinite(placed.score) == (placed.path >= 0))[~placed.is_none].all()


def test_seeds_outside_the_corpus_count_as_those_within():
    taxonomy, X, y, _ = make_world(per_leaf=40)
    seeds = y >= 0
    within = AnchoredHierSeed(taxonomy).fit(X, y)
    beside = AnchoredHierSeed(taxonomy).fit(X[~seeds], X_seeds=X[seeds], y_seeds=y[seeds])
    np.testing.assert_allclose(within.vectors_, beside.vectors_, atol=1e-6)
    assert np.array_equal(within.labels_[~seeds], beside.labels_)


def test_a_large_corpus_does_not_drown_the_seeds():
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_paths(["A", "B"])
    crowd = rng.normal(size=(30_000, 4)) * 0.5 + [3, 0, 0, 0]  # far from both topics, near B
    X = np.concatenate([[[-1.0, 1, 0, 0], [-1.0, -1, 0, 0]], crowd])
    y = np.full(len(X), -1)
    y[:2] = [0, 1]
    model = AnchoredHierSeed(taxonomy, other=False, tree_weight=1.0).fit(X, y)
    # documents weigh at most ten times the seeds, so the seeds keep a share of their topic
    drift = np.linalg.norm(model.vectors_ - X[:2], axis=1)
    assert (drift < 0.98 * np.linalg.norm(crowd.mean(axis=0) - X[:2], axis=1)).all()


def test_precision_stops_documents_that_are_not_sure():
    taxonomy, X, y, truth = make_world(per_leaf=300, width=10, spread=1.2, seeds=6)
    path = taxonomy.tree.ancestors[truth]
    shares, rights = [], []
    for precision in (None, 0.93, 0.98):
        model = AnchoredHierSeed(taxonomy, other=False, precision=precision).fit(X, y)
        levels = model.taxonomy_.tree.ancestors[model.predict(X)]
        kept = levels[:, 1] >= 0
        shares.append(kept.mean())
        rights.append((levels == path)[kept, 1].mean())
    assert shares[0] == 1.0
    assert shares[0] > shares[1] > shares[2] > 0
    assert rights[0] < rights[1] < rights[2]
    assert rights[1] > 0.93  # what is promised is kept, here with room to spare
    assert rights[2] > 0.98


def test_without_other_every_document_has_a_listed_topic():
    taxonomy, X, y, _ = make_world(spread=1.0)
    model = AnchoredHierSeed(taxonomy, other=False).fit(X, y)
    assert model.taxonomy_ is taxonomy
    assert (model.labels_ >= 0).all()
    assert model.coverage_ == 1.0


def test_there_is_no_other_where_nothing_is_missing():
    taxonomy, X, y, _ = make_world(spread=0.5)
    inner = taxonomy.index("A")
    y = y.copy()
    y[np.flatnonzero(y == taxonomy.index("A > a1"))[0]] = inner
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    assert model.taxonomy_ is taxonomy
    assert (model.predict(X) == inner).any()  # it has a seed of its own


def test_a_leaf_without_seeds_is_named_and_stays_empty():
    taxonomy, X, y, _ = make_world(spread=0.3)
    bare = taxonomy.index("C > c2")
    with pytest.warns(UnseededTopicWarning, match="1 leaves have no seed.*'C > c2'"):
        model = AnchoredHierSeed(taxonomy).fit(X, np.where(y == bare, -1, y))
    assert not (model.predict(X) == bare).any()


def test_a_branch_without_any_seed_gets_no_documents():
    taxonomy, X, y, _ = make_world(per_leaf=40)
    inside = taxonomy.tree.ancestors[np.where(y >= 0, y, -1)][:, 0]
    only = int(inside[inside >= 0][0])
    y[inside != only] = -1
    with pytest.warns(UnseededTopicWarning):
        model = AnchoredHierSeed(taxonomy).fit(X, y)
    tree = model.taxonomy_.tree
    assert set(tree.ancestors[model.labels_][:, 0]) <= {only, -1}
    assert set(tree.ancestors[np.flatnonzero(model.taxonomy_.is_other)][:, 0]) <= {only}


def test_an_earlier_model_stands_in_for_seeds():
    taxonomy, X, y, truth = make_world(spread=0.1, width=12, per_leaf=30)
    earlier = AnchoredHierSeed(taxonomy).fit(X, y)
    bare = taxonomy.index("C > c2")
    model = AnchoredHierSeed(taxonomy).fit(X, np.where(y == bare, -1, y), start=earlier)
    assert (model.predict(X)[truth == bare] == bare).mean() > 0.9


def test_a_topic_that_never_had_seeds_gets_no_documents_from_an_earlier_model():
    taxonomy, X, y, _ = make_world(spread=0.1, width=12, per_leaf=30)
    bare = taxonomy.index("C > c2")
    y[y == bare] = -1
    with pytest.warns(UnseededTopicWarning):
        earlier = AnchoredHierSeed(taxonomy).fit(X, y)
    with pytest.warns(UnseededTopicWarning):
        model = AnchoredHierSeed(taxonomy).fit(X, y, start=earlier)
    assert not (model.predict(X) == bare).any()


def test_a_seed_may_serve_several_topics():
    taxonomy, X, y, _ = make_world(spread=0.4)
    lists = [[int(t)] if t >= 0 else [] for t in y]
    both = int(np.flatnonzero(y >= 0)[0])
    lists[both] = sorted({int(y[both]), taxonomy.index("C > c1")})
    model = AnchoredHierSeed(taxonomy).fit(X, lists)
    placed = model.assign(X, lists)
    assert placed.topic[placed.row == both].tolist() == lists[both]
    assert model.labels_[both] == lists[both][0]


def test_a_document_between_two_topics_is_placed_in_both():
    taxonomy, X, y, _ = make_world(per_leaf=60, width=12, spread=0.5, seeds=4)
    model = AnchoredHierSeed(taxonomy, other=False, several=0.3).fit(X, y)
    one, two = taxonomy.index("A > a1"), taxonomy.index("C > c1")
    between = model.vectors_[[one, two]].mean(axis=0, keepdims=True)
    # the point where both are equally probable: sizes differ a little, so search the line
    line = model.vectors_[one] + np.linspace(0, 1, 201)[:, None] * (
        model.vectors_[two] - model.vectors_[one]
    )
    placed = model.assign(np.concatenate([line, between]))
    both = [r for r in range(len(line)) if {one, two} <= {*placed.topic[placed.row == r].tolist()}]
    assert both
    assert both == list(range(both[0], both[-1] + 1))
    assert placed.topic[placed.row == 0].tolist() == [one]
    assert (np.diff(placed.row) >= 0).all()
    main = AnchoredHierSeed(taxonomy, other=False).fit(X, y).predict(line)
    assert np.array_equal(placed.labels[: len(line)], main)
    scores = np.nan_to_num(placed.score)
    assert (np.diff(scores, axis=1) <= 1e-9).all()


# ------------------------------------------------------------------ real text


def test_on_20_newsgroups_it_beats_the_nearest_seed_mean(shared_data):
    from hierseed.embed.prepare import Preparation
    from hierseed.evaluate import score
    from hierseed_bench.competitors.catalogue import make_method
    from hierseed_bench.competitors.task import Documents, Task
    from hierseed_bench.data.catalogue import load_dataset
    from hierseed_bench.data.splits import draw_seeds

    data = load_dataset("20newsgroups", shared_data / "20newsgroups")
    split = draw_seeds(data, 4, 0)
    X = Preparation().fit(data.vectors[split.train]).transform(data.vectors)
    texts = [""] * len(data)

    def documents(rows):
        return Documents(X[rows], texts[: len(rows)])

    task = Task(data.taxonomy, documents(split.seeds), split.seed_topics, documents(split.fitting))
    gold = [data.labels[row] for row in split.test]
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("anchored", "nearest-leaf", "hierseed"):
            levels = make_method(name).fit(task).predict(documents(split.test))
            found[name] = score(data.taxonomy, levels, gold).all.mean.bcubed_f1
    assert found["anchored"] > 0.61
    assert found["anchored"] > found["nearest-leaf"] + 0.08
    assert found["anchored"] > found["hierseed"] + 0.1


def test_seeds_have_a_distance_also_where_the_model_would_place_them_elsewhere():
    taxonomy, X, y, _ = make_world(spread=2.5)
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    placed = model.assign(X, y)
    seeds = np.flatnonzero(y >= 0)
    assert (model.predict(X)[seeds] != y[seeds]).any()
    frame = placed.to_frame().set_index("id").loc[seeds]
    offsets = X[seeds] - model.vectors_[y[seeds]]
    np.testing.assert_allclose(frame["distance"], np.linalg.norm(offsets, axis=1), rtol=1e-5)
