"""AnchoredHierSeed on disk, and what it says to bad input."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from worlds import make_world

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy
from hierseed.errors import ModelError, ParameterError, SeedError, TaxonomyError
from hierseed.estimators.anchored.fitting import pack_placer, unpack_placer


def test_saved_and_loaded_it_places_alike(tmp_path):
    taxonomy, X, y, _ = make_world("ragged", spread=1.0)
    model = AnchoredHierSeed(taxonomy, precision=0.7).fit(X, y)
    model.save(tmp_path / "model")
    again = AnchoredHierSeed.load(tmp_path / "model")
    assert isinstance(again, AnchoredHierSeed)
    assert again.get_params()["precision"] == 0.7
    one, two = model.assign(X), again.assign(X)
    for name in ("topic", "path", "distance", "score", "runner_up", "belongs", "ranked", "chances"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes(), name
    for name in ("objective_", "coverage_", "temperature_", "tree_weight_", "n_iter_"):
        assert getattr(model, name) == getattr(again, name), name
    with pytest.raises(ModelError, match="holds a AnchoredHierSeed"):
        HierSeed.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("precision", 1.5),
        ("several", 0),
        ("several", "topics"),
        ("other", "below"),
        ("false_alarm", 1.0),
        ("false_alarm", -0.1),
        ("seed_weight", -1),
        ("tree_weight", 0),
        ("smoothing", 0),
        ("max_iter", 0),
        ("tol", -1),
    ],
)
def test_parameters_out_of_range_are_refused(parameter, value):
    taxonomy, X, y, _ = make_world()
    with pytest.raises(ParameterError, match=f"{parameter} of AnchoredHierSeed must be"):
        AnchoredHierSeed(taxonomy, **{parameter: value}).fit(X, y)


def test_what_can_not_be_fitted_is_reported():
    taxonomy, X, y, _ = make_world()
    with pytest.raises(SeedError, match="target y is None"):
        AnchoredHierSeed(taxonomy).fit(X)
    with pytest.raises(SeedError, match="every entry of y is -1"):
        AnchoredHierSeed(taxonomy).fit(X, np.full(len(X), -1))
    with pytest.raises(TaxonomyError, match="must be a Taxonomy"):
        AnchoredHierSeed(["A"]).fit(X, y)
    with pytest.raises(ModelError, match="not fitted"):
        AnchoredHierSeed(taxonomy).fit(X, y, start=AnchoredHierSeed(taxonomy))


@pytest.mark.parametrize("nasty", ["zeros", "doubles", "one column", "huge", "tiny"])
def test_nasty_vectors(nasty):
    taxonomy, X, y, _ = make_world()
    if nasty == "zeros":
        X = np.zeros_like(X)
    elif nasty == "doubles":
        X = X[np.zeros(len(X), dtype=int)]
    elif nasty == "one column":
        X = X[:, :1]
    else:
        X = X * (1e17 if nasty == "huge" else 1e-30)
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    assert np.isfinite(model.vectors_).all()
    assert np.isfinite(model.objective_)
    assert len(model.predict(X)) == len(X)


@pytest.mark.parametrize("width", [8, 64, 256])
@pytest.mark.parametrize("noise", [0.0, 1e-7, 1e-4])
def test_vectors_that_hardly_differ(width, noise):
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_paths([f"A{i // 10} > B{i}" for i in range(60)])
    centre = rng.normal(size=width) * (50 * noise or 1.0)  # farther from the origin is refused
    X = centre + noise * rng.normal(size=(1000, width))
    y = np.full(len(X), -1)
    y[:180] = np.flatnonzero(taxonomy.tree.is_leaf).repeat(3)
    model = AnchoredHierSeed(taxonomy).fit(X.astype(np.float32), y)
    assert np.isfinite(model.vectors_).all()
    placed = model.assign(X)
    assert np.isfinite(placed.at(placed.score)).all()


def test_progress_hears_every_round():
    taxonomy, X, y, _ = make_world()
    heard = []
    model = AnchoredHierSeed(taxonomy).fit(X, y, progress=heard.append)
    assert heard == model.history_
    assert {"round", "objective", "coverage", "moved", "seconds"} <= heard[0].keys()


class SeededInTurn(AnchoredHierSeed):
    """The checks draw labels at will: the rows they label become seeds of two topics in turn."""

    def fit(self, X, y=None, **options):
        turn = None if y is None else np.asarray(y) * 0 + 1 + np.arange(len(y)) % 2
        return super().fit(X, turn, **options)


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [SeededInTurn(Taxonomy.from_paths(["A > a", "A > b"]))],
    expected_failed_checks=lambda estimator: {
        "check_dtype_object": "a matrix of objects is refused with a CorpusError, not a TypeError",
    },
)
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_a_model_with_scores_of_fewer_levels_than_its_taxonomy_is_refused():
    taxonomy, X, y, _ = make_world()
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    header, arrays = pack_placer(model._placer)
    unpack_placer(model.taxonomy_, header, arrays)
    for name in ("curve", "thresholds"):
        forged = arrays | {name: arrays[name][:-1]}
        with pytest.raises(ValueError, match="scores of fewer levels"):
            unpack_placer(model.taxonomy_, header, forged)
