"""Differences, intervals and ranks, against scipy, published tables and hand counts."""

import numpy as np
import pytest
from scipy.stats import bootstrap

from hierseed import Taxonomy
from hierseed.errors import CorpusError
from hierseed_bench.data.dataset import Dataset
from hierseed_bench.tables import statistics
from hierseed_bench.tables.errors import Analysis

NEMENYI = {3: 2.343, 4: 2.569, 5: 2.728, 10: 3.164}  # Demsar 2006, Table 5, alpha .05


def test_pairs_are_of_the_same_set_and_draw():
    ours = {("a", 0): 0.5, ("a", 1): 0.7, ("b", 0): 0.4, ("c", 0): 1.0}
    theirs = {("a", 1): 0.6, ("a", 0): 0.3, ("b", 0): 0.5, ("d", 0): 0.0}
    found = statistics.paired(ours, theirs)
    assert [np.round(each, 6).tolist() for each in found] == [[0.2, 0.1], [-0.1]]


def test_an_interval_is_that_of_scipys_bootstrap_where_there_is_one_set():
    values = np.random.default_rng(0).normal(0.05, 0.1, 40)
    mean, low, high = statistics.interval([values])
    theirs = bootstrap((values,), np.mean, method="percentile", rng=1).confidence_interval
    assert mean == pytest.approx(values.mean())
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.003)


def test_sets_that_disagree_widen_the_interval():
    """Every set is sure of itself; only the draw of sets can tell."""
    _, low, high = statistics.interval([[0.1] * 5, [-0.1] * 5, [0.1] * 5, [-0.1] * 5])
    assert low < -0.05
    assert high > 0.05
    assert statistics.interval([[0.1] * 5] * 4)[1:] == pytest.approx((0.1, 0.1))


@pytest.mark.parametrize(("k", "q"), NEMENYI.items())
def test_the_critical_difference_is_that_of_the_published_table(k, q):
    methods = statistics.MAIN[:k]
    scores = np.random.default_rng(k).random((k, len(statistics.SETS)))
    found = {
        m: {(s, 0): scores[i, j] for j, s in enumerate(statistics.SETS)}
        for i, m in enumerate(methods)
    }
    ranks = statistics.rank(found, methods)
    n = len(statistics.SETS)
    assert ranks.critical == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * n)), rel=1e-3)
    by_hand = [[1 + sum(row > row[i]) for i in range(k)] for row in scores.T]
    np.testing.assert_allclose(ranks.mean, np.mean(by_hand, axis=0))


def test_ranks_need_three_methods():
    with pytest.raises(CorpusError, match="three methods"):
        statistics.rank({"hierseed": {("cap", 0): 1.0}, "unfit": {("cap", 0): 0.5}})


def test_errors_are_reported_by_level_and_kind():
    taxonomy = Taxonomy.from_paths(["A > a1", "A > a2", "B > b1", "B > b2"])
    a1, a2, b1 = (taxonomy.index(path) for path in ("A > a1", "A > a2", "B > b1"))
    points = {a1: [9, 1, 0], a2: [9, -1, 0], b1: [-9, 1, 0], taxonomy.index("B > b2"): [-9, -1, 0]}
    leaves = np.repeat(list(points), 10)
    X = np.array([points[leaf] for leaf in leaves], dtype=np.float32)
    X[3] = points[a2]  # a document of a1 that looks like one of a2
    names = [str(i) for i in range(len(X))]
    dataset = Dataset("made", taxonomy, [[int(t)] for t in leaves], names, names, X)
    other = len(taxonomy)
    said = leaves.copy()
    said[[1, 3]] = a2  # confused with a sibling; cannot be told
    said[2] = b1  # wrong at level 1
    said[4] = -1
    path = np.append(taxonomy.tree.ancestors, [[taxonomy.index("A"), other], [-1, -1]], axis=0)[
        said
    ]
    path[5] = [taxonomy.index("A"), other]
    rows = list(range(len(X)))
    found = Analysis(dataset, path, [[int(t)] for t in leaves], rows)
    assert found.kind[1:6].tolist() == [
        "sibling",
        "sibling",
        "uninformative vector",
        "None",
        "Other",
    ]
    assert found.level[1:6].tolist() == [1, 0, 1, 0, 1]
    assert found.is_wrong.sum() == 5
    assert "| 1     | 40        | 2 " in found.by_level()
    assert "*3* is A > a1, placed in A > a2" in found.examples(1)
