import numpy as np
import pytest

from hierseed.errors import CorpusError
from hierseed.evaluate import score_left_out
from hierseed.evaluate.left_out import INSIDE
from hierseed.taxonomy import Taxonomy

KEPT = Taxonomy.from_paths(["A > B", "C > D"])
A, B, C, D = range(4)
FITTED = KEPT.with_others([A, C, -1])
OTHER_A, OTHER_C, OTHER = 4, 5, 6


def test_every_outcome_has_its_name():
    # six documents of a topic left out under A, one of each fate
    predicted = np.array([OTHER_A, A, OTHER_C, -1, B, C])
    result = score_left_out(FITTED, predicted, np.full(6, A))
    assert result.left_out == 6
    shares = (result.home_other, result.home_stopped, result.elsewhere_other, result.none)
    assert shares == pytest.approx((1 / 6,) * 4)
    assert result.listed == pytest.approx(2 / 6)
    assert result.home == pytest.approx(2 / 6)


def test_none_is_home_for_a_topic_left_out_at_level_one():
    result = score_left_out(FITTED, np.array([-1, OTHER, OTHER_A, B]), np.full(4, -1))
    assert result.home == pytest.approx(0.5)
    assert result.none == result.home_other == result.listed == pytest.approx(0.25)


def test_false_alarms_are_counted_on_the_kept_documents_only():
    predicted = np.array([B, OTHER_A, -1, D, OTHER_A])
    home = np.array([INSIDE, INSIDE, INSIDE, INSIDE, A])
    result = score_left_out(FITTED, predicted, home)
    assert (result.kept, result.false_alarm) == (4, 0.5)
    assert result.home == 1.0


def test_lengths_must_agree():
    with pytest.raises(CorpusError):
        score_left_out(FITTED, np.zeros(2, dtype=int), np.zeros(3, dtype=int))
