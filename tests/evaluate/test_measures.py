"""Each measure against an independent oracle, and the properties all of them share."""

from importlib import import_module
from itertools import pairwise

import bcubed as bcubed_oracle
import numpy as np
import pytest
from hiclass import metrics as hiclass_metrics
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import accuracy_score, f1_score, homogeneity_completeness_v_measure

from hierseed.core.tree import Tree
from hierseed.errors import CorpusError
from hierseed.evaluate import accuracy, bcubed, hierarchical, macro_f1, v_measure

hard = st.integers(1, 40).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-1, 5), min_size=n, max_size=n)] * 2)
)
several = st.integers(1, 14).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.sets(st.integers(0, 4), min_size=1, max_size=3), min_size=n, max_size=n)] * 2
    )
)


def count_pairs(gold, predicted):
    """B-cubed as it is defined: for each document look at every other one."""
    n = len(gold)
    precision = recall = 0.0
    for i in range(n):
        mates = [j for j in range(n) if predicted[j] == predicted[i]]
        kin = [j for j in range(n) if gold[j] == gold[i]]
        both = len(set(mates) & set(kin))
        precision += both / len(mates) / n
        recall += both / len(kin) / n
    return precision, recall


@given(hard)
def test_bcubed_counts_pairs(labels):
    gold, predicted = labels
    result = bcubed(gold, predicted)
    assert result[:2] == pytest.approx(count_pairs(gold, predicted))
    assert result.f1 == pytest.approx(bcubed_oracle.fscore(*result[:2]))


@given(several)
@settings(max_examples=150)
def test_extended_bcubed_is_that_of_the_bcubed_package(labels):
    gold, predicted = ([sorted(labels) for labels in side] for side in labels)
    wanted = {i: set(labels) for i, labels in enumerate(gold)}
    given_ = {i: set(labels) for i, labels in enumerate(predicted)}
    result = bcubed(gold, predicted)
    assert result.precision == pytest.approx(bcubed_oracle.precision(given_, wanted))
    assert result.recall == pytest.approx(bcubed_oracle.recall(given_, wanted))


@pytest.mark.parametrize("rows", [1, 3])
def test_extended_bcubed_does_not_depend_on_the_block(rows, monkeypatch):
    rng = np.random.default_rng(0)
    gold = [rng.choice(6, rng.integers(1, 4), replace=False).tolist() for _ in range(80)]
    predicted = [rng.choice(5, rng.integers(1, 3), replace=False).tolist() for _ in range(80)]
    whole = bcubed(gold, predicted)
    monkeypatch.setattr(import_module("hierseed.evaluate.measures"), "ROWS", rows)
    assert bcubed(gold, predicted) == pytest.approx(whole)


@given(hard)
def test_v_measure_is_that_of_sklearn(labels):
    gold, predicted = labels
    assert v_measure(gold, predicted) == pytest.approx(
        homogeneity_completeness_v_measure(gold, predicted), abs=1e-9
    )


def test_v_measure_shares_out_the_vote_of_a_document():
    # a document with two gold labels is two half documents: double every weight to see it
    gold, predicted = [[0, 1], [0], [1], [2]], [0, 0, 1, 1]
    spread = [0, 1, 0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 1, 1, 1, 1]
    assert v_measure(gold, predicted).v == pytest.approx(v_measure(*spread).v)


@given(hard)
def test_accuracy_and_macro_f1_are_those_of_sklearn(labels):
    gold, predicted = labels
    assert accuracy(gold, predicted) == pytest.approx(accuracy_score(gold, predicted))
    wanted = f1_score(gold, predicted, labels=sorted(set(gold)), average="macro", zero_division=0)
    assert macro_f1(gold, predicted) == pytest.approx(wanted)


def test_macro_f1_with_several_labels_is_that_of_sklearn():
    rng = np.random.default_rng(1)
    gold, predicted = rng.random((2, 60, 5)) < 0.4
    gold[:, 0] |= ~gold.any(axis=1)
    predicted[:, 1] |= ~predicted.any(axis=1)
    lists = [[np.flatnonzero(row).tolist() for row in side] for side in (gold, predicted)]
    assert macro_f1(*lists) == pytest.approx(f1_score(gold, predicted, average="macro"))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_hierarchical_is_that_of_hiclass_on_qualified_names(seed):
    rng = np.random.default_rng(seed)
    tree = Tree([-1, -1, 0, 0, 1, 2, 2, 4])
    gold, predicted = rng.integers(0, len(tree), (2, 25))
    tables = [tree.ancestors[labels] for labels in (gold, predicted)]
    names = [np.where(table < 0, "", table.astype(str)).astype(object) for table in tables]
    result = hierarchical(tree, tables[1], gold)
    assert result.precision == pytest.approx(hiclass_metrics.precision(*names))
    assert result.recall == pytest.approx(hiclass_metrics.recall(*names))
    assert result.f1 == pytest.approx(hiclass_metrics.f1(*names))


def test_hierarchical_merges_the_ancestors_of_several_labels():
    tree = Tree([-1, 0, 0])
    result = hierarchical(tree, np.array([[0, 1]]), [[1, 2]])
    assert result[:2] == pytest.approx((1.0, 2 / 3))  # wanted {0, 1, 2}, given {0, 1}


# ------------------------------------------------------------------ properties

MEASURES = {
    "bcubed": lambda gold, predicted: bcubed(gold, predicted).f1,
    "v_measure": lambda gold, predicted: v_measure(gold, predicted).v,
    "accuracy": accuracy,
    "macro_f1": macro_f1,
}
GROUPING = ["bcubed", "v_measure"]  # these see groups, not names


def draw(rng, n=60):
    gold = [rng.choice(6, rng.integers(1, 3), replace=False).tolist() for _ in range(n)]
    return gold, [rng.choice(5, rng.integers(1, 3), replace=False).tolist() for _ in range(n)]


@pytest.mark.parametrize("name", MEASURES)
def test_perfect_is_one_and_all_lie_in_the_unit_interval(name):
    gold, predicted = draw(np.random.default_rng(2))
    assert 0 <= MEASURES[name](gold, predicted) < 1
    one_each = [labels[0] for labels in gold]
    assert MEASURES[name](one_each, one_each) == pytest.approx(1.0)


@pytest.mark.parametrize("name", MEASURES)
def test_row_order_and_copies_change_nothing(name):
    rng = np.random.default_rng(3)
    gold, predicted = draw(rng)
    score = MEASURES[name](gold, predicted)
    order = rng.permutation(len(gold))
    assert MEASURES[name]([gold[i] for i in order], [predicted[i] for i in order]) == pytest.approx(
        score
    )
    assert MEASURES[name](gold * 3, predicted * 3) == pytest.approx(score)


@pytest.mark.parametrize("name", GROUPING)
def test_grouping_measures_do_not_see_names(name):
    rng = np.random.default_rng(4)
    gold, predicted = draw(rng)
    names = rng.permutation(50)
    renamed = [[int(names[c]) for c in labels] for labels in predicted]
    assert MEASURES[name](gold, renamed) == pytest.approx(MEASURES[name](gold, predicted))


@pytest.mark.parametrize("name", GROUPING)
def test_swapping_sides_swaps_precision_and_recall(name):
    gold, predicted = draw(np.random.default_rng(5))
    measure = {"bcubed": bcubed, "v_measure": v_measure}[name]
    a, b = measure(gold, predicted), measure(predicted, gold)
    assert (a[0], a[1], a[2]) == pytest.approx((b[1], b[0], b[2]))


def test_splitting_a_cluster_never_lowers_precision_or_raises_recall():
    rng = np.random.default_rng(6)
    gold = rng.integers(0, 4, 100)
    steps = [np.zeros(100, dtype=int)]
    for bit in range(4):
        steps.append(steps[-1] * 2 + rng.integers(0, 2, 100) * (bit + 1))
    scores = [bcubed(gold, step) for step in steps]
    assert all(b.precision >= a.precision and b.recall <= a.recall for a, b in pairwise(scores))


@pytest.mark.parametrize("labels", [[0.5, 1.0], ["a", "b"], [-2, 0]])
def test_labels_that_are_no_ids_are_refused(labels):
    with pytest.raises(CorpusError):
        bcubed([0, 1], labels)


def test_different_lengths_are_refused_with_both_numbers():
    with pytest.raises(CorpusError, match=r"3 documents .* 2 have"):
        v_measure([0, 1, 2], [0, 1])


def test_more_clusters_than_a_dense_count_can_hold():
    n = 8_000  # n x n / 2 counts exceed the limit of a dense table
    single, pairs = np.arange(n), np.arange(n) // 2
    assert tuple(bcubed(single, single)) == (1.0, 1.0, 1.0)
    precision, recall, _ = bcubed(single, pairs)
    assert (precision, recall) == (0.5, 1.0)
    assert accuracy(single, pairs) == pytest.approx(1 / n)
    assert v_measure(single, pairs).completeness == pytest.approx(1.0)
