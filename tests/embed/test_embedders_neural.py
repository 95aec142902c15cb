"""MiniLM in onnxruntime with its real weights; transformers with a checkpoint made here."""

import gzip
import itertools
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hierseed.embed import choose_embedder, get_embedder
from hierseed.embed.mean_pooling import (
    batches_by_length,
    find_device,
    hash_parameters,
    on_device,
    pad,
)
from hierseed.embed.windows import Windowed, split_windows
from hierseed.errors import EmbeddingError

# ---------------------------------------------------------------- MiniLM


def test_minilm_agrees_with_the_float_vectors(minilm, shared_data):
    """The stored vectors were made elsewhere, in float32, from the same weights."""
    with gzip.open(shared_data / "us_code" / "docs.jsonl.gz", "rt", encoding="utf-8") as lines:
        texts = [json.loads(line)["text"] for line in itertools.islice(lines, 60)]
    reference = np.load(shared_data / "us_code" / "minilm.npy")[:60].astype(np.float32)
    ours = minilm.encode(texts)
    cosine = (ours * reference).sum(axis=1)
    cosine /= np.linalg.norm(ours, axis=1) * np.linalg.norm(reference, axis=1)
    assert cosine.mean() > 0.985
    assert cosine.min() > 0.95


def test_minilm_vectors_do_not_depend_on_the_neighbours(minilm, topics):
    together = minilm.encode([*topics, "word " * 900])
    backwards = minilm.encode(topics[::-1])[::-1]
    np.testing.assert_array_equal(together[:6], backwards)
    assert together.shape == (7, 384)
    assert together.dtype == np.float32


def test_minilm_understands_other_words_for_the_same(minilm):
    texts = ["The cat sleeps on the sofa.", "A kitten naps on a couch.", "Interest rates rose."]
    a, b, c = (row / np.linalg.norm(row) for row in minilm.encode(texts))
    assert a @ b > 0.5 > 0.2 > a @ c


def test_minilm_counts_what_it_cuts(minilm):
    before = minilm.cut
    long = "word " * 400
    minilm.encode(["short", long, ""])
    assert minilm.cut == before + 1
    same = minilm.encode([long, long + "and a different end that is never read"])
    np.testing.assert_array_equal(same[0], same[1])


def test_auto_takes_minilm_where_it_was_fetched(minilm):
    embedder, why = choose_embedder()
    assert embedder.name == "minilm"
    assert why == "minilm: the best of minilm, wordllama that is installed"


def test_minilm_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setenv("HIERSEED_HOME", str(tmp_path))
    with pytest.raises(EmbeddingError, match="hierseed embedders get minilm"):
        get_embedder("minilm")
    assert "minilm would be better, but" in choose_embedder()[1]
    with pytest.raises(EmbeddingError, match="takes no detail"):
        get_embedder("minilm:large")


# ---------------------------------------------------------------- windows


def test_windows_leave_short_texts_alone_and_read_long_ones_whole(minilm, topics):
    windowed = get_embedder("minilm+windows")
    np.testing.assert_array_equal(windowed.encode(topics), minilm.encode(topics))
    football, courts = "The striker scored a goal. " * 60, "The court heard an appeal. " * 60
    text = football + courts
    cut = windowed.cut
    both, first, second, plain = (
        row / np.linalg.norm(row)
        for row in [*windowed.encode([text, football, courts]), *minilm.encode([text])]
    )
    assert plain @ second < both @ second
    assert both @ first > 0.6 < both @ second
    assert windowed.cut <= cut + 1
    assert windowed.fingerprint != minilm.fingerprint
    assert windowed.encode([]).shape == (0, 384)


class FirstLetter:
    """Embeds a text as the position of its first letter; tokens are words, with two marks."""

    name, dimension, fingerprint, max_tokens = "first-letter", 1, "0", 5

    def encode(self, texts):
        return np.array([[ord(text[0]) - ord("a")] for text in texts], dtype=np.float32)

    def token_spans(self, texts):
        return [[match.span() for match in re.finditer(r"\w+", text)] for text in texts]


def test_windows_weigh_by_their_tokens():
    embedder = Windowed(FirstLetter())
    # Windows of three words at most: "b c d" and "e f" weigh 3 and 2.
    vectors = embedder.encode(["b c d e f", "k", "a a a b b b z"])
    np.testing.assert_allclose(vectors[:2], [[(1 * 3 + 4 * 2) / 5], [10]])
    assert vectors.dtype == np.float32


def test_windows_need_a_limit():
    with pytest.raises(EmbeddingError, match="wordllama has no length limit"):
        get_embedder("wordllama+windows")


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 9)), max_size=60), st.integers(1, 12))
def test_windows_cover_every_token_once_and_end_between_words(pieces, size):
    spans, place = [], 0
    for gap, length in pieces:
        place += gap
        spans.append((place, place + length))
        place += length
    windows = split_windows(spans, size)
    covered = [token for a, b in windows for token in range(a, b)]
    assert covered == list(range(len(spans)))
    assert all(b - a <= size for a, b in windows)
    for a, b in windows:
        inside_word = b < len(spans) and spans[b][0] == spans[b - 1][1]
        one_long_word = all(spans[i][0] == spans[i - 1][1] for i in range(a + 1, b))
        assert not inside_word or one_long_word


@given(st.lists(st.integers(0, 50), max_size=40), st.integers(1, 100))
def test_batches_hold_every_row_once_and_keep_the_budget(lengths, tokens):
    batches = list(batches_by_length(lengths, tokens))
    assert sorted(row for batch in batches for row in batch) == list(range(len(lengths)))
    for batch in batches:
        longest = max(lengths[row] for row in batch)
        assert len(batch) == 1 or longest * len(batch) <= tokens
    longest = [max(lengths[row] for row in batch) for batch in batches]
    assert longest == sorted(longest, reverse=True)


# ---------------------------------------------------------------- transformers


def test_mean_pooling_is_the_mean_over_all_tokens(tiny_checkpoint):
    import torch
    from transformers import AutoModel, AutoTokenizer

    embedder = get_embedder(f"transformers:{tiny_checkpoint}")
    texts = ["the court ruled", "goal", "", "the striker scored the goal " * 30]
    ours = embedder.encode(texts)
    tokenizer = AutoTokenizer.from_pretrained(tiny_checkpoint)
    model = AutoModel.from_pretrained(tiny_checkpoint).eval()
    for text, row in zip(texts, ours):
        tokens = tokenizer(text, truncation=True, max_length=64, return_tensors="pt")
        with torch.inference_mode():
            states = model(**tokens).last_hidden_state[0]
        np.testing.assert_allclose(row, states.mean(dim=0).numpy(), atol=1e-5)
    assert embedder.dimension == 16
    assert embedder.max_tokens == 64
    assert embedder.cut == 1
    assert embedder.encode([]).shape == (0, 16)


def test_transformers_are_named_after_their_folder(tiny_checkpoint):
    """Nothing is called RoBERTa because the paper used it."""
    assert get_embedder(f"transformers:{tiny_checkpoint}").name == f"transformers:{tiny_checkpoint}"


def test_the_fingerprint_follows_the_weights(tiny_checkpoint, tmp_path):
    from transformers import AutoTokenizer, BertConfig, BertModel

    other = tmp_path / "other"
    BertModel(BertConfig.from_pretrained(tiny_checkpoint)).save_pretrained(other)
    AutoTokenizer.from_pretrained(tiny_checkpoint).save_pretrained(other)
    first = get_embedder(f"transformers:{tiny_checkpoint}").fingerprint
    assert get_embedder(f"transformers:{tiny_checkpoint}").fingerprint == first
    assert get_embedder(f"transformers:{other}").fingerprint != first


def test_windows_work_over_transformers(tiny_checkpoint):
    embedder = get_embedder(f"transformers:{tiny_checkpoint}+windows")
    texts = ["the court ruled", "the striker scored the goal " * 30]
    assert np.isfinite(embedder.encode(texts)).all()
    assert embedder.cut == 0


def test_sentence_transformers_from_a_local_folder(tiny_checkpoint, tmp_path):
    library = pytest.importorskip(
        "sentence_transformers", reason="sentence-transformers is not installed"
    )
    plain = get_embedder(f"transformers:{tiny_checkpoint}")
    model = library.SentenceTransformer(str(tiny_checkpoint), device="cpu")
    model.save(str(tmp_path / "st"))
    embedder = get_embedder(f"sentence-transformers:{tmp_path / 'st'}")
    texts = ["the court ruled", "goal " * 100]
    np.testing.assert_allclose(embedder.encode(texts), plain.encode(texts), atol=1e-5)
    assert embedder.cut == 1
    assert embedder.dimension == 16
    assert embedder.encode([]).shape == (0, 16)
    wrapped = get_embedder(model)
    np.testing.assert_allclose(wrapped.encode(texts), plain.encode(texts), atol=1e-5)


@pytest.mark.parametrize("library", ["transformers", "sentence-transformers"])
def test_a_model_that_is_not_here_is_not_sought_elsewhere(library):
    pytest.importorskip(library.replace("-", "_"), reason=f"{library} is not installed")
    with pytest.raises(EmbeddingError, match=rf"hierseed embedders get {library}:no-one/nothing"):
        get_embedder(f"{library}:no-one/nothing")


def test_padding_and_mask_are_those_of_the_tokenizer(tiny_checkpoint):
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_checkpoint)
    ids = tokenizer(["a cat", "a dog and a cat and a dog", ""])["input_ids"]
    padded, mask = pad([np.array(one, dtype=np.int64) for one in ids], tokenizer.pad_token_id)
    want = tokenizer.pad({"input_ids": ids}, return_tensors="np")
    np.testing.assert_array_equal(padded, want["input_ids"])
    np.testing.assert_array_equal(mask, want["attention_mask"])


def test_a_card_and_the_processor_have_one_fingerprint(tiny_checkpoint):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers")
    model = transformers.AutoModel.from_pretrained(tiny_checkpoint).float()
    here = list(hash_parameters(model))
    there = list(hash_parameters(model.to(torch.float16)))  # as on a card
    for one, other in zip(here, there, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_device_can_be_named(monkeypatch):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert find_device() == "cuda"
    with on_device("cpu"):
        assert find_device() == "cpu"
    assert find_device() == "cuda"
