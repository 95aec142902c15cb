"""The accuracy that a fit expects of each topic, against a corpus whose truth is known."""

import numpy as np
import pytest
from scipy.stats import spearmanr
from worlds import make_world, split_into_blocks

import hierseed
from hierseed import AnchoredHierSeed, Taxonomy
from hierseed.estimators.anchored import UnseededTopicWarning
from hierseed.report.accuracy import least_accurate


def uneven_world(seed: int, topics: int = 20, each: int = 120, width: int = 24, seeds: int = 8):
    """Topics that lie near the middle are hard to tell from the others, those far out are easy."""
    rng = np.random.default_rng(seed)
    paths = [f"{'ABCD'[topic % 4]} > t{topic}" for topic in range(topics)]
    taxonomy = Taxonomy.from_paths(paths)
    leaves = np.array([taxonomy.index(path) for path in paths])
    centres = rng.normal(size=(topics, width)) * rng.uniform(0.1, 1.6, size=(topics, 1))
    which = np.repeat(np.arange(topics), each)
    X = centres[which] + rng.normal(size=(len(which), width)) * 1.2
    y = np.full(len(X), -1)
    y[np.arange(0, len(X), each)[:, None] + np.arange(seeds)] = leaves[:, None]
    return taxonomy, X.astype(np.float32), y, leaves[which]


def seen_accuracy(model, taxonomy, y, truth):
    """Of each topic, the share of its documents (seeds left out) that belong there."""
    placed, path = taxonomy.tree.ancestors[model.labels_], taxonomy.tree.ancestors[truth]
    placed[model.labels_ < 0] = -1
    seen = {}
    for topic in range(len(taxonomy)):
        here = (placed == topic).any(axis=1) & (y < 0)
        if here.any():
            seen[topic] = (path[here] == topic).any(axis=1).mean()
    return seen


def test_intervals_hold_the_accuracy_and_expectations_order_topics():
    inside, ranks, expected, level, accuracy = [], [], [], [], []
    for seed in range(10):
        taxonomy, X, y, truth = uneven_world(seed)
        model = AnchoredHierSeed(taxonomy, other=False).fit(X, y)
        seen = seen_accuracy(model, taxonomy, y, truth)
        shares = model.expected_topic_accuracy_
        inside += [shares[t].low <= right <= shares[t].high for t, right in seen.items()]
        leaves = [t for t in seen if taxonomy.tree.is_leaf[t]]
        ranks.append(spearmanr([shares[t].value for t in leaves], [seen[t] for t in leaves])[0])
        accuracy += [seen[t] for t in leaves]
        expected += [shares[t].value for t in leaves]
        level += [model.expected_accuracy_[1].value] * len(leaves)
    assert np.mean(inside) > 0.95
    assert np.mean(ranks) > 0.6
    away = np.abs(np.array([expected, level]) - accuracy).mean(axis=1)
    assert away[0] < 0.85 * away[1]  # nearer than the accuracy of the level


@pytest.mark.parametrize("precision", [None, 0.9])
def test_the_documents_of_a_level_are_expected_as_right_as_the_level(precision):
    taxonomy, X, y, _ = uneven_world(1)
    model = AnchoredHierSeed(taxonomy, other=False, precision=precision).fit(X, y)
    path = np.vstack([taxonomy.tree.ancestors[: len(taxonomy)], [-1, -1]])
    placed = path[model.predict(X)]
    for level, share in enumerate(model.expected_accuracy_):
        here = placed[:, level][placed[:, level] >= 0]
        topics, counts = np.unique(here, return_counts=True)
        values = [model.expected_topic_accuracy_[topic].value for topic in topics]
        assert np.average(values, weights=counts) == pytest.approx(share.value, abs=1e-9)


def test_nothing_is_expected_of_other_and_of_topics_without_documents():
    taxonomy, X, y, truth = make_world(per_leaf=200, width=30, spread=0.5, seeds=5)
    gone = taxonomy.index("A > a3")
    smaller = Taxonomy.from_paths([p for p in taxonomy.paths if p not in ("A > a3",)] + ["D"])
    new = np.array([smaller.index(p) if p in smaller.paths else -1 for p in taxonomy.paths])
    with pytest.warns(UnseededTopicWarning):
        model = AnchoredHierSeed(smaller).fit(X, np.where(y < 0, -1, new[y]))
    assert model.taxonomy_.is_other.any()
    assert (truth == gone).any()
    counts = np.zeros(len(model.taxonomy_), dtype=int)
    above = model.taxonomy_.tree.ancestors[model.predict(X)]
    np.add.at(counts, above[above >= 0], 1)
    unknown = np.array([one is None for one in model.expected_topic_accuracy_])
    np.testing.assert_array_equal(unknown, model.taxonomy_.is_other | (counts == 0))


def test_with_one_seed_a_topic_it_is_the_mean_score_and_anything_is_possible():
    taxonomy, X, y, _ = make_world(per_leaf=60, width=12, spread=1.0, seeds=1)
    model = AnchoredHierSeed(taxonomy, other=False).fit(X, y)
    placed = model.assign(X)
    for topic, share in enumerate(model.expected_topic_accuracy_):
        at, level = np.nonzero(placed.levels == topic)
        assert share.value == pytest.approx(placed.score[at, level].mean(), abs=2e-3)
        assert (share.low, share.high) == pytest.approx((0.0, 1.0), abs=1e-3)


def test_a_precision_raises_what_is_expected_of_the_documents_kept():
    taxonomy, X, y, truth = uneven_world(3)
    plain = AnchoredHierSeed(taxonomy, other=False).fit(X, y)
    sure = AnchoredHierSeed(taxonomy, other=False, precision=0.9).fit(X, y)
    seen = seen_accuracy(sure, taxonomy, y, truth)
    both = [
        (one.value, two.value)
        for one, two in zip(plain.expected_topic_accuracy_, sure.expected_topic_accuracy_)
        if two is not None
    ]
    assert {t for t, one in enumerate(sure.expected_topic_accuracy_) if one} >= set(seen)
    assert np.mean([two - one for one, two in both]) > 0.05


def test_thresholds_are_those_of_the_scores_that_they_are_compared_with():
    """All documents belong here, so that a fit without a precision looks none up."""
    taxonomy, X, y, _ = uneven_world(2)
    model = AnchoredHierSeed(taxonomy, precision=0.8).fit(X, y)
    plain = AnchoredHierSeed(taxonomy).fit(X, y)
    assert not plain.taxonomy_.is_other.any()
    assert (plain.labels_ >= 0).all()
    score = plain.assign(X).score
    for level, least in enumerate(model.thresholds_):
        seen = score[:, level][np.isfinite(score[:, level])]
        assert seen[seen >= least].mean() >= 0.8 > seen[seen >= least - 2e-3].mean()


def test_order_of_rows_blocks_and_threads_change_no_bit(monkeypatch):
    taxonomy, X, y, _ = make_world("deep", per_leaf=150, width=24, spread=1.2)
    whole = AnchoredHierSeed(taxonomy).fit(X, y)
    order = np.random.default_rng(7).permutation(len(X))
    for rows, threads in [(64, 1), (97, 2), (256, 3)]:
        split_into_blocks(monkeypatch, rows, threads, X.shape[1])
        other = AnchoredHierSeed(taxonomy, n_jobs=threads).fit(X[order], y[order])
        monkeypatch.undo()
        assert other.expected_topic_accuracy_ == whole.expected_topic_accuracy_


def test_it_is_saved_with_the_model(tmp_path):
    taxonomy, X, y, _ = make_world(per_leaf=60, width=12, spread=1.0)
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    model.save(tmp_path / "model")
    again = AnchoredHierSeed.load(tmp_path / "model")
    assert again.expected_topic_accuracy_ == model.expected_topic_accuracy_
    assert any(model.expected_topic_accuracy_)


def test_a_model_saved_before_topics_had_it_is_read_and_one_of_other_topics_refused():
    taxonomy, X, y, _ = make_world(per_leaf=60, width=12, spread=1.0)
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    bundle = model.to_bundle()
    known = bundle.arrays.pop("expected")
    older = AnchoredHierSeed.from_bundle(bundle)
    assert older.predict(X).tolist() == model.predict(X).tolist()
    assert older.expected_accuracy_ == model.expected_accuracy_
    assert older.expected_topic_accuracy_ == least_accurate(older) == []
    bundle.arrays["expected"] = np.vstack([known, known])
    with pytest.raises(ValueError, match="accuracy of"):
        AnchoredHierSeed.from_bundle(bundle)


def test_a_fit_names_at_most_three_topics_that_are_likely_below_their_level():
    named, below = 0, 0
    for seed in range(6):
        taxonomy, X, y, truth = uneven_world(seed)
        rows = {path: np.flatnonzero(y == t).tolist() for t, path in enumerate(taxonomy.paths)}
        seeds = {path: some for path, some in rows.items() if some}
        heard = []
        fitted = hierseed.fit(X, taxonomy, seeds, other=False, progress=heard.append)
        model = fitted.estimator
        lowest = [event.text for event in heard if getattr(event, "label", "") == "Lowest"]
        topics = least_accurate(model)[:3]
        shares = [f"{taxonomy.paths[t]} {model.expected_topic_accuracy_[t]}" for t in topics]
        assert lowest == (["expected in: " + ", ".join(shares)] if shares else [])
        seen = seen_accuracy(model, taxonomy, y, truth)
        named += len(topics)
        level = taxonomy.tree.level
        means = [np.mean([seen[s] for s in seen if level[s] == level[t]]) for t in topics]
        below += sum(seen[t] < mean for t, mean in zip(topics, means))
    assert named > 6
    assert below > 0.8 * named
