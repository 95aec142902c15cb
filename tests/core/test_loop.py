"""The whole fit against the slow reference, for trees of every shape and every option."""

import numpy as np
import pytest
import reference
from worlds import TREES, make_world, seeds_of

from hierseed import HierSeed
from hierseed.core.array_blocks import ArrayBlocks

OPTIONS = [
    {},
    {"les_weight": 0.0},
    {"self_weight": 5.0, "les_weight": 1.0},
    {"self_weight": 5.0, "self_weight_step": 1.0, "child_factor": 2.3, "sibling_factor": 1.3},
    {"self_weight_step": 3.0, "tol": 0.0},
    {"sphere": "deviation"},
    {"sphere": "empty"},
    {"eccentricity": 1.0},
    {"eccentricity": 0.4},
    {"other": False},
    {"other_spelling": "printed"},
    {"alpha": 1.5},
]


@pytest.mark.parametrize("name", TREES)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.filterwarnings("ignore::hierseed.estimators.hierseed.EmptyTopicWarning")
def test_fit_equals_the_slow_reference(name, options, seed):
    taxonomy, X, y, _ = make_world(name, seed=seed, spread=0.9)
    model = HierSeed(taxonomy, refine_max_iter=100, refine_tol=0.0, **options).fit(X, y)
    renamed = {"sphere": "tolerance", "other_spelling": "spelling"}
    slow = reference.fit(
        X, taxonomy.tree.parent, seeds_of(y), **{renamed.get(k, k): v for k, v in options.items()}
    )
    assert model.taxonomy_.tree.parent.tolist() == slow["parent"]
    np.testing.assert_allclose(model.vectors_, slow["vectors"], atol=1e-9)
    for topic, radius in slow["radii"].items():
        assert model.radii_[topic] == pytest.approx(radius, abs=1e-9)
    np.testing.assert_allclose(
        [entry["objective"] for entry in model.history_], slow["history"], rtol=1e-9
    )
    deepest = {t: rows for t, rows in slow["sets"].items() if model.taxonomy_.tree.is_leaf[t]}
    assigned = model.assign(X)
    for topic, rows in deepest.items():
        assert sorted(assigned.row[assigned.topic == topic].tolist()) == rows


@pytest.mark.parametrize("name", ["ragged", "deep"])
@pytest.mark.parametrize("pivot", [1, 2, 3])
@pytest.mark.filterwarnings("ignore::hierseed.estimators.hierseed.EmptyTopicWarning")
def test_pivot_levels_equal_the_slow_reference(name, pivot):
    taxonomy, X, y, _ = make_world(name, spread=0.9, seed=3)
    model = HierSeed(taxonomy, pivot_level=pivot, refine_max_iter=100, refine_tol=0.0).fit(X, y)
    slow = reference.fit(X, taxonomy.tree.parent, seeds_of(y), pivot=pivot)
    assert model.taxonomy_.tree.parent.tolist() == slow["parent"]
    np.testing.assert_allclose(model.vectors_, slow["vectors"], atol=1e-9)
    np.testing.assert_allclose(
        [entry["objective"] for entry in model.history_], slow["history"], rtol=1e-9
    )


@pytest.mark.parametrize("name", ["two levels", "deep"])
@pytest.mark.parametrize("options", [{}, {"eccentricity": 0.9, "tol": 0.0}], ids=str)
def test_blocks_may_forget_at_any_time(name, options, monkeypatch):
    """What a block remembers saves time only: a worker may be lost between any two passes."""
    taxonomy, X, y, _ = make_world(name, spread=0.9, per_leaf=40)
    whole = HierSeed(taxonomy, **options).fit(X, y)
    rng = np.random.default_rng(0)
    original = ArrayBlocks.map

    def forgetful(self, step, *model):
        for block in self._blocks:
            if rng.random() < 0.6:
                block.forget()
        return original(self, step, *model)

    monkeypatch.setattr(ArrayBlocks, "map", forgetful)
    monkeypatch.setattr("hierseed.core.array_blocks.BLOCK_VALUES", 2_000)
    monkeypatch.setattr("hierseed.core.array_blocks.LEAST_ROWS", 20)
    other = HierSeed(taxonomy, **options).fit(X, y)
    assert other.vectors_.tobytes() == whole.vectors_.tobytes()
    told = ["objective", "within", "coverage", "moved", "kept"]
    for one, two in zip(other.history_, whole.history_):
        assert [one[key] for key in told] == [two[key] for key in told]
