"""wordllama, TF-IDF, functions and files: the embedders that need nothing beyond the core."""

import logging

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from threadpoolctl import threadpool_limits

from hierseed.embed import get_embedder, load_embedder, save_embedder
from hierseed.embed.function import FunctionEmbedder
from hierseed.embed.learned import sample_texts
from hierseed.embed.precomputed import Precomputed
from hierseed.embed.tfidf import TfidfSvd
from hierseed.embed.wordllama import WordLlama, find_folder
from hierseed.errors import CorpusError, EmbeddingError


def tells_topics_apart(vectors: np.ndarray) -> bool:
    """Each sentence is nearer to the mean of its own topic (the first three, the last three)."""
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    similarity = unit @ unit.T
    np.fill_diagonal(similarity, np.nan)
    own = [np.nanmean(similarity[i, :3] if i < 3 else similarity[i, 3:]) for i in range(6)]
    other = [np.nanmean(similarity[i, 3:] if i < 3 else similarity[i, :3]) for i in range(6)]
    return bool(np.all(np.array(own) > np.array(other)))


@pytest.mark.parametrize("name", ["tfidf", "lsa"])
def test_what_is_learned_does_not_depend_on_the_threads_of_the_matrix_library(name):
    rng = np.random.default_rng(0)
    words = np.array([f"word{i}" for i in range(3000)])
    texts = [" ".join(words[rng.zipf(1.4, 60) % 3000]) for _ in range(2000)]
    found = set()
    for threads in (1, 2, 4):
        with threadpool_limits(limits=threads, user_api="blas"):
            embedder = get_embedder(name)
            embedder.fit(texts)
            found.add(embedder.encode(texts[:100]).tobytes())
    assert len(found) == 1


# ---------------------------------------------------------------- wordllama


def test_wordllama_equals_its_own_package(topics):
    from wordllama import WordLlama as Original

    level = logging.getLogger().level
    original = Original.load(cache_dir=find_folder(), disable_download=True)
    texts = [*topics, "", "naïve café — 東京", "word " * 3000]
    ours = WordLlama().encode(texts)
    np.testing.assert_allclose(ours, original.embed(texts), atol=1e-4)
    assert not ours[6].any()
    logging.getLogger().setLevel(level)


def test_wordllama_vectors_do_not_depend_on_the_neighbours(topics):
    embedder = WordLlama()
    together = embedder.encode([*topics, "x " * 5000])
    alone = np.concatenate([embedder.encode([text]) for text in topics])
    np.testing.assert_array_equal(together[:6], alone)


def test_wordllama_separates_topics_in_every_size(topics):
    for dimension in (64, 128, 256):
        vectors = get_embedder(f"wordllama:{dimension}").encode(topics)
        assert vectors.shape == (6, dimension)
        assert vectors.dtype == np.float32
        assert tells_topics_apart(vectors)
    assert WordLlama(64).fingerprint != WordLlama().fingerprint


# ---------------------------------------------------------------- TF-IDF and SVD


def test_tfidf_equals_sklearn_by_hand(corpus):
    embedder = TfidfSvd(5).fit(corpus)
    options = {"sublinear_tf": True, "strip_accents": "unicode", "min_df": 2, "max_df": 0.5}
    counts = TfidfVectorizer(**options, use_idf=False, norm=None).fit_transform(corpus).toarray()
    idf = np.log((1 + len(corpus)) / (1 + (counts > 0).sum(axis=0))) + 1
    weighted = counts * idf**2
    weighted /= np.linalg.norm(weighted, axis=1, keepdims=True)
    by_hand = TruncatedSVD(5, random_state=0).fit_transform(weighted)
    np.testing.assert_allclose(np.abs(embedder.encode(corpus)), np.abs(by_hand), atol=1e-4)


def test_tfidf_saved_and_loaded_gives_the_same_bits(corpus, tmp_path):
    embedder = TfidfSvd(8).fit(corpus)
    save_embedder(embedder, tmp_path)
    again = load_embedder(tmp_path)
    assert again.fingerprint == embedder.fingerprint
    assert again.name == "tfidf:8"
    np.testing.assert_array_equal(again.encode(corpus), embedder.encode(corpus))
    assert not [file for file in tmp_path.iterdir() if file.suffix not in (".json", ".npy")]


def test_tfidf_fingerprint_follows_the_corpus(corpus):
    embedder = TfidfSvd(8).fit(corpus)
    first = embedder.fingerprint
    assert TfidfSvd(8).fit(corpus).fingerprint == first
    assert embedder.fit(corpus[:-30]).fingerprint != first


def test_tfidf_of_few_documents_and_of_unknown_words(topics):
    embedder = TfidfSvd().fit(topics)
    assert embedder.dimension == 5
    assert not embedder.encode(["zzz"]).any()
    assert embedder.encode([]).shape == (0, 5)


def test_tfidf_separates_topics(two_topics):
    vectors = TfidfSvd(8).fit(two_topics).encode(two_topics)
    similarity = vectors @ vectors.T
    assert similarity[:150, :150].mean() > 0.1 > 0.01 > abs(similarity[:150, 150:]).mean()


def test_tfidf_of_documents_that_are_all_alike():
    alike = [f"the same words {i}" for i in range(30)]
    assert TfidfSvd(3).fit(alike).encode(alike).any(axis=1).all()


def test_tfidf_says_what_is_wrong(topics):
    with pytest.raises(EmbeddingError, match="has not seen one"):
        TfidfSvd().encode(topics)
    with pytest.raises(EmbeddingError, match="no words to learn from in 2 documents"):
        TfidfSvd().fit(["", " "])


def test_a_sample_is_even_and_repeatable():
    stream = [str(i) for i in range(10_000)]
    sample = sample_texts(iter(stream), 1000)
    assert sample == sample_texts(iter(stream), 1000)
    assert sample == sorted(sample, key=int)
    assert len(set(sample)) == 1000
    assert abs(np.mean([int(text) for text in sample]) - 5000) < 300
    assert sample_texts(iter(stream), 20_000) == stream


# ---------------------------------------------------------------- functions


def count_letters(texts: list[str]) -> list[list[int]]:
    return [[len(text), text.count("a")] for text in texts]


def test_a_function_becomes_an_embedder():
    embedder = get_embedder(count_letters)
    np.testing.assert_array_equal(embedder.encode(["banana", ""]), [[6, 3], [0, 0]])
    assert embedder.dimension == 2
    assert embedder.encode([]).shape == (0, 2)
    assert embedder.fingerprint == FunctionEmbedder(count_letters).fingerprint
    other = FunctionEmbedder(lambda texts: np.array(count_letters(texts)) + 1, embedder.name)
    assert other.fingerprint != embedder.fingerprint


def test_a_function_by_name(tmp_path, monkeypatch):
    (tmp_path / "mine_for_test.py").write_text("def f(texts):\n    return [[1.0]] * len(texts)\n")
    monkeypatch.syspath_prepend(tmp_path)
    embedder = get_embedder("function:mine_for_test:f")
    assert embedder.name == "function:mine_for_test:f"
    assert embedder.encode(["a", "b"]).tolist() == [[1.0], [1.0]]
    for wrong in ("function:mine_for_test", "function:mine_for_test:g", "function:nowhere_xyz:f"):
        with pytest.raises(EmbeddingError, match=r"names no function|can't be imported"):
            get_embedder(wrong)


def test_a_function_of_the_wrong_shape_is_refused():
    with pytest.raises(EmbeddingError, match=r"shape \(3,\) for 3 texts"):
        _ = FunctionEmbedder(lambda texts: np.zeros(len(texts))).dimension


# ---------------------------------------------------------------- finished vectors


@pytest.fixture
def matrix() -> np.ndarray:
    return np.arange(12, dtype=np.float32).reshape(4, 3)


def test_npy_goes_by_position(tmp_path, matrix):
    np.save(tmp_path / "v.npy", matrix)
    vectors = get_embedder(f"precomputed:{tmp_path / 'v.npy'}")
    assert isinstance(vectors, Precomputed)
    np.testing.assert_array_equal(vectors.rows(["x", "y"], start=2), matrix[2:])
    with pytest.raises(CorpusError, match=r"has 4 rows.*at least 5"):
        vectors.rows(["x", "y"], start=3)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("fixed", [True, False])
def test_tables_go_by_id(tmp_path, matrix, ending, fixed):
    kind = pa.list_(pa.float32(), 3) if fixed else pa.list_(pa.float64())
    columns = {"id": [10, 11, 12, 13], "vector": pa.array(matrix.tolist(), type=kind)}
    write = parquet.write_table if ending == "parquet" else feather.write_feather
    write(pa.table(columns), str(tmp_path / f"v.{ending}"))
    vectors = Precomputed(tmp_path / f"v.{ending}")
    np.testing.assert_array_equal(vectors.rows(["13", "10"], start=0), matrix[[3, 0]])
    with pytest.raises(CorpusError, match=r"1 of 2 documents have no vector in .*'99'"):
        vectors.rows(["13", "99"], start=0)


def test_finished_vectors_say_what_they_cannot(tmp_path, matrix):
    np.save(tmp_path / "v.npy", matrix)
    with pytest.raises(EmbeddingError, match="can't embed new text"):
        Precomputed(tmp_path / "v.npy").encode(["a"])
    np.save(tmp_path / "flat.npy", matrix.ravel())
    np.save(tmp_path / "pickled.npy", np.array([{}]), allow_pickle=True)
    (tmp_path / "v.txt").write_text("1 2 3")
    parquet.write_table(pa.table({"id": ["a"], "x": [1.0]}), tmp_path / "flat.parquet")
    for file, message in {
        "flat.npy": "Save a matrix of floats",
        "pickled.npy": "Python objects in dtype",
        "v.txt": "Use one of .npy",
        "flat.parquet": "Name them with id_column",
        "gone.npy": "no file",
    }.items():
        with pytest.raises(CorpusError, match=message):
            Precomputed(tmp_path / file)


# ---------------------------------------------------------------- slips


@pytest.mark.parametrize("spec", ["wordllama", count_letters])
def test_one_text_or_no_text_is_refused(spec):
    embedder = get_embedder(spec)
    with pytest.raises(EmbeddingError, match=r"Write encode\(\[text\]\)"):
        embedder.encode("one text")
    with pytest.raises(EmbeddingError, match=r"1 of 2 texts are not strings; the first is row 1"):
        embedder.encode(["a", None])
