import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from hierseed.core.tree import Tree
from hierseed.errors import CorpusError
from hierseed.evaluate import calibration, thresholds

TREE = Tree([-1, -1, 0, 0, 1])


def test_bands_are_those_of_sklearn():
    rng = np.random.default_rng(0)
    gold, predicted = rng.integers(0, 5, (2, 500))
    levels, scores = TREE.ancestors[predicted], rng.random((500, 2))
    for k, level in enumerate(calibration(TREE, levels, scores, gold)):
        told = levels[:, k] >= 0
        right = (levels[:, k] == TREE.ancestors[gold][:, k])[told]
        share, mean = calibration_curve(right, scores[told, k], n_bins=10)
        filled = np.array(level.counts) > 0
        assert np.array(level.accuracy)[filled] == pytest.approx(share)
        assert np.array(level.score)[filled] == pytest.approx(mean)
        assert level.brier == pytest.approx(brier_score_loss(right, scores[told, k]))
        assert level.documents == sum(level.counts) == told.sum()


def test_honest_scores_have_no_error_and_boasting_ones_do():
    rng = np.random.default_rng(1)
    gold = np.full(200_000, 2)
    scores = np.sqrt(rng.random((len(gold), 1))) * np.ones(2)
    right = rng.random(len(gold)) < scores[:, 0]
    levels = TREE.ancestors[np.where(right, 2, 4)]
    assert calibration(TREE, levels, scores, gold)[0].error < 0.01
    assert calibration(TREE, levels, np.ones_like(scores), gold)[0].error > 0.3


def test_any_gold_label_makes_it_right_and_missing_scores_are_left_out():
    levels = TREE.ancestors[[2, 4, 1]]
    scores = np.array([[1.0, 1.0], [1.0, np.nan], [1.0, np.nan]])
    first, second = calibration(TREE, levels, scores, [[4, 2], [4], [0]])
    assert (first.documents, second.documents) == (3, 1)
    assert second.error == pytest.approx(0.0)
    assert first.error == pytest.approx(1 / 3)


def test_scores_outside_the_unit_interval_are_refused():
    with pytest.raises(CorpusError, match="outside"):
        calibration(TREE, TREE.ancestors[[0]], np.array([[2.0, np.nan]]), [0])


@pytest.mark.parametrize("precision", [0.6, 0.8, 0.9])
def test_thresholds_of_a_coded_sample_hold_on_the_rest(precision):
    """Scores that boast: what is scored s is right in s squared of the cases."""
    rng = np.random.default_rng(0)
    gold = np.full(60_000, 2)
    scores = rng.random((len(gold), 1)) * np.ones(2)
    levels = TREE.ancestors[np.where(rng.random(len(gold)) < scores[:, 0] ** 2, 2, 4)]
    found = thresholds(TREE, levels[:20_000], scores[:20_000], gold[:20_000], precision)
    for k in range(2):
        kept = scores[20_000:, k] >= found[k]
        right = levels[20_000:, k][kept] == TREE.ancestors[2][k]
        assert right.mean() == pytest.approx(precision, abs=0.03)  # kept, and no more than needed
        assert scores[20_000:, k][kept].mean() > precision  # scores alone would promise more


def test_few_coded_documents_promise_nothing():
    levels, scores = TREE.ancestors[[2] * 7], np.full((7, 2), 0.99)
    assert (thresholds(TREE, levels, scores, [2] * 7, 0.9) > 1).all()
    levels, scores = TREE.ancestors[[2] * 8], np.full((8, 2), 0.99)
    assert thresholds(TREE, levels, scores, [2] * 8, 0.9) == pytest.approx([0.99, 0.99])
    assert (thresholds(TREE, levels, scores, [2] * 7 + [4], 0.9) > 1).all()  # level scores: all
