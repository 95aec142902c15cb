"""Rejections: documents that do not belong to a topic are placed elsewhere, and do not shape it."""

from pathlib import Path

import numpy as np
import pytest

import hierseed
from hierseed import AnchoredHierSeed, HierSeed, Taxonomy, UnfitHierSeed

PATHS = ["A > A1", "A > A2", "B > B1", "B > B2", "C"]


def corpus(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray, Taxonomy]:
    """Clouds around five leaves, four seeds each."""
    taxonomy = Taxonomy.from_paths(PATHS)
    leaves = [taxonomy.index(path) for path in PATHS]
    draw = np.random.default_rng(seed)
    centres = draw.normal(size=(5, 12))
    topic = draw.integers(0, 5, n)
    X = centres[topic] + 0.6 * draw.normal(size=(n, 12))
    y = np.full(n, -1)
    for number, leaf in enumerate(leaves):
        y[np.flatnonzero(topic == number)[:4]] = leaf
    return X, y, taxonomy


def rejections(y: np.ndarray, found: np.ndarray, taxonomy: Taxonomy) -> np.ndarray:
    """Reject a third of the documents of A1 for it."""
    topic = taxonomy.index("A > A1")
    rows = np.flatnonzero((found == topic) & (y < 0))[::3]
    rejected = np.full(len(y), -1)
    rejected[rows] = topic
    assert len(rows) > 5
    return rejected


def test_rejected_documents_shape_topics_as_if_they_were_not_there():
    X, y, taxonomy = corpus()
    plain = AnchoredHierSeed(taxonomy, n_jobs=1).fit(X, y)
    rejected = rejections(y, plain.labels_, taxonomy)
    model = AnchoredHierSeed(taxonomy, n_jobs=1).fit(X, y, rejected=rejected)
    rest = rejected < 0
    without = AnchoredHierSeed(taxonomy, n_jobs=1).fit(X[rest], y[rest])
    listed = slice(0, len(taxonomy))
    np.testing.assert_allclose(model.vectors_[listed], without.vectors_[listed], atol=1e-6)
    assert not np.allclose(model.vectors_[listed], plain.vectors_[listed], atol=1e-4)
    assert not (model.labels_[~rest] == taxonomy.index("A > A1")).any()
    assert (model.labels_[rest] == without.labels_).all()


def test_the_next_topic_is_the_most_probable_one_that_was_not_rejected():
    X, y, taxonomy = corpus(seed=1)
    model = AnchoredHierSeed(taxonomy, other=False, several=None, n_jobs=1).fit(X, y)
    chances, classes = model.predict_proba(X), model.classes_
    rows = np.flatnonzero(y < 0)[:80]
    first = classes[chances[rows].argmax(axis=1)]
    rejected = np.full(len(y), -1)
    rejected[rows] = first
    placed = model.assign(X, y, rejected=rejected)
    allowed = np.where(classes == rejected[rows][:, None], 0.0, chances[rows])
    allowed /= allowed.sum(axis=1, keepdims=True)
    for row, own in zip(rows, allowed):
        # level by level, as documents are placed: the most probable branch, then the leaf
        tree = taxonomy.tree
        tops = {top: own[tree.ancestors[classes, 0] == top].sum() for top in tree.children(-1)}
        top = max(tops, key=tops.get)
        inside = np.where(tree.ancestors[classes, 0] == top, own, 0.0)
        assert placed.labels[row] == classes[inside.argmax()]
    untouched = np.setdiff1d(np.arange(len(y)), rows)
    plain = model.assign(X, y)
    assert (plain.labels[untouched] == placed.labels[untouched]).all()
    kept = ~np.isin(placed.row, rows)
    assert np.array_equal(placed.score[kept], plain.score[~np.isin(plain.row, rows)], True)


@pytest.mark.parametrize("method", [AnchoredHierSeed, HierSeed, UnfitHierSeed])
def test_no_method_places_a_document_where_it_was_rejected(method):
    X, y, taxonomy = corpus(seed=2)
    model = method(taxonomy, n_jobs=1).fit(X, y)
    plain = model.assign(X, y)
    draw = np.random.default_rng(5)
    rejected = [
        [int(t) for t in draw.choice(len(taxonomy), 2, replace=False)] if i % 3 == 0 else []
        for i in range(len(y))
    ]
    tops = [int(top) for top in taxonomy.tree.children(-1)]
    rejected[50] = tops  # none of these
    y[50] = -1
    placed = model.assign(X, y, rejected=rejected)
    ancestors = placed.taxonomy.tree.ancestors
    assert np.array_equal(np.unique(placed.row), np.arange(len(y)))
    for record, row in enumerate(placed.row):
        if y[row] < 0:
            assert not np.isin(ancestors[placed.topic[record]], rejected[row]).any()
    assert placed.labels[50] == -1
    assert placed.score[placed.primary[50], 0] == 0
    assert np.array_equal(placed.path, ancestors[placed.topic])
    free = [row for row in range(len(y)) if not rejected[row]]
    assert (placed.labels[free] == plain.labels[free]).all()
    seeds = np.flatnonzero(y >= 0)
    if method is AnchoredHierSeed:
        assert (placed.labels[seeds] == y[seeds]).all()


@pytest.mark.parametrize("method", [AnchoredHierSeed, HierSeed, UnfitHierSeed])
def test_labels_of_the_corpus_respect_rejections_as_assign_does(method):
    X, y, taxonomy = corpus(seed=4)
    plain = method(taxonomy, n_jobs=1).fit(X, y)
    rejected = rejections(y, plain.labels_, taxonomy)
    rejected[np.flatnonzero(y >= 0)[0]] = taxonomy.index("B")  # no matter: a seed keeps its topic
    model = method(taxonomy, n_jobs=1).fit(X, y, rejected=rejected)
    placed = model.assign(X, y, rejected=rejected)
    assert (model.labels_ == placed.labels).all()
    assert not (model.labels_[rejected >= 0] == taxonomy.index("A > A1")).any()
    assert model.coverage_ == (model.labels_ >= 0).mean()


def test_a_saved_model_remembers_its_rejections(tmp_path: Path):
    texts = {f"d{i}": text for i, text in enumerate([
        "the cat purrs", "a kitten naps", "the dog barks", "a puppy digs", "cats and dogs",
        "bread from the oven", "flour for bread", "hot soup in a bowl", "soup and salt",
    ])}  # fmt: skip
    paths = ["Animals > Cats", "Animals > Dogs", "Food > Bread", "Food > Soup"]
    seeds = {"Animals > Cats": ["d0"], "Animals > Dogs": ["d2"], "Food > Bread": ["d5"],
             "Food > Soup": ["d7"]}  # fmt: skip
    quietly: dict = {"embedder": "wordllama", "progress": lambda event: None}
    rejected = {"Animals": ["d1", "d8"], "Food": ["d8"]}
    model = hierseed.fit(texts, paths, seeds, rejected=rejected, **quietly)
    first = model.assign(texts)
    assert not model.taxonomy_.paths[first.labels[1]].startswith("Animals")
    assert first.labels[8] == -1
    model.save(tmp_path / "model")
    again = hierseed.load(tmp_path / "model").assign(texts)
    assert np.array_equal(first.topic, again.topic)
    assert np.array_equal(first.score, again.score, equal_nan=True)
    other = model.assign({"d1": "the hot bowl of soup"})  # another text under the same id
    assert other.labels[0] >= 0
    with pytest.raises(hierseed.errors.HierSeedError, match="d99"):
        hierseed.fit(texts, paths, seeds, rejected={"Food": ["d99"]}, **quietly)
