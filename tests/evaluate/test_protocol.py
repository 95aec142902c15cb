"""Both protocols, worked out by hand on small trees, and against plain loops."""

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


def cut(topic, level):
    """The cluster of a topic at a level, in words."""
    if topic < 0:
        return "None"
    path = TREE.path(topic)
    return path[level - 1] if level <= len(path) else f"stopped at {path[-1]}"


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


def test_several_labels_become_sets_at_each_level():
    rng = np.random.default_rng(1)
    gold = [rng.choice(8, rng.integers(1, 4), replace=False).tolist() for _ in range(60)]
    predicted = rng.integers(-1, 8, 60)
    result = score(TAXONOMY, TREE.ancestors[predicted], gold)
    for k, level in enumerate(result.all.levels, start=1):
        wanted = {i: {cut(topic, k) for topic in topics} for i, topics in enumerate(gold)}
        given = {i: {cut(topic, k)} for i, topic in enumerate(predicted)}
        assert level.bcubed_precision == pytest.approx(bcubed_oracle.precision(given, wanted))
        assert level.bcubed_recall == pytest.approx(bcubed_oracle.recall(given, wanted))
        hits = [given[i] <= wanted[i] for i in given]
        assert level.accuracy == pytest.approx(np.mean(hits))


def test_several_rows_a_document_become_sets_too():
    rows = np.array([0, 0, 1, 2, 2])
    topics = np.array([C, G, E, C, D])
    gold = [[C, G], [E], [C]]
    result = score(TAXONOMY, TREE.ancestors[topics], gold, rows=rows)
    for k, level in enumerate(result.all.levels, start=1):
        wanted = {i: {cut(topic, k) for topic in labels} for i, labels in enumerate(gold)}
        given = {i: {cut(t, k) for t in topics[rows == i]} for i in range(3)}
        assert level.bcubed_precision == pytest.approx(bcubed_oracle.precision(given, wanted))
        assert level.bcubed_recall == pytest.approx(bcubed_oracle.recall(given, wanted))
    assert result.all.levels[2].accuracy == pytest.approx((1 + 1 + 0.5) / 3)


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
