"""The real scikit-learn: Pipeline, clone, cross_val_score and GridSearchCV over texts and seeds."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline

import hierseed
from hierseed import AnchoredHierSeed, SeedError, Taxonomy, UnfitHierSeed
from hierseed.embed.prepare import Preparation
from hierseed.errors import ParameterError
from hierseed.model_selection import HierarchicalScorer, SeedKFold, TextEmbedder

WORDS = {
    "Animals > Cats": "cat kitten purr whiskers paw",
    "Animals > Dogs": "dog puppy bark leash paw",
    "Food > Bread": "bread oven flour dough yeast",
    "Food > Soup": "soup bowl broth spoon salt",
}
PATHS = list(WORDS)
TAXONOMY = Taxonomy.from_paths(PATHS)
GOLD = [PATHS[i % 4] for i in range(80)]
TEXTS = [
    " ".join(np.random.default_rng(i).permutation(WORDS[topic].split())[:3]) + f" number {i}"
    for i, topic in enumerate(GOLD)
]
Y = [topic if i < 24 else "" for i, topic in enumerate(GOLD)]  # six seeds a topic


def pipeline(**settings):
    return Pipeline(
        [
            ("embed", TextEmbedder("wordllama")),
            ("prepare", Preparation()),
            ("place", AnchoredHierSeed(TAXONOMY, other=False, **settings)),
        ]
    )


def test_a_pipeline_places_texts_as_fit_does():
    fitted = pipeline().fit(TEXTS, Y)
    seeds = {path: [i for i in range(24) if GOLD[i] == path] for path in PATHS}
    model = hierseed.fit(TEXTS, TAXONOMY, seeds, embedder="wordllama", other=False)
    new = ["a kitten with whiskers", "salt in the broth"]
    assert fitted.predict(new).tolist() == model.assign(new).labels.tolist()
    found = model.assign(TEXTS)
    same = fitted.predict(TEXTS) == found.labels
    assert same[~found.is_seed].all()


def test_labels_may_be_paths_last_names_or_ids():
    X = TextEmbedder("wordllama").fit_transform(TEXTS)
    ids = [TAXONOMY.index(label) if label else -1 for label in Y]
    names = [label.rpartition(" > ")[2] or None for label in Y]
    series = pd.Series([label or np.nan for label in Y])
    lists = [[label] if label else [] for label in Y]
    expected = UnfitHierSeed(TAXONOMY).fit(X, ids).predict(X)
    for y in (Y, np.array(Y), names, series, lists):
        assert np.array_equal(UnfitHierSeed(TAXONOMY).fit(X, y).predict(X), expected)
    wrong = ["Animals > Cows", "Foo", *Y[2:]]
    with pytest.raises(SeedError, match=r"(?s)2 unknown topics.*Cows.*Foo"):
        UnfitHierSeed(TAXONOMY).fit(X, wrong)


def test_clone_keeps_parameters_and_forgets_what_was_learned():
    fitted = pipeline(seed_weight=3.0).fit(TEXTS, Y)
    twin = clone(fitted)
    assert twin.get_params()["place__seed_weight"] == 3.0
    assert not twin["prepare"].is_fitted
    assert np.array_equal(twin.fit(TEXTS, Y).predict(TEXTS), fitted.predict(TEXTS))
    joined = Preparation(blocks=(2, 3), weights=(0.5, 1.0))
    assert clone(joined).get_params() == joined.get_params()


def test_folds_hold_out_every_seed_once_and_no_other_document():
    y = [0] * 5 + [1] * 2 + [2] + [-1] * 7
    held_out = []
    for train, test in SeedKFold(3).split(y, y):
        assert sorted([*train, *test]) == list(range(15))
        assert {y[row] for row in train} == {0, 1, 2, -1}  # every topic keeps a seed
        held_out += test.tolist()
    assert sorted(held_out) == list(range(7))  # not the only seed of topic 2
    again = [test.tolist() for _, test in SeedKFold(3).split(y, y)]
    assert held_out == [row for test in again for row in test]
    with pytest.raises(SeedError, match="no topic has two seeds"):
        next(SeedKFold(3).split(y, [0, 1, 2]))
    with pytest.raises(SeedError, match="too few for 9 folds"):
        list(SeedKFold(9).split(y, y))
    with pytest.raises(ParameterError, match="n_splits"):
        SeedKFold(1)


def test_cross_val_score_measures_in_the_taxonomy():
    found = cross_val_score(
        pipeline(), TEXTS, Y, cv=SeedKFold(3), scoring=HierarchicalScorer(), error_score="raise"
    )
    assert found.shape == (3,)
    assert found.min() > 0.8  # by chance: 0.375
    by_hand = []
    for train, test in SeedKFold(3).split(TEXTS, Y):
        model = pipeline().fit([TEXTS[i] for i in train], [Y[i] for i in train])
        placed = model.predict([TEXTS[i] for i in test])
        pairs = [(TAXONOMY.index(Y[i]), topic) for i, topic in zip(test, placed)]
        parent = TAXONOMY.tree.parent
        ups = [({a, parent[a]}, {b, parent[b]} - {-1} if b >= 0 else set()) for a, b in pairs]
        right = sum(len(a & b) for a, b in ups)
        by_hand.append(2 * right / sum(len(a) + len(b) for a, b in ups))
    assert found.tolist() == pytest.approx(by_hand)
    default = cross_val_score(pipeline(), TEXTS, Y, cv=SeedKFold(3), error_score="raise")
    assert found.tolist() == default.tolist()  # `score` of the estimator


def test_several_measures_at_once_and_metadata_routing():
    scoring = {"f1": HierarchicalScorer(), "accuracy": HierarchicalScorer("accuracy")}
    for routing in (False, True):
        with sklearn.config_context(enable_metadata_routing=routing):
            found = cross_validate(
                pipeline(), TEXTS, Y, cv=SeedKFold(2), scoring=scoring, error_score="raise"
            )
        assert found["test_f1"].min() > 0.8
        assert found["test_accuracy"].min() > 0.8
    with pytest.raises(ParameterError, match="measure must be one of"):
        HierarchicalScorer("f2")(pipeline().fit(TEXTS, Y), TEXTS, Y)


def test_seeds_outside_the_corpus_go_through_a_pipeline():
    more = TextEmbedder("wordllama").fit_transform(["whiskers of a kitten"])
    plain = Pipeline([("place", UnfitHierSeed(TAXONOMY, other=False))])
    X = TextEmbedder("wordllama").fit_transform(TEXTS)
    y = [label if label != PATHS[0] else "" for label in Y]
    fitted = plain.fit(X, y, place__X_seeds=more, place__y_seeds=[PATHS[0]])
    assert fitted.predict(more).tolist() == [TAXONOMY.index(PATHS[0])]


def test_grid_search_over_embedders_and_settings():
    grid = {"embed__embedder": ["wordllama:64", "tfidf:20"], "place__max_iter": [1, 3]}
    search = GridSearchCV(
        pipeline(), grid, cv=SeedKFold(2), scoring=HierarchicalScorer(), error_score="raise"
    )
    search.fit(TEXTS, Y)
    assert len(search.cv_results_["params"]) == 4
    assert search.best_score_ == max(search.cv_results_["mean_test_score"])
    best = search.cv_results_["params"][search.best_index_]
    alone = pipeline().set_params(**best)
    again = cross_val_score(alone, TEXTS, Y, cv=SeedKFold(2)).mean()
    assert search.best_score_ == pytest.approx(again)
    assert HierarchicalScorer()(search, TEXTS[24:], GOLD[24:]) == search.score(
        TEXTS[24:], GOLD[24:]
    )


def test_a_scorer_leaves_out_rows_without_a_label():
    fitted = pipeline().fit(TEXTS, Y)
    assert HierarchicalScorer()(fitted, TEXTS, Y) == HierarchicalScorer()(
        fitted, TEXTS[:24], Y[:24]
    )
    with pytest.raises(SeedError, match="no row of y has a label"):
        HierarchicalScorer()(fitted, TEXTS, [""] * 80)
