"""Both protocols, worked out by hand on small trees, and against plain loops."""

from collections import Counter
from itertools import product

import bcubed as bcubed_oracle
import numpy as np
import pytest
from sklearn.metrics import v_measure_score

from hierseed.errors import CorpusError
from hierseed.evaluate import hierarchical, score
from hierseed.taxonomy import Taxonomy

TAXONOMY = Taxonomy.from_paths(["A > B > C", "A > B > D", "A > E", "F > G", "H"])
A, B, C, D, E, F, G, H = range(8)
TREE = TAXONOMY.tree


def cut(topic, level, path=TREE.path):
    """The cluster of a topic at a level, in words."""
    if topic < 0:
        return "None"
    names = path(topic)
    return names[level - 1] if level <= len(names) else f"stopped at {names[-1]}"


def test_each_level_is_the_tree_cut_at_that_depth():
    rng = np.random.default_rng(0)
    gold, predicted = rng.integers(-1, 8, (2, 200))
    result = score(TAXONOMY, TREE.ancestors[predicted], gold)
    for k, level in enumerate(result.all.levels, start=1):
        names = [[cut(topic, k) for topic in side] for side in (gold, predicted)]
        assert level.v_measure == pytest.approx(v_measure_score(*names))
        assert level.accuracy == pytest.approx(np.mean([a == b for a, b in zip(*names)]))
        assert level.topics == len(set(names[0]))
        assert level.clusters == len(set(names[1]))
        reaches = [t >= 0 and len(TREE.path(t)) >= k for t in predicted]
        assert level.placed == pytest.approx(np.mean(reaches))


def sets(topics_of, level, path=TREE.path):
    """The clusters of each document at a level; of its topics only the most specific count."""
    result = {}
    for document, topics in enumerate(topics_of):
        real = {topic for topic in topics if topic >= 0}
        implied = {above for topic in real for above in path(topic)[:-1]}
        kept = real - implied or {-1}
        result[document] = {cut(topic, level, path) for topic in kept}
    return result


def v_measure_by_shares(wanted, given):
    """Entropies of a table in which every document has one vote, shared out over its cells."""
    table = Counter()
    for i in wanted:
        for pair in product(wanted[i], given[i]):
            table[pair] += 1 / (len(wanted[i]) * len(given[i])) / len(wanted)
    rows, columns = Counter(), Counter()
    for (row, column), share in table.items():
        rows[row] += share
        columns[column] += share
    h, k, hk = (-sum(p * np.log(p) for p in c.values()) for c in (rows, columns, table))
    a, b = (h + k - hk) / h, (h + k - hk) / k
    return 2 * a * b / (a + b)


@pytest.mark.parametrize("seed", range(4))
def test_several_labels_and_several_placements_are_scored_as_sets(seed):
    """At every level, by every measure; inner topics, Others and None among them."""
    rng = np.random.default_rng(seed)
    fitted = TAXONOMY.with_others([A, B, F, -1]).tree
    gold = [rng.choice(8, rng.integers(1, 4), replace=False).tolist() for _ in range(60)]
    given = [rng.choice(12, rng.integers(1, 4), replace=False).tolist() for _ in range(60)]
    given[7], given[8] = [-1], [-1, C]
    rows = np.repeat(np.arange(60), [len(topics) for topics in given])
    order = rng.permutation(len(rows))  # rows may come in any order
    places = fitted.ancestors[np.concatenate(given)]
    result = score(TAXONOMY, places[order], gold, rows=rows[order]).all
    for k, level in enumerate(result.levels, start=1):
        wanted, found = sets(gold, k), sets(given, k, fitted.path)
        assert level.bcubed_precision == pytest.approx(bcubed_oracle.precision(found, wanted))
        assert level.bcubed_recall == pytest.approx(bcubed_oracle.recall(found, wanted))
        assert level.v_measure == pytest.approx(v_measure_by_shares(wanted, found))
        shares = [len(found[i] & wanted[i]) / len(found[i]) for i in found]
        assert level.accuracy == pytest.approx(np.mean(shares))
    above = [
        {(i, t) for i, own in enumerate(side) for topic in own if topic >= 0 for t in path(topic)}
        for side, path in ((gold, TREE.path), (given, fitted.path))
    ]
    right = len(above[0] & above[1])
    assert result.hierarchical.precision == pytest.approx(right / len(above[1]))
    assert result.hierarchical.recall == pytest.approx(right / len(above[0]))


def test_a_topic_above_another_one_of_the_document_adds_nothing():
    rows = np.array([0, 0, 1, 2])
    plain = score(TAXONOMY, TREE.ancestors[[C, C, E, G]], [[C], [E], [G]], rows=rows)
    told = score(TAXONOMY, TREE.ancestors[[B, C, E, G]], [[A, C, B], [E, A], [G]], rows=rows)
    assert told == plain
    assert plain.all.mean.bcubed_f1 == plain.all.hierarchical.f1 == 1.0


def test_paper_protocol_leaves_out_none_and_adds_the_root():
    gold = np.array([C, C, E, G, G])
    predicted = np.array([C, -1, E, G, -1])
    result = score(TAXONOMY, TREE.ancestors[predicted], gold)
    assert result.coverage == pytest.approx(0.6)
    assert result.paper.documents == 3
    assert result.all.documents == 5
    assert result.paper.mean.bcubed_f1 == pytest.approx(1.0)  # all that is left is right
    assert result.all.mean.bcubed_f1 < 0.9


def test_the_root_is_worth_its_share_of_the_mean():
    gold = np.array([C, D, E, G, H, H])
    predicted = np.array([D, D, E, G, G, H])
    result = score(TAXONOMY, TREE.ancestors[predicted], gold)
    assert result.coverage == 1.0
    plain = sum(level.bcubed_f1 for level in result.all.levels)
    assert result.all.mean.bcubed_f1 == pytest.approx(plain / 3)
    assert result.paper.mean.bcubed_f1 == pytest.approx((plain + 1) / 4)


def test_both_protocols_agree_with_scoring_the_covered_documents_alone():
    rng = np.random.default_rng(3)
    gold, predicted = rng.integers(0, 8, 150), rng.integers(-1, 8, 150)
    covered = predicted >= 0
    whole = score(TAXONOMY, TREE.ancestors[predicted], gold)
    part = score(TAXONOMY, TREE.ancestors[predicted[covered]], gold[covered])
    for a, b in zip(whole.paper.levels, part.all.levels):
        assert a.bcubed_f1 == pytest.approx(b.bcubed_f1)
        assert a.v_measure == pytest.approx(b.v_measure)
        assert a.macro_f1 == pytest.approx(b.macro_f1)
    assert whole.paper.hierarchical == pytest.approx(part.all.hierarchical)


def test_others_are_clusters_of_their_own_and_cost_only_their_own_level():
    fitted = TAXONOMY.with_others([B, -1])
    other_of_b, other = 8, 9
    predicted = np.array([C, other_of_b, other, G])
    levels = fitted.tree.ancestors[predicted]
    result = score(TAXONOMY, levels, np.array([C, D, H, G]))
    first, _, third = result.all.levels
    assert first.accuracy == pytest.approx(0.75)
    assert third.accuracy == pytest.approx(0.5)
    assert first.clusters == 3
    assert first.placed == pytest.approx(0.75)
    assert third.placed == pytest.approx(0.25)
    assert result.all.hierarchical == pytest.approx(
        hierarchical(TREE, levels, np.array([C, D, H, G]))
    )
    assert result.coverage == 1.0  # an Other is an assignment


def test_ancestor_scores_equal_the_direct_count():
    rng = np.random.default_rng(4)
    gold = [rng.choice(8, rng.integers(0, 3), replace=False).tolist() for _ in range(120)]
    fitted = TAXONOMY.with_others([A, B, F])
    levels = fitted.tree.ancestors[rng.integers(-1, 11, 120)]
    whole = score(TAXONOMY, levels, gold).all.hierarchical
    assert whole == pytest.approx(hierarchical(TREE, levels, gold))


def test_clusters_without_names_are_grouped_but_not_named():
    gold = np.array([C, C, E, G])
    levels = np.array([[5, 5, 5], [5, 5, 5], [5, 3, -1], [2, 5, 3]])
    result = score(TAXONOMY, levels, gold, named=False)
    assert result.all.mean.accuracy is None
    assert result.all.hierarchical is None
    # level 3: "stopped at cluster 3 of level 2" must not meet cluster 3 of level 3
    assert [level.clusters for level in result.all.levels] == [2, 2, 3]
    assert result.all.levels[0].bcubed_f1 == pytest.approx(1.0)


def test_nothing_assigned_and_nothing_given_are_answered():
    none = score(TAXONOMY, np.full((4, 3), -1), np.array([C, C, E, G]))
    assert none.coverage == 0.0
    assert none.paper.documents == 0
    assert none.all.mean.accuracy == 0.0
    assert none.all.hierarchical.precision == 0.0
    empty = score(TAXONOMY, np.empty((0, 3), dtype=int), np.empty(0, dtype=int))
    assert empty.all.mean.bcubed_f1 == 0.0


def test_the_record_is_plain_json():
    import json

    record = score(TAXONOMY, TREE.ancestors[[C, G]], [C, H]).to_dict()
    text = json.dumps(record, allow_nan=False)
    assert json.loads(text)["all"]["levels"][0]["accuracy"] == 0.5
    assert set(record) == {"coverage", "all", "paper"}


@pytest.mark.parametrize(
    ("levels", "gold", "said"),
    [
        (np.zeros((2, 2)), [0, 1], "3 levels"),
        (np.zeros((3, 3), dtype=int), [0, 1], "3 rows of predictions for 2"),
        (np.zeros((2, 3), dtype=int), [0, 99], "topic 99"),
    ],
)
def test_shapes_and_ids_that_do_not_fit_are_refused(levels, gold, said):
    with pytest.raises(CorpusError, match=said):
        score(TAXONOMY, levels, gold)


def test_rows_that_do_not_fit_the_predictions_are_refused():
    levels, gold = np.zeros((2, TREE.height), dtype=int), [0, 0]
    with pytest.raises(CorpusError, match=r"shape \(3,\) for 2 rows.*a\.path.*rows=a\.row"):
        score(TREE, levels, gold, rows=np.array([0, 0, 1]))
    with pytest.raises(CorpusError, match=r"documents 0 … 2, but .* 0 … 1"):
        score(TREE, levels, gold, rows=np.array([0, 2]))
