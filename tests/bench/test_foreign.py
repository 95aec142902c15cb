"""The harness for foreign documents: its scenarios, its measures and its detectors."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from hierseed import AnchoredHierSeed, Taxonomy
from hierseed.assignments import Assignments
from hierseed.core.mixture.accuracy import Share
from hierseed.evaluate.left_out import INSIDE
from hierseed.proposals import Proposal, Proposals, propose_topics
from hierseed_bench.commands.make import made
from hierseed_bench.data.dataset import Dataset
from hierseed_bench.foreign import run
from hierseed_bench.foreign.detectors import DETECTORS
from hierseed_bench.foreign.scenarios import LISTED, SCENARIOS, make_scenario
from hierseed_bench.foreign.table import tables
from hierseed_bench.runs.records import Records

TOPS, CHILDREN, EACH, WIDTH = 6, 3, 40, 24


@pytest.fixture(scope="module")
def dataset():
    """Six topics of level 1 with three leaves each; vectors lie around the leaves' centres."""
    rng = np.random.default_rng(0)
    paths = [f"T{i} > L{i}{j}" for i in range(TOPS) for j in range(CHILDREN)]
    taxonomy = Taxonomy.from_paths(paths)
    leaf = np.repeat([taxonomy.index(path) for path in paths], EACH)
    top = taxonomy.tree.ancestors[leaf, 0]
    centres = rng.normal(size=(len(taxonomy), WIDTH))
    X = 3 * centres[top] + 1.5 * centres[leaf] + rng.normal(size=(len(leaf), WIDTH))
    names = [str(i) for i in range(len(leaf))]
    labels = [[int(topic)] for topic in leaf]
    return Dataset("made", taxonomy, labels, names, names, X.astype(np.float32), "made")


@pytest.mark.parametrize("name", SCENARIOS)
def test_seeds_are_documents_of_listed_topics_and_foreign_ones_have_no_gold(dataset, name):
    made = make_scenario(dataset, name, 1, 4)
    assert not made.foreign[made.seeds].any()
    assert (made.gold[made.seeds] == made.seed_topics).all()
    assert ((made.gold < 0) == made.foreign).all()
    assert set(made.seed_topics) == set(np.flatnonzero(made.taxonomy.tree.is_leaf))
    assert np.bincount(made.seed_topics).max() == 4
    assert len(np.intersect1d(made.judged, made.seeds)) == 0
    np.testing.assert_allclose(np.linalg.norm(made.X, axis=1), 1, rtol=1e-5)


def test_few_lists_three_topics_of_level_1_and_draws_differ(dataset):
    listed = set()
    for draw in range(5):
        made = make_scenario(dataset, "few", draw, 4)
        tops = made.taxonomy.tree.children(-1)
        assert len(tops) == LISTED
        assert made.foreign.sum() == (TOPS - LISTED) * CHILDREN * EACH
        assert set(made.home[made.foreign]) == {-1}
        listed.add(tuple(made.taxonomy.paths[top] for top in tops))
    assert len(listed) > 1


def test_left_out_keeps_the_parent_as_home_and_closed_has_no_foreign_document(dataset):
    made = make_scenario(dataset, "leftout", 0, 4)
    names = np.array([dataset.taxonomy.paths[topic[0]] for topic in dataset.labels])
    for path, home in zip(names[made.foreign], made.home[made.foreign]):
        parent = path.split(" > ")[0]
        assert made.taxonomy.paths[home] == parent if home >= 0 else parent not in made.taxonomy
    assert not make_scenario(dataset, "closed", 0, 4).foreign.any()


def test_separation_is_counted_pair_by_pair():
    rng = np.random.default_rng(1)
    values = rng.integers(0, 12, 300).astype(float)
    foreign = rng.random(300) < 0.4
    found = run.separation(values, foreign)
    own, other = values[~foreign], values[foreign]
    wins = (own[:, None] > other).mean() + 0.5 * (own[:, None] == other).mean()
    assert found["auroc"] == pytest.approx(wins)
    best = max(t for t in np.unique(values) if (own < t).mean() <= run.FALSE_ALARM)
    assert found["kept_out"] == pytest.approx((other < best).mean())


def test_every_detector_separates_topics_that_lie_far_apart(dataset):
    made = make_scenario(dataset, "few", 0, 4)
    model = AnchoredHierSeed(made.taxonomy, n_jobs=1).fit(made.X, made.y)
    names = [name for name in DETECTORS if name not in ("belongs-below", "score")]
    found = run.judge_detectors(made, model, model.assign(made.X), names)
    low = {name: value["auroc"] for name, value in found.items() if value["auroc"] < 0.9}
    assert not low


def test_the_decision_is_counted_by_hand(dataset):
    made = make_scenario(dataset, "few", 0, 4)
    rows, n = made.judged, len(made.X)
    own = made.home[rows] == INSIDE
    topic = made.gold.copy()
    topic[rows[own][:30]] = -1  # false alarms
    topic[rows[~own][:50]] = made.seed_topics[0]  # foreign documents that are placed
    path = made.taxonomy.tree.ancestors[topic]
    zeros = np.zeros(path.shape, dtype=np.float32)
    placed = Assignments.ungraded(
        made.taxonomy, n, np.arange(n), topic, path, zeros, zeros, topic, np.zeros(n, dtype=bool)
    )
    found = run.judge_decision(made, placed)
    assert found["false_alarms"] == pytest.approx(30 / own.sum())
    assert found["kept_out"] == pytest.approx(1 - 50 / (~own).sum())
    assert found["home"] == found["kept_out"]
    assert found["leaf_accuracy"] == pytest.approx(1 - 30 / own.sum())
    sizes = np.bincount(topic[rows][topic[rows] >= 0])
    assert found["largest_topic"] == pytest.approx(sizes.max() / len(rows))


def test_a_run_is_recorded_once_and_shown(dataset, tmp_path, monkeypatch):
    class Ready:
        pass

    Ready.dataset = dataset
    monkeypatch.setattr(run, "ready", lambda shape: Ready)
    runs = run.plan(["cap"], ["few", "closed"], 2, detectors=("score", "ten-lines"))
    keys = []
    for _ in range(2):
        found = made(runs, run.run_one, tmp_path, False, True, lambda r: keys.append(r["key"]))
        assert [record["key"] for record in found] == [one.key for one in runs]
    assert keys == [one.key for one in runs]
    text = "\n".join(table.markdown() for table in tables(Records(tmp_path)))
    assert text.count("### ") == 5  # nothing is foreign in the closed world
    assert "nearest seed mean less background" in text


def test_proposals_are_judged_by_the_topic_most_of_their_documents_come_from(dataset):
    """By hand: one pure proposal, one with exactly half, one of a listed topic, one twice."""
    made = make_scenario(dataset, "few", 0, 4)
    first, second, third = np.unique(made.missing[made.missing >= 0])
    of = {topic: np.flatnonzero(made.missing == topic) for topic in (first, second, third, -1)}
    rows = [of[first][:10], np.r_[of[second][:5], of[third][:5]], of[-1][:10], of[first][10:30]]
    proposals = Proposals(Proposal(str(i), each, (), "", 1.0) for i, each in enumerate(rows))
    assert run.judge_proposals(made, proposals) == pytest.approx(1 / 3)
    assert run.judge_proposals(make_scenario(dataset, "closed", 0, 4), proposals) is None


def test_missing_topics_that_lie_apart_are_all_proposed(dataset):
    for draw in range(2):
        made = make_scenario(dataset, "few", draw, 8)
        model = AnchoredHierSeed(made.taxonomy).fit(made.X, made.y)
        placed = model.assign(made.X)
        share = model.foreign_share_.value
        found = propose_topics(placed, made.X, model.vectors_, TOPS - LISTED, share=share)
        assert run.judge_proposals(made, found) == 1.0


def test_expected_accuracy_is_compared_with_the_accuracy_counted_by_hand(dataset):
    scenario = make_scenario(dataset, "few", 0, 4)
    model = AnchoredHierSeed(scenario.taxonomy).fit(scenario.X, scenario.y)
    placed = model.assign(scenario.X)
    found = run.judge_expected(scenario, model, placed)
    assert [one["value"] for one in found] == [one.value for one in model.expected_accuracy_]
    tree, right, count = scenario.taxonomy.tree, [0, 0], [0, 0]
    for row in scenario.judged:
        for level, topic in enumerate(placed.levels[row]):
            if topic >= 0 and not placed.taxonomy.is_other[topic]:
                count[level] += 1
                gold = scenario.gold[row]
                right[level] += gold >= 0 and tree.ancestors[gold, level] == topic
    assert [one["accuracy"] for one in found] == [r / n for r, n in zip(right, count)]


def test_topics_are_compared_with_the_accuracy_counted_by_hand():
    """Six topics of 20 documents and one of 2, which counts for intervals only."""
    topic = np.append(np.repeat(np.arange(6), 20), [6, 6])
    hits = [2, 6, 10, 14, 18, 20]
    right = np.append(np.concatenate([np.arange(20) < n for n in hits]), [False, False])
    values = [0.2, 0.3, 0.5, 0.7, 0.6, 0.9]
    expected = [Share(value, value - 0.1, value + 0.1) for value in values] + [None]
    score = np.full(len(topic), 0.8)
    found = run.judge_topics(topic, right, score, expected, level=0.6)
    seen = np.array(hits) / 20
    assert (found["topics"], found["large_topics"]) == (7, 6)
    assert found["topics_inside"] == 6  # all but the fifth, and nothing is known of the seventh
    assert found["topic_width"] == pytest.approx((6 * 0.2 + 1.0) / 7)
    assert found["topic_distance"] == pytest.approx(np.abs(values - seen).sum())
    assert found["level_distance"] == pytest.approx(np.abs(0.6 - seen).sum())
    assert found["score_distance"] == pytest.approx(np.abs(0.8 - seen).sum())
    assert found["rank"] == pytest.approx(spearmanr(values, hits).statistic)
    assert run.judge_topics(topic[:20], right[:20], score[:20], expected, 0.6)["rank"] is None
