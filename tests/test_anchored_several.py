"""Several topics a document: as many as seeds have."""

import numpy as np
import pytest
from worlds import make_world

from hierseed import AnchoredHierSeed
from hierseed.core.mixture.placement import RATIOS


def world(every: int):
    """Leaves that overlap; one seed in `every` serves the next leaf too, 0: none does."""
    taxonomy, X, y, _ = make_world(per_leaf=150, width=12, spread=1.2, seeds=6)
    leaves = np.unique(y[y >= 0])
    lists = [[int(topic)] if topic >= 0 else [] for topic in y]
    for row in np.flatnonzero(y >= 0)[::every] if every else ():
        after = leaves[(np.searchsorted(leaves, y[row]) + 1) % len(leaves)]
        lists[row] = sorted({int(y[row]), int(after)})
    return taxonomy, X, lists


@pytest.mark.parametrize("every", [1, 2, 5])
def test_documents_have_as_many_topics_as_seeds(every):
    taxonomy, X, lists = world(every)
    seeds = [mine for mine in lists if mine]
    wanted = sum(map(len, seeds)) / len(seeds)
    model = AnchoredHierSeed(taxonomy).fit(X, lists)
    others = X[[not mine for mine in lists]]
    placed = model.assign(others)
    listed = ~placed.is_none & ~placed.is_other
    n = len(np.unique(placed.row[listed]))
    assert n > 0.95 * len(others)
    # rejected documents have no further topics; they lie between topics and would have had many
    assert listed.sum() / n == pytest.approx(wanted, abs=0.06)
    step = float(RATIOS[np.searchsorted(RATIOS, model.several_) - 1])
    if step <= 1:
        more = AnchoredHierSeed(taxonomy, several=step).fit(X, lists).assign(others)
        assert len(more.topic) > len(placed.topic)
    one = AnchoredHierSeed(taxonomy, several=None).fit(X, lists)
    assert len(one.assign(others).topic) == len(others)
    assert np.array_equal(one.predict(others), placed.labels)


def test_where_every_seed_has_one_topic_so_has_every_document():
    taxonomy, X, lists = world(0)
    model = AnchoredHierSeed(taxonomy).fit(X, lists)
    assert model.several_ is None
    one = AnchoredHierSeed(taxonomy, several=None).fit(X, lists)
    for name in ("row", "topic", "score"):
        np.testing.assert_array_equal(getattr(model.assign(X), name), getattr(one.assign(X), name))


def test_what_was_learned_is_kept(tmp_path):
    taxonomy, X, lists = world(2)
    model = AnchoredHierSeed(taxonomy).fit(X, lists)
    model.save(tmp_path / "model")
    again = AnchoredHierSeed.load(tmp_path / "model")
    assert again.several == "seeds"
    assert again.several_ == model.several_
    assert np.array_equal(again.assign(X).topic, model.assign(X).topic)
    order = np.random.default_rng(0).permutation(len(X))
    shuffled = AnchoredHierSeed(taxonomy).fit(X[order], [lists[row] for row in order])
    assert shuffled.several_ == model.several_


@pytest.mark.parametrize("several", ["seeds", 0.2])
@pytest.mark.parametrize("precision", [0.3, 0.6, 0.9])
def test_further_topics_keep_the_precision_asked_for(precision, several, tmp_path):
    taxonomy, X, lists = world(2)
    free = AnchoredHierSeed(taxonomy, several=several).fit(X, lists)
    model = AnchoredHierSeed(taxonomy, several=several, precision=precision).fit(X, lists)
    assert model.several_ == free.several_  # seeds say how many, the precision which of them stay
    model.save(tmp_path / "model")
    for kept in (model.assign(X), AnchoredHierSeed.load(tmp_path / "model").assign(X)):
        level = kept.path >= 0
        for k in range(level.shape[1]):
            assert kept.score[level[:, k], k].mean() >= precision - 1e-3
        further = np.setdiff1d(np.arange(len(kept)), kept.primary)
        assert (kept.at(kept.score)[further] >= precision).all()
        assert len(kept) <= len(free.assign(X))
        assert len(further) or precision > 0.3


def test_thresholds_that_were_set_survive_saving(tmp_path):
    taxonomy, X, lists = world(2)
    model = AnchoredHierSeed(taxonomy, precision=0.9).fit(X, lists)
    model.set_thresholds(np.zeros(taxonomy.tree.height))
    model.save(tmp_path / "m")
    before, after = model.assign(X), AnchoredHierSeed.load(tmp_path / "m").assign(X)
    for name in ("row", "topic", "score"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))
