"""scikit-learn's own checks of an estimator; each that can't hold is listed with its reason.

The checks draw labels at will, and a leaf without seeds is an error here: so the rows they label
become seeds of two topics in turn.
"""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hierseed import HierSeed, Taxonomy, UnfitHierSeed

TAXONOMY = Taxonomy.from_paths(["A > a", "A > b"])


def in_turn(y):
    return None if y is None else np.asarray(y) * 0 + 1 + np.arange(len(y)) % 2


class SeededInTurn(HierSeed):
    def fit(self, X, y=None, **options):
        return super().fit(X, in_turn(y), **options)


class UnfitInTurn(UnfitHierSeed):
    def fit(self, X, y=None, **options):
        return super().fit(X, in_turn(y), **options)


EXPECTED = {
    "check_fit2d_1sample": "one document can't be a seed of two leaves; the error says so",
    "check_dtype_object": "a matrix of objects is refused with a CorpusError, not a TypeError",
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(
    [SeededInTurn(TAXONOMY), UnfitInTurn(TAXONOMY)],
    expected_failed_checks=lambda estimator: EXPECTED,
)
def test_sklearn_checks(estimator, check):
    check(estimator)
