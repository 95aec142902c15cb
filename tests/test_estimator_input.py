"""What HierSeed says to bad input, and nasty corpora that must not crash it."""

import warnings

import numpy as np
import pytest
from worlds import make_world

from hierseed import HierSeed, Taxonomy, UnfitHierSeed
from hierseed.errors import CorpusError, ParameterError, SeedError, TaxonomyError
from hierseed.estimators.base import SeededEstimator
from hierseed.estimators.hierseed import EmptyTopicWarning
from hierseed.estimators.parameters import METHODS

MODELS = [HierSeed, UnfitHierSeed]


def spoil(X, rows, value):
    X = X.copy()
    X[rows, 1] = value
    return X


def test_bad_input_gets_one_clear_error():
    taxonomy, X, y, _ = make_world()
    n = len(X)
    cases = [
        (spoil(X, range(7), np.nan), y, CorpusError, rf"NaN or infinity in 7 of {n} rows"),
        (spoil(X, [3], np.inf), y, CorpusError, r"rows 3\)"),
        (X * 1e30, y, CorpusError, r"as long as \d\.\de\+3\d: .*Divide them"),
        (X[:, 0], y, CorpusError, "Expected 2D"),
        (X[:0], y[:0], CorpusError, "empty"),
        (X, y[:-1], SeedError, f"{n - 1} entries for {n} documents"),
        (X, np.where(y == 1, 99, y), SeedError, "unknown topic id.*99.*0 … 9"),
        (X, np.where(y == 1, -5, y), SeedError, "-5"),
        (X, None, SeedError, "y is None"),
        (X, np.array(["nothing"] * n), SeedError, "1 unknown topics: .*nothing"),
        (X, np.full(n, 0.5), SeedError, "taxonomy.labels"),
    ]
    for bad, labels, error, text in cases:
        with pytest.raises(error, match=text):
            HierSeed(taxonomy).fit(bad, labels)
    model = HierSeed(taxonomy).fit(X, y)
    with pytest.raises(CorpusError, match="5 features, but HierSeed is expecting 6"):
        model.predict(X[:, :5])


def test_all_bare_leaves_are_named():
    taxonomy, X, y, _ = make_world()
    bare = np.where(np.isin(y, [1, 5, 8]), -1, y)
    with pytest.raises(SeedError) as fault:
        HierSeed(taxonomy).fit(X, bare)
    for topic in (1, 5, 8):
        assert taxonomy.paths[topic] in str(fault.value)
    assert "3 of 7 leaves" in str(fault.value)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"pivot_level": 3}, r"pivot_level .* at least 1 and at most 2, got 3"),
        ({"pivot_level": 0}, "pivot_level"),
        ({"eccentricity": 1.5}, "eccentricity .* None or a number at least 0 and at most 1"),
        ({"eccentricity": [0.5]}, "one such number for each of the 10 topics"),
        ({"eccentricity": [0.5] * 9 + [2]}, "one such number for each of the 10 topics"),
        ({"alpha": 0.5}, "alpha"),
        ({"alpha": True}, "alpha"),
        ({"alpha": "1.2"}, "alpha"),
        ({"alpha": float("nan")}, "alpha"),
        ({"sphere": "round"}, "sphere"),
        ({"max_iter": 0}, "max_iter"),
        ({"max_iter": 2.5}, "max_iter .* a whole number at least 1, got 2.5"),
        ({"n_jobs": -1}, "n_jobs"),
        (
            {"tol": -1, "child_factor": 0},
            "child_factor .*, got 0; tol .* at least 0, got -1",
        ),
    ],
)
def test_bad_parameters_say_what_is_wanted(options, text):
    taxonomy, X, y, _ = make_world()
    with pytest.raises(ParameterError, match=text):
        HierSeed(taxonomy, **options).fit(X, y)


@pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
def test_every_parameter_has_a_constraint_that_its_default_meets(method):
    taxonomy, _, _, _ = make_world()
    estimator = method.estimator(taxonomy)
    assert set(estimator._constraints()) == set(estimator.get_params()) - {"taxonomy"}
    estimator.check_parameters()


def test_numbers_of_numpy_are_numbers():
    taxonomy, X, y, _ = make_world()
    ours = {"alpha": np.float32(1.5), "max_iter": np.int64(2), "eccentricity": np.full(10, 0.5)}
    HierSeed(taxonomy, **ours).fit(X, y)


def test_a_base_class_makes_no_estimator():
    with pytest.raises(TypeError, match="abstract"):
        SeededEstimator()


def test_a_taxonomy_is_wanted():
    _, X, y, _ = make_world()
    with pytest.raises(TaxonomyError, match=r"Taxonomy\.from_paths"):
        HierSeed(["A > B"]).fit(X, y)


def nasty():
    taxonomy = Taxonomy.from_paths(["A > a", "A > b", "A > c", "B"])
    y = np.array([1, 2, 3, 4])
    yield "fewer documents than children", taxonomy, np.eye(4), y
    yield "all documents alike", taxonomy, np.ones((9, 3)), np.r_[y, [-1] * 5]
    yield "zero vectors", taxonomy, np.zeros((9, 3)), np.r_[y, [-1] * 5]
    yield "one dimension", taxonomy, np.arange(9.0)[:, None], np.r_[y, [-1] * 5]
    one = Taxonomy.from_paths(["only"])
    yield "one topic, one document", one, np.ones((1, 2)), np.array([0])
    chain = Taxonomy.from_paths(["A > B > C > D"])
    yield (
        "a chain of only children",
        chain,
        np.random.default_rng(0).normal(size=(9, 2)),
        np.array([3] + [-1] * 8),
    )
    yield (
        "huge and tiny numbers",
        taxonomy,
        np.random.default_rng(0).normal(size=(9, 3)) * np.array([1e12, 1.0, 1e-12]),
        np.r_[y, [-1] * 5],
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("case", list(nasty()), ids=lambda case: case[0])
def test_nasty_corpora_do_not_crash(model, case):
    _, taxonomy, X, y = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyTopicWarning)
        found = model(taxonomy).fit(X, y)
    assert len(found.labels_) == len(X)
    assert np.isfinite(found.vectors_).all()
    assert np.array_equal(found.predict(X), found.labels_)
    found.assign(X).to_frame()


def test_a_topic_that_reaches_nothing_says_so():
    taxonomy = Taxonomy.from_paths(["A", "B", "C"])
    X = np.array([[100.0, 0], [0, 100.0], [90, 90]])
    seeds = np.array([[0.0, 0.0], [0.1, 0.0], [99.0, 0.0]])
    with pytest.warns(EmptyTopicWarning, match="'A'"):
        model = HierSeed(taxonomy, other=False).fit(X, X_seeds=seeds, y_seeds=[0, 1, 2])
    assert 0 in model.empty_
