"""The report says how much belongs, what accuracy to expect, and which topics may be missing."""

import json
import re

import numpy as np
import pytest

import hierseed


def open_world():
    """Three listed topics of 60 documents, and a group of 80 that nobody listed."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 24)) * 2.0
    truth = np.repeat(np.arange(4), [60, 60, 60, 80])
    X = (centres[truth] + rng.normal(size=(len(truth), 24))).astype(np.float32)
    seeds = {name: (60 * k + np.arange(8)).tolist() for k, name in enumerate(["A", "B", "C"])}
    return X, truth, seeds


def test_the_page_holds_results_and_the_missing_topic(tmp_path):
    X, truth, seeds = open_world()
    model = hierseed.fit(X, ["A", "B", "C"], seeds)
    found = model.report(X, tmp_path / "page.html")
    assert re.fullmatch(r"\d+% \(\d+% to \d+%\)", found["results"]["belong"])
    assert len(found["results"]["expected"]) == 1
    page = (tmp_path / "page.html").read_text()
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    assert data["proposals"] == found["proposals"] != []
    assert all(0 < len(one["texts"]) <= 3 for one in data["proposals"])
    proposals = model.propose_topics(X, 3)
    largest = max(proposals, key=lambda one: one.size)
    assert (truth[largest.rows] == 3).mean() > 0.5
    again = model.propose_topics(X, 3, earlier=proposals)
    assert [one.id for one in again] == [one.id for one in proposals]


def test_proposals_keep_their_id_while_most_documents_stay():
    X, _, seeds = open_world()
    first = hierseed.fit(X, ["A", "B", "C"], seeds).propose_topics(X, 2)
    fewer = hierseed.fit(X, ["A", "B", "C"], {name: rows[:6] for name, rows in seeds.items()})
    with pytest.warns(UserWarning, match="no document was rejected"):
        refit = fewer.propose_topics(X, 2, earlier=first)
    assert {one.id for one in refit} & {one.id for one in first}


def test_a_large_group_is_proposed_before_a_small_one_that_is_tighter():
    X, truth, seeds = open_world()
    rng = np.random.default_rng(1)
    tight = rng.normal(size=24) * 2.0 + rng.normal(size=(8, 24)) * 0.2
    X = np.append(X, tight.astype(np.float32), axis=0)
    model = hierseed.fit(X, ["A", "B", "C"], seeds)
    first, *_ = model.propose_topics(X, 3)
    assert (np.append(truth, np.full(8, 4))[first.rows] == 3).mean() > 0.5


def test_each_topic_has_the_accuracy_that_the_fit_expects_of_it(tmp_path):
    X, _, seeds = open_world()
    model = hierseed.fit(X, ["A", "B", "C"], seeds)
    found = model.report(X, tmp_path / "page.html")["topics"]
    shares = model.expected_accuracy()
    assert list(shares) == sorted(shares, key=lambda path: shares[path].value)
    for name, told in zip(found["name"], found["expected"], strict=True):
        share = shares.get(name)
        assert told == (share and [round(one, 4) for one in (share.value, share.low, share.high)])
    lone = hierseed.fit(X, ["A", "B", "C"], {name: rows[:1] for name, rows in seeds.items()})
    assert lone.expected_accuracy() == {}
    assert lone.report(X, tmp_path / "lone.html")["topics"]["expected"] == []
