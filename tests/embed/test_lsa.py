"""Latent semantic analysis of words and pairs, and its join with another embedder."""

import random

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer

from hierseed.embed import Preparation, get_embedder, load_embedder, save_embedder
from hierseed.embed.joined import Joined
from hierseed.embed.learned import sample_by_content
from hierseed.embed.lsa import Lsa, singular_vectors
from hierseed.embed.terms import learn_terms, split_letters, split_terms
from hierseed.errors import EmbeddingError


def test_counts_are_those_of_scikit_learn(corpus):
    # an independent oracle; every term is kept, so all words make pairs there too
    texts = sample_by_content([f"{text} {i % 7} café" for i, text in enumerate(corpus)], 1000)
    terms, counts, seen = learn_terms(texts, 10_000, 10_000, 2.0)
    assert seen >= set(terms.words)
    oracle = TfidfVectorizer(
        ngram_range=(1, 2), min_df=2, max_df=0.5, sublinear_tf=True, strip_accents="unicode"
    ).fit(texts)
    oracle.idf_ = oracle.idf_**2
    expected = oracle.transform(texts)
    words = np.array(terms.words, dtype=object)
    first, second = np.divmod(terms.pairs, len(words))
    names = [*words, *(words[first] + " " + words[second])]
    columns = {name: i for i, name in enumerate(names) if terms.weights[i] > 0}
    assert set(columns) == set(oracle.get_feature_names_out())
    order = [columns[name] for name in oracle.get_feature_names_out()]
    np.testing.assert_allclose(counts.toarray()[:, order], expected.toarray(), atol=1e-6)
    np.testing.assert_array_equal(terms.count(texts).toarray(), counts.toarray())


def test_singular_vectors_span_the_leading_space():
    random_state = np.random.default_rng(0)
    left, _ = np.linalg.qr(random_state.normal(size=(300, 40)))
    right, _ = np.linalg.qr(random_state.normal(size=(900, 40)))
    dense = left * np.geomspace(100, 0.1, 40) @ right.T
    from scipy import sparse

    found = singular_vectors(sparse.csr_array(dense.astype(np.float32)), 5)
    _, _, exact = np.linalg.svd(dense, full_matrices=False)
    np.testing.assert_allclose(np.abs((found * exact[:5].T).sum(axis=0)), 1, atol=1e-4)
    largest = np.abs(found).argmax(axis=0)
    assert (found[largest, np.arange(5)] > 0).all()


def test_the_order_of_documents_and_repeats_change_no_bit(corpus):
    shuffled = corpus + corpus[:17]
    random.Random(1).shuffle(shuffled)
    one, other = (Lsa(8, max_documents=60).fit(texts) for texts in (corpus, shuffled))
    assert one.fingerprint == other.fingerprint
    np.testing.assert_array_equal(one.encode(corpus), other.encode(corpus))


def test_a_text_alone_has_the_vector_it_has_among_others(corpus):
    embedder = Lsa(8).fit(corpus)
    alone = np.concatenate([embedder.encode([text]) for text in corpus[:9]])
    np.testing.assert_array_equal(embedder.encode(corpus)[:9], alone)
    assert not embedder.encode(["", "zzzz"]).any()


def test_chinese_is_read_by_characters_and_their_pairs():
    assert split_terms("abc 法院判决") == ["abc", "法", "院", "判", "决"]
    assert split_terms("Überprüfung à") == ["uberprufung"]
    assert split_terms("हिन्दी भाषा") == split_terms("हिन्दी, भाषा")
    assert len(split_terms("हिन्दी भाषा")) == 2
    courts = [f"法院判决第{n}案" for n in "一二三四五六七八九十"]
    goals = [f"前锋射门进球第{n}轮" for n in "一二三四五六七八九十"]
    vectors = Lsa(3).fit(courts + goals).encode(["法院判决上诉", "前锋又进球", "判决"])
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert unit[0] @ unit[2] > unit[1] @ unit[2] + 0.5


def test_a_corpus_without_words_is_refused():
    with pytest.raises(EmbeddingError, match="no words to learn from in 2 different texts"):
        Lsa().fit(["!", "?", "?"])


def test_a_content_sample_is_bounded_and_of_the_stream():
    texts = [f"text {i}" for i in range(500)]
    sample = sample_by_content(texts, 50)
    assert len(set(sample)) == 50
    assert set(sample) <= set(texts)
    assert sample == sample_by_content(reversed(texts), 50)
    assert sorted(sample_by_content(texts, 1000)) == sorted(texts)


# ---------------------------------------------------------------- joined


def test_joined_vectors_are_both_blocks(corpus):
    embedder = get_embedder("wordllama:64+lsa").fit(corpus)
    vectors = embedder.encode(corpus)
    assert embedder.blocks == (64, embedder.learned.dimension)
    inner, learned = np.split(vectors, [64], axis=1)
    np.testing.assert_array_equal(inner, get_embedder("wordllama:64").encode(corpus))
    raw = Lsa().fit(corpus).encode(corpus)
    np.testing.assert_allclose(learned, raw / np.linalg.norm(raw, axis=1, keepdims=True), atol=1e-6)


def test_a_text_with_no_word_of_the_corpus_has_no_content(corpus, tmp_path):
    nonsense = ["zzzz qqqq", "asdkjh asdkj", "?!"]
    embedder = get_embedder("wordllama:64+lsa").fit(corpus)
    save_embedder(embedder, tmp_path)
    for one in (embedder, load_embedder(tmp_path)):
        assert not one.encode(nonsense).any()
        assert one.encode([*corpus, "zzzz striker"]).any(axis=1).all()
    assert embedder.inner.encode(nonsense).any()  # it makes something of any letters


def test_letters_typed_at_random_have_no_content_where_texts_are_read_by_groups_of_letters():
    german = "Der Minister hat das Gesetz nicht unterschrieben, und die Partei ist mit dem Plan "
    other = "Die Mannschaft war mit dem Spiel nicht zufrieden, weil sie auch das Tor für sich sah "
    lsa = Lsa(3).fit([f"{text} {number}" for number in range(30) for text in (german, other)])
    assert not lsa.words  # groups of letters
    assert lsa.encode(["ein Gesetz", "das Tor"]).any(axis=1).all()
    groups = "Gesetzesminister Parteiplan"  # known groups, no known word
    assert lsa.count([groups]).nnz
    assert not lsa.encode([groups]).any()


def test_a_learned_block_of_weight_zero_leaves_the_other_as_it_is_alone(corpus):
    embedder = get_embedder("wordllama:64+lsa").fit(corpus)
    joined, alone = embedder.encode(corpus), embedder.inner.encode(corpus)
    without = Preparation(blocks=embedder.blocks, weights=(1.0, 0.0)).fit(joined).transform(joined)
    np.testing.assert_array_equal(without, Preparation().fit(alone).transform(alone))


def test_a_joined_embedder_is_saved_and_its_fingerprint_follows_changes(corpus, tmp_path):
    embedder = get_embedder("wordllama:64+lsa").fit(corpus)
    save_embedder(embedder, tmp_path)
    loaded = load_embedder(tmp_path)
    assert isinstance(loaded, Joined)
    assert loaded.fingerprint == embedder.fingerprint
    np.testing.assert_array_equal(loaded.encode(corpus[:5]), embedder.encode(corpus[:5]))
    other = get_embedder("wordllama:64+lsa").fit(corpus[:40])
    assert other.fingerprint != embedder.fingerprint
    file = tmp_path / "lsa" / "components.npy"
    changed = bytearray(file.read_bytes())
    changed[-1] ^= 1
    file.write_bytes(bytes(changed))
    with pytest.raises(EmbeddingError, match=r"lsa/components\.npy"):
        load_embedder(tmp_path)


def test_a_joined_embedder_must_learn_first():
    with pytest.raises(EmbeddingError, match="learns from a corpus and has not seen one"):
        get_embedder("wordllama+lsa").encode(["a text"])


def test_letter_groups_are_those_of_scikit_learn():
    text = "Überprüfung am Gericht"
    oracle = TfidfVectorizer(analyzer="char_wb", ngram_range=(4, 5), strip_accents="unicode")
    # scikit-learn gives a word shorter than the group once for each size, here it counts once
    assert set(split_letters(text)) == set(oracle.build_analyzer()(text))
