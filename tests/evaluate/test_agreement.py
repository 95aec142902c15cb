"""Agreement against published values, brute force, scikit-learn and known intervals."""

import itertools
import math

import numpy as np
import pytest

from hierseed.evaluate.agreement import cohen_kappa, krippendorff_alpha, proportion

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: alpha is .743
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def by_pairs(codes):
    """The definition: disagreement of pairs inside documents against that of all pairs."""
    units = [[line[u] for line in codes if line[u] is not None] for u in range(len(codes[0]))]
    units = [unit for unit in units if len(unit) > 1]
    values = [value for unit in units for value in unit]
    n = len(values)
    observed = sum(
        sum(a != b for a, b in itertools.permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    expected = sum(a != b for a, b in itertools.permutations(values, 2)) / (n - 1)
    return 1 - observed / expected if expected else math.nan


def test_alpha_is_the_published_value():
    assert krippendorff_alpha(PUBLISHED).value == pytest.approx(0.743, abs=5e-4)


def test_alpha_is_the_definition_with_missing_codes():
    draw = np.random.default_rng(0)
    for _ in range(30):
        codes = draw.integers(0, 4, (int(draw.integers(2, 5)), 25)).tolist()
        codes = [[None if draw.random() < 0.25 else c for c in line] for line in codes]
        assert krippendorff_alpha(codes, resamples=10).value == pytest.approx(by_pairs(codes))


def test_alpha_does_not_depend_on_the_names_of_codes_or_the_order_of_documents():
    order = np.random.default_rng(1).permutation(12)
    renamed = [
        [None if line[i] is None else f"topic {line[i]}" for i in order] for line in PUBLISHED
    ]
    assert krippendorff_alpha(renamed).value == pytest.approx(krippendorff_alpha(PUBLISHED).value)


def test_perfect_agreement_and_none_at_all():
    assert krippendorff_alpha([[1, 2, 3], [1, 2, 3]]).value == 1
    assert math.isnan(krippendorff_alpha([[1, 1], [1, 1]]).value)  # no variation
    assert math.isnan(krippendorff_alpha([[1, None], [None, 2]]).value)
    draw = np.random.default_rng(2)
    chance = krippendorff_alpha(draw.integers(0, 3, (2, 4000)).tolist())
    assert abs(chance.value) < 0.05
    assert chance.low < 0 < chance.high


def test_the_interval_of_alpha_covers_the_truth():
    """Of 100 samples of 80 documents about 95 intervals hold the alpha of the whole."""
    draw = np.random.default_rng(3)
    truth = draw.integers(0, 4, 20_000)
    coders = [
        np.where(draw.random(20_000) < 0.15, draw.integers(0, 4, 20_000), truth) for _ in "ab"
    ]
    whole = krippendorff_alpha([c.tolist() for c in coders], resamples=2).value
    held = 0
    for _ in range(100):
        rows = draw.choice(20_000, 80, replace=False)
        found = krippendorff_alpha([c[rows].tolist() for c in coders], resamples=300)
        held += found.low <= whole <= found.high
    assert 88 <= held <= 100


def test_kappa_by_hand():
    # 20 both yes, 15 both no, 5 + 10 apart: Cohen's own kind of table, kappa .4
    one = ["y"] * 25 + ["n"] * 25
    two = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert cohen_kappa(one, two) == pytest.approx(0.4)
    assert cohen_kappa([*one, None], [*two, "y"]) == pytest.approx(0.4)
    assert math.isnan(cohen_kappa(["y"], ["y"]))


def test_wilson_interval_of_a_textbook():
    # 15 of 148: Newcombe (1998), table I: .0624 to .1605
    found = proportion([True] * 15 + [False] * 133)
    assert (found.low, found.high) == (
        pytest.approx(0.0624, abs=1e-4),
        pytest.approx(0.1605, abs=1e-4),
    )
    assert proportion([True] * 10).high == pytest.approx(1.0)
    assert proportion([]).n == 0


def test_weights_give_the_share_of_the_population():
    """Two strata of 900 and 100, ten of each drawn, 8 and 2 right: .9 * .8 + .1 * .2."""
    right = [True] * 8 + [False] * 2 + [True] * 2 + [False] * 8
    weights = [90.0] * 10 + [10.0] * 10
    found = proportion(right, weights)
    assert found.value == pytest.approx(0.74)
    assert found.low < proportion(right[:10]).value
    same = proportion(right, [3.0] * 20)
    assert (same.low, same.high) == pytest.approx(proportion(right)[1:3])
