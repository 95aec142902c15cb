"""The language model of WeSHClass: it learns what follows what, and writes that."""

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (extra 'neural')")

from small_systems import make_small  # noqa: E402

from hierseed_bench.competitors.systems.language_model import (  # noqa: E402
    LanguageModel,
    SentenceWriter,
    cut,
)
from hierseed_bench.competitors.systems.skipgram import SkipGram  # noqa: E402
from hierseed_bench.competitors.systems.supervised import adam  # noqa: E402

WORDS, COMMON = 14, 8  # 2 special, 8 common ones, 4 rare ones


@pytest.fixture(scope="module")
def table():
    vectors = np.random.default_rng(0).normal(size=(WORDS, 8))
    return torch.as_tensor(vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).float()


@pytest.fixture(scope="module")
def model(table):
    """After each common word comes the next one, after the last one a rare word."""
    torch.manual_seed(0)
    lm = LanguageModel(table, COMMON, 16)
    start = torch.randint(0, COMMON + 1, (64, 1))
    sentences = (start + torch.arange(6)) % (COMMON + 1)
    optimiser = adam(lm, 0.02)
    for _ in range(120):
        optimiser.zero_grad()
        lm.loss(sentences).backward()
        optimiser.step()
    return lm


def test_texts_are_cut_into_sentences_with_content():
    words = torch.arange(2, 16).view(2, 7).int()
    words[1, 4:] = 0
    sentences = cut(words, torch.tensor([7, 4]), 3)
    # the first text's last sentence has one word, the second's too: neither can be told
    assert sentences.tolist() == [[2, 3, 4], [5, 6, 7], [9, 10, 11]]


def test_rare_and_unknown_words_are_one_word_and_padding_none(model):
    told = model.known(torch.tensor([0, 1, 2, 9, 10, 13]))
    assert told.tolist() == [-1, COMMON, 0, 7, COMMON, COMMON]
    with torch.no_grad():
        whole = model.loss(torch.tensor([[0, 1, 2, -1, -1]]))
        short = model.loss(torch.tensor([[0, 1, 2]]))
    torch.testing.assert_close(whole, short)


def test_sentences_start_at_the_direction_and_continue_as_learned(model, table):
    writer = SentenceWriter(table, model, length=12, sentence=4)
    directions = table[[2, 9, 12]].numpy().astype(float).repeat(20, axis=0)
    words = writer.write(directions, (0,)).numpy()
    assert words.shape == (60, 12)
    assert words.min() >= 2
    for first in (0, 4, 8):  # a new sentence every four words
        assert words[:, first].tolist() == [2] * 20 + [9] * 20 + [12] * 20
        assert (words[:20, first + 1] == 3).mean() > 0.8
        assert (words[:20, first + 3] == 5).mean() > 0.8
        assert (words[20:40, first + 1] >= 10).mean() > 0.8  # a rare one follows the last
        assert (words[40:, first + 1] == 2).mean() > 0.8  # whichever rare one it was
    assert len(np.unique(words[20:40, 1])) > 1  # any of them
    assert np.array_equal(words, writer.write(directions, (0,)).numpy())
    assert not np.array_equal(words, writer.write(directions, (1,)).numpy())


def test_weshclass_learns_the_answer_from_its_sentences(corpus, tmp_path):
    vectors = SkipGram(dimension=16, min_count=1, sample=1.0, epochs=10, batch=256)
    options = {"device": "cpu", "vectors": vectors, "self_training": False}
    system = make_small("weshclass", writer="lstm", use_seed_docs=False, **options)
    seeds = (corpus.texts[:24], corpus.topics[:24])
    system.fit(corpus.taxonomy, seeds, corpus.texts[24:])
    right = system.predict(corpus.test_texts) == corpus.answer
    assert right[:, 0].mean() >= 0.7  # chance: about a third
    assert right.all(axis=1).mean() >= 0.4  # chance: a sixth
    losses = [event["loss"] for event in system.history_ if event["stage"] == "language"]
    assert losses[-1] < losses[0] - 0.3
