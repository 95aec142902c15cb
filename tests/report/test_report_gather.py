"""What the page shows, against brute force over all documents."""

import json

import numpy as np
import pytest

from hierseed.errors import CorpusError
from hierseed.report import selection
from hierseed.report.gather import Limits, gather


@pytest.fixture(scope="module")
def found(case):
    documents = zip(case.ids, case.texts)
    return gather(case.model, case.X, documents, title="T", assignments=case.assignments)


def test_counts_add_up(case, found):
    topics = found["topics"]
    tops = [t for t, p in enumerate(topics["parent"]) if p < 0]
    assert sum(topics["count"][t] for t in tops) + found["none"] == found["n"] == len(case.X)
    for t, count in enumerate(topics["count"]):
        below = [c for c, p in enumerate(topics["parent"]) if p == t]
        assert count == topics["own"][t] + sum(topics["count"][c] for c in below)
        assert count == (case.assignments.levels == t).sum()
    assert found["seeds"] == 15


def test_central_documents_are_the_nearest(case, found):
    docs = found["docs"]
    for topic, listed in enumerate(found["topics"]["central"]):
        members = np.flatnonzero((case.assignments.levels == topic).any(axis=1))
        away = np.linalg.norm(case.X[members] - case.model.vectors_[topic], axis=1)
        nearest = [case.ids[i] for i in members[np.argsort(away)][:6]]
        assert [docs["id"][d] for d in listed] == nearest


def test_borderline_documents_have_the_lowest_scores(case, found):
    level = case.model.taxonomy_.tree.level
    score = case.assignments.score[case.assignments.primary]
    for topic, listed in enumerate(found["topics"]["border"]):
        members = np.flatnonzero((case.assignments.levels == topic).any(axis=1))
        rows = [case.ids.index(found["docs"]["id"][d]) for d in listed]
        assert set(rows) <= set(members)
        if rows and len(members) > 60:
            worst = np.sort(score[members, level[topic] - 1])
            assert score[rows, level[topic] - 1].max() <= worst[20]


def test_words_are_the_planted_ones(case, found):
    taxonomy = case.model.taxonomy_
    for name, planted in {"Fish": "salmon", "Birds": "feather", "Stars": "comet"}.items():
        topic = taxonomy.names.index(name)
        assert planted in found["topics"]["words"][topic]


def test_rivals_are_second_choices(case):
    placements = selection.first_placements(case.assignments)
    rows = np.arange(len(case.X))
    vectors = case.model.vectors_
    second = selection.second_choices(placements, rows, case.X, vectors)
    top = case.model.taxonomy_.tree.at_level(1)
    for row in rows[::17]:
        others = [t for t in top if t != placements.path[row, 0]]
        away = [np.linalg.norm(case.X[row] - vectors[t]) for t in others]
        assert second[row, 0] == others[int(np.argmin(away))]
    assert (second != placements.path)[placements.path >= 0].all()
    for topic, rivals in enumerate(selection.rival_topics(placements, second, vectors, 3)):
        assert topic not in [t for t, _ in rivals]
        assert sum(share for _, share in rivals) <= 1.001


def test_a_corpus_of_another_length_is_refused(case):
    with pytest.raises(CorpusError, match="229 documents but 230 vectors"):
        gather(case.model, case.X, list(zip(case.ids, case.texts))[:-1])
    with pytest.raises(CorpusError, match="231 documents but 230 vectors"):
        gather(case.model, case.X, [*zip(case.ids, case.texts), ("x", "y")])


def test_limits_bound_what_is_kept(case):
    limits = Limits(map_documents=20, listed_documents=10, per_list=3, word_documents=50, text=30)
    found = gather(case.model, case.X, zip(case.ids, case.texts), limits=limits)
    assert len(found["map"]["doc"]) == len(found["map"]["x"]) <= 20
    assert all(len(listed) <= 1 for listed in found["topics"]["central"])
    assert max(len(text) for text in found["docs"]["text"]) <= 110 + 1
    assert found["n"] == len(case.X)


def test_documents_may_be_a_stream_and_vectors_a_memory_map(case, tmp_path, found):
    np.save(tmp_path / "X.npy", case.X)
    X = np.load(tmp_path / "X.npy", mmap_mode="r")
    documents = ((i, t) for i, t in zip(case.ids, case.texts))
    again = gather(case.model, X, documents, title="T", assignments=case.assignments)
    assert json.dumps(again) == json.dumps(found)


@pytest.mark.parametrize("most", [3, 10, 57, 1000])
def test_a_sample_hears_every_topic(most):
    labels = np.repeat([-1, 0, 1, 2, 5], [1, 500, 30, 2, 7])
    drawn = selection.sample_documents(labels, most)
    assert len(drawn) == len(set(drawn)) <= most
    assert (np.diff(drawn) > 0).all()
    if most >= 10:
        assert set(labels[drawn]) == {-1, 0, 1, 2, 5}
    if most == 1000:
        assert len(drawn) == len(labels)
