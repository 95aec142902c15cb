"""Words, examples and nearest topics say what the texts and vectors say."""

import sys

import numpy as np
import pytest

import hierseed
from hierseed.errors import CorpusError, MissingDependency, TaxonomyError


def test_the_words_of_a_topic_are_those_that_only_its_documents_have(case):
    for topic in ("Animals > Cats", "Food > Soup"):
        inside = {w for id in case.table.index[case.table.topic == topic]
                  for w in case.texts[id].split()}  # fmt: skip
        words = case.model.topic_words(topic)
        assert words
        assert set(words) <= inside
        assert not {"the", "and", "today"} & set(words)  # every document has them
    assert "cat" in case.model.topic_words("Cats")
    every = case.model.topic_words(n=3)
    assert list(every) == list(case.model.taxonomy_.paths)
    assert every["Food > Soup"] == case.model.topic_words("Food > Soup", n=3)


def test_examples_are_the_documents_nearest_to_the_topic(case):
    inside = case.table[case.table.topic == "Food > Bread"]
    nearest = inside.sort_values("distance", kind="stable").head(4)
    found = case.model.examples("Bread", 4)
    np.testing.assert_array_equal(found.distance, nearest.distance)
    assert found.text.tolist() == [case.texts[id] for id in found.id]
    assert found.is_seed.tolist() == [bool(inside.is_seed[id]) for id in found.id]
    assert set(found.id) <= set(inside.index)
    above = case.model.examples("Food", 30)  # of all below it
    assert {case.table.level_1[id] for id in above.id} == {"Food"}


def test_nearest_topics_are_sorted_by_the_distance_of_their_vectors(case):
    found = case.model.nearest_topics("Cats", n=9)
    taxonomy, vectors = case.model.taxonomy_, case.model.estimator.vectors_
    home = vectors[taxonomy.index("Animals > Cats")]
    away = {path: float(np.sqrt(((vectors[taxonomy.index(path)] - home) ** 2).sum()))
            for path in ("Animals > Dogs", "Food > Bread", "Food > Soup")}  # fmt: skip
    assert found.topic.tolist() == sorted(away, key=away.__getitem__)
    np.testing.assert_allclose(found.distance, sorted(away.values()), rtol=1e-6)


def test_an_unknown_topic_is_refused(case):
    with pytest.raises(TaxonomyError, match="Catz"):
        case.model.examples("Catz")


def test_a_loaded_model_asks_for_documents_and_shows_the_same(case, tmp_path):
    case.model.save(tmp_path / "model")
    again = hierseed.load(tmp_path / "model")
    with pytest.raises(CorpusError, match="documents="):
        again.topic_words("Cats")
    assert again.topic_words("Cats", documents=case.texts) == case.model.topic_words("Cats")
    assert again.nearest_topics("Cats").equals(case.model.nearest_topics("Cats"))


def test_vectors_have_no_words(case):
    vectors = case.model.embedder.encode(list(case.texts.values()))
    with pytest.raises(CorpusError, match="Give the texts"):
        case.model.topic_words("Cats", documents=vectors)


def test_without_the_extra_the_error_has_the_install_line(case, monkeypatch):
    for name in [n for n in sys.modules if n.startswith("hierseed.plots.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependency, match=r"pip install 'hierseed\[plots\]'"):
        case.model.plot_sizes()
    assert case.model.examples("Cats", 1).shape == (1, 5)  # only pictures need it
