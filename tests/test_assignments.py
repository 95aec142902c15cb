from itertools import pairwise

import numpy as np
import pytest
from worlds import make_world

from hierseed import Assignments, HierSeed
from hierseed.errors import CorpusError


@pytest.fixture(scope="module")
def placed():
    taxonomy, X, y, _ = make_world("ragged", spread=1.0, per_leaf=30)
    return HierSeed(taxonomy).fit(X, y).assign(X, y), y


def test_the_table_of_the_contract(placed):
    found, y = placed
    frame = found.to_frame(ids=[f"d{i}" for i in range(found.n_documents)])
    levels = [f"level_{k}" for k in (1, 2, 3)]
    assert list(frame) == [
        "id", "topic", *levels, "distance", "score", "belongs", "runner_up", "is_other", "is_none",
        "is_seed",
    ]  # fmt: skip
    assert frame["is_seed"].tolist() == (y >= 0).tolist()
    for _, row in frame.iterrows():
        filled = [row[level] for level in levels if row[level]]
        assert row["topic"] == (filled[-1] if filled else "")
        assert row["is_none"] == (not filled)
        assert all(deep.startswith(above + " > ") for above, deep in pairwise(filled))
    with pytest.raises(CorpusError, match="3 ids"):
        found.to_frame(ids=["a", "b", "c"])


def test_counts_include_the_topics_below(placed):
    found, _ = placed
    counts = found.counts()
    tree = found.taxonomy.tree
    for topic in np.flatnonzero(~tree.is_leaf):
        assert counts[topic] == counts[tree.children(topic)].sum()
    assert counts[tree.children(-1)].sum() + found.is_none.sum() == found.n_documents


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.6, 0.9, 1.1])
def test_confident_stops_where_the_score_falls_short_and_keeps_seeds(placed, threshold):
    found, y = placed
    sure = found.confident(threshold)
    for i in range(len(found)):
        wanted = [
            topic
            for topic, score in zip(found.path[i], found.score[i])
            if topic >= 0 and (score >= threshold or y[found.row[i]] >= 0)
        ]
        assert [t for t in sure.path[i] if t >= 0] == wanted
        assert sure.topic[i] == (wanted[-1] if wanted else -1)
    if threshold == 1.1:
        assert sure.coverage == (y >= 0).mean()
    if threshold == 0.0:
        assert np.array_equal(sure.topic, found.topic)
    cut = sure.topic != found.topic
    parents = found.taxonomy.tree.parent[sure.runner_up[cut]]
    assert np.array_equal(parents, np.where(sure.topic[cut] >= 0, sure.topic[cut], -1))


def test_select_cuts_at_a_level(placed):
    found, _ = placed
    top = found.select(1)
    assert np.array_equal(top.topic, found.path[:, 0])
    assert (top.path[:, 1:] == -1).all()


def test_chunks_joined_are_the_whole():
    taxonomy, X, y, _ = make_world(spread=1.0)
    model = HierSeed(taxonomy, eccentricity=1.0).fit(X, y)
    whole = model.assign(X)
    parts = Assignments.join(model.assign(X[a : a + 20]) for a in range(0, len(X), 20))
    assert np.array_equal(parts.row, whole.row)
    assert np.array_equal(parts.topic, whole.topic)
    np.testing.assert_allclose(parts.distance, whole.distance)
    with pytest.raises(CorpusError, match="empty"):
        Assignments.join([])
