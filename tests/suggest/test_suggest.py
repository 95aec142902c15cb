"""Suggestions: in doubt, one for many, no two alike; the same whatever the order of rows."""

import numpy as np
import pytest

import hierseed.suggestions as module
from hierseed.assignments import Assignments
from hierseed.errors import CorpusError, ParameterError
from hierseed.suggestions import suggest
from hierseed.taxonomy import Taxonomy

TAXONOMY = Taxonomy.from_paths(["A > B", "A > C", "D"]).with_others([0])
B, C, D, OTHER = 1, 2, 3, 4


def assignments(labels, score, *, runner_up=None, distance=None, seeds=()):
    labels = np.asarray(labels)
    n, path = len(labels), TAXONOMY.tree.ancestors[labels]
    score = np.where(path >= 0, np.asarray(score, dtype=float)[:, None], np.nan)
    away = np.ones(n) if distance is None else np.asarray(distance, dtype=float)
    score[labels < 0, 0] = 0
    return Assignments.ungraded(
        TAXONOMY, n, np.arange(n), labels, path, np.repeat(away[:, None], 2, axis=1), score,
        np.full(n, -1) if runner_up is None else np.asarray(runner_up),
        np.isin(np.arange(n), seeds),
    )  # fmt: skip


@pytest.fixture
def corpus():
    """200 sure documents of B, C and D; 60 torn between B and C; 40 alike that nobody wants."""
    random = np.random.default_rng(0)
    centres = np.array([[4.0, 0, 0], [0, 4, 0], [-4, 0, 0], [2, 2, 0], [0, 0, 9]])
    group = np.repeat([0, 1, 2, 3, 4], [70, 70, 60, 60, 40])
    X = centres[group] + random.normal(size=(300, 3)) * 0.5
    labels = np.array([B, C, D, B, -1])[group]
    score = np.array([0.98, 0.98, 0.98, 0.5, 0.0])[group] + random.random(300) * 0.01
    runner_up = np.array([C, B, B, C, D])[group]
    distance = np.array([0.5, 0.5, 0.5, 1, 6])[group] + random.random(300) * 0.1
    return (
        group,
        X,
        assignments(labels, score, runner_up=runner_up, distance=distance, seeds=[0, 150]),
    )


def test_documents_in_doubt_come_first_and_each_kind_is_heard(corpus):
    group, X, found = corpus
    chosen = suggest(found, X, 8)
    assert len(chosen) == len(set(chosen.row)) == 8
    assert set(group[chosen.row]) >= {3, 4}
    assert np.isin(group[chosen.row], [3, 4]).mean() >= 0.75
    kinds = dict(zip(group[chosen.row], chosen.kind))
    assert kinds[3] == "between"
    assert kinds[4] == "unexplained"


def test_reasons_name_the_topics(corpus):
    _, X, found = corpus
    table = suggest(found, X, 8).to_frame([f"d{i}" for i in range(300)])
    between = table[table["kind"] == "between"].iloc[0]
    assert "between 'A > B' and 'A > C'" in between["reason"]
    lost = table[table["kind"] == "unexplained"].iloc[0]
    assert "belongs to no listed topic" in lost["reason"]
    assert lost["placed"] == ""
    assert table["id"].str.startswith("d").all()


def test_a_document_that_is_sure_itself_is_not_called_torn(corpus):
    group, X, found = corpus
    surer = assignments(
        found.labels, np.where(group == 3, 0.8, 0.98), runner_up=found.runner_up,
        distance=found.distance[:, 0],
    )  # fmt: skip
    chosen = suggest(surer, X, 8)
    first = int(np.flatnonzero(group[chosen.row] == 3)[0])
    assert chosen.kind[first] == "likely"
    assert chosen.reasons[first].startswith("likely 'A > B', next 'A > C'; represents ")


def test_similar_counts_the_documents_in_doubt(corpus):
    group, X, found = corpus
    chosen = suggest(found, X, 8)
    lost = chosen.similar[group[chosen.row] == 4].sum()
    assert 25 <= lost <= 42
    assert chosen.similar.sum() <= 115


def test_labelled_documents_are_not_suggested(corpus):
    _, X, found = corpus
    labelled = np.arange(200, 300)
    chosen = suggest(found, X, 30, labelled=labelled)
    assert not set(chosen.row) & {0, 150, *labelled}
    every = suggest(found, X, 10_000)
    assert set(every.row) == set(range(300)) - {0, 150}
    assert len(suggest(found, X, 5, labelled=np.arange(300))) == 0


def test_copies_of_one_document_are_suggested_once():
    random = np.random.default_rng(1)
    X = np.concatenate([np.ones((200, 4)), random.normal(size=(50, 4)) * 3])
    found = assignments([B] * 250, [0.4] * 250, runner_up=[C] * 250)
    chosen = suggest(found, X, 8, per_topic=8)
    assert (chosen.row < 200).sum() == 1


def test_the_order_of_rows_does_not_matter(corpus):
    _, X, found = corpus
    order = np.random.default_rng(3).permutation(300)
    shuffled = assignments(
        found.labels[order],
        found.at(found.score)[order],
        runner_up=found.runner_up[order],
        distance=found.distance[order, 0],
        seeds=np.flatnonzero(found.is_seed[order]),
    )
    assert order[suggest(shuffled, X[order], 8).row].tolist() == suggest(found, X, 8).row.tolist()


def test_one_topic_does_not_fill_the_table(corpus):
    _, X, found = corpus
    few = suggest(found, X, 6, per_topic=2)
    assert np.unique(few.topic, return_counts=True)[1].max() == 2
    only = assignments([B] * 50, [0.4] * 50)
    assert len(suggest(only, X[:50], 5, per_topic=2)) == 2
    assert len(suggest(only, X[:50], 5)) == 5  # the default gives way where nothing else is left


def test_a_large_corpus_is_sampled_by_doubt(corpus, monkeypatch):
    group, X, found = corpus
    monkeypatch.setattr(module, "POOL", 90)
    chosen = suggest(found, X, 8)
    assert np.isin(group[chosen.row], [3, 4]).mean() >= 0.75
    assert 25 <= chosen.similar[group[chosen.row] == 4].sum() <= 60


def test_an_other_topic_is_named_by_its_parent():
    X = np.random.default_rng(0).normal(size=(30, 2))
    found = assignments([OTHER] * 30, [0.9] * 30)
    chosen = suggest(found, X, 2)
    assert set(chosen.kind) == {"unexplained"}
    assert "fits no listed topic of 'A'" in chosen.reasons[0]


def test_faulty_calls_are_refused(corpus):
    _, X, found = corpus
    with pytest.raises(CorpusError, match="300 documents assigned but 299 vectors"):
        suggest(found, X[:-1])
    with pytest.raises(ParameterError, match="at least 1"):
        suggest(found, X, 0)
