"""GloVe files and fastText: documents as means of word vectors."""

import json

import numpy as np
import pytest

from hierseed.embed import get_embedder, load_embedder, save_embedder
from hierseed.embed.fasttext import FastText, subwords
from hierseed.embed.glove import Glove
from hierseed.errors import EmbeddingError

LINES = ["court 1 0 0.5", "Goal 0 2 0", "goal 0 1 0", ". . . 9 9 9", "goal 7 7 7", "été 0 0 -1"]


@pytest.fixture(autouse=True)
def _own_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HIERSEED_HOME", str(tmp_path / "home"))


@pytest.fixture
def glove_file(tmp_path):
    file = tmp_path / "tiny.txt"
    file.write_text("\n".join(LINES) + "\n", encoding="utf-8")
    return file


def test_glove_averages_known_words(glove_file):
    embedder = get_embedder(f"glove:{glove_file}")
    assert embedder.dimension == 3
    texts = ["court goal", "Goal, goal!", "COURT unheard", "unheard of", "", "Été"]
    expected = [[0.5, 0.5, 0.25], [0, 1.5, 0], [1, 0, 0.5], [0, 0, 0], [0, 0, 0], [0, 0, -1]]
    np.testing.assert_allclose(embedder.encode(texts), expected)
    assert embedder.coverage(["court goal unheard of"]) == 0.5


def test_glove_reads_word2vec_s_form_too(glove_file, tmp_path):
    other = tmp_path / "w2v.txt"
    other.write_text(f"{len(LINES)} 3\n" + glove_file.read_text(encoding="utf-8"), encoding="utf-8")
    a, b = Glove(glove_file).encode(["court Goal"]), Glove(other).encode(["court Goal"])
    np.testing.assert_array_equal(a, b)


def test_glove_notices_another_file_under_the_same_name(glove_file):
    first = Glove(glove_file).fingerprint
    assert Glove(glove_file).fingerprint == first
    glove_file.write_text("court 0 0 1 1\n")
    assert Glove(glove_file).fingerprint != first
    assert Glove(glove_file).dimension == 4


def test_glove_says_which_lines_are_wrong(tmp_path):
    file = tmp_path / "bad.txt"
    file.write_text("court 1 2 3\ngoal 1 2\njudge 1 x 3\n")
    with pytest.raises(EmbeddingError, match=r"line 2: 2 numbers, not 3.*line 3: not all numbers"):
        Glove(file)
    assert not list((tmp_path / "home").rglob("*.part"))
    (tmp_path / "none.txt").write_text("")
    with pytest.raises(EmbeddingError, match="holds no words"):
        Glove(tmp_path / "none.txt")
    with pytest.raises(EmbeddingError, match="hierseed embedders get glove"):
        get_embedder("glove")
    with pytest.raises(EmbeddingError, match="no GloVe file at"):
        get_embedder("glove:nowhere.txt")


# ---------------------------------------------------------------- fastText


@pytest.fixture(scope="module")
def fasttext():
    return pytest.importorskip("fasttext", reason="the extra 'fasttext' is not installed")


@pytest.fixture(scope="module")
def trained(fasttext, two_topics):
    return FastText(20, epochs=20, min_count=1).fit(two_topics)


def test_fasttext_separates_topics(trained, two_topics):
    vectors = trained.encode(two_topics)
    assert vectors.shape == (300, 20)
    vectors -= vectors.mean(axis=0)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity = unit @ unit.T
    assert similarity[:150, :150].mean() > 0.5 > -0.5 > similarity[:150, 150:].mean()


def test_fasttext_equals_the_library_also_for_words_never_seen(
    fasttext, two_topics, trained, tmp_path
):
    file = tmp_path / "c.txt"
    file.write_text("".join(text + "\n" for text in two_topics))
    options = {"minCount": 1, "minn": 3, "maxn": 6, "bucket": 50_000, "thread": 1, "verbose": 0}
    model = fasttext.train_unsupervised(str(file), model="skipgram", dim=20, epoch=20, **options)
    for word in ("court", "strikers", "naïveté", "東京タワー", "zz"):
        expected = model.get_word_vector(word)
        expected = expected / np.linalg.norm(expected)
        np.testing.assert_allclose(trained.encode([word])[0], expected, atol=3e-3, err_msg=word)


def test_fasttext_saved_and_loaded_gives_the_same_bits(trained, topics, tmp_path):
    save_embedder(trained, tmp_path)
    again = load_embedder(tmp_path)
    assert again.fingerprint == trained.fingerprint
    np.testing.assert_array_equal(again.encode(topics), trained.encode(topics))
    assert json.loads((tmp_path / "embedder.json").read_text())["name"] == "fasttext:20"
    assert not [file for file in tmp_path.iterdir() if file.suffix not in (".json", ".npy")]


def test_fasttext_learns_the_same_twice(trained, two_topics):
    again = FastText(20, epochs=20, min_count=1).fit(two_topics)
    assert again.fingerprint == trained.fingerprint


def test_fasttext_says_what_is_wrong(fasttext, topics):
    with pytest.raises(EmbeddingError, match="has not seen one"):
        FastText().encode(topics)
    with pytest.raises(
        EmbeddingError, match=r"nothing to learn in 6 documents.*min_count below 99"
    ):
        FastText(5, min_count=99).fit(topics)


def test_a_word_too_short_for_subwords_is_unknown(trained):
    assert subwords("", 100) == []
    assert not trained.encode(["", "!"]).any()
