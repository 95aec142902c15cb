"""A small corpus with two plain topics, and the marks of a text that tries an embedder."""

from pathlib import Path

import numpy as np
import pytest

SPORT = [
    "The goalkeeper saved a penalty",
    "The striker scored two goals",
    "A goal in the last minute",
]
LAW = [
    "The court heard an appeal",
    "A judge dismissed the appeal",
    "The judge ruled for the tenant",
]


@pytest.fixture(scope="session")
def topics() -> list[str]:
    """Three sentences on football, then three on courts; many times over, lightly varied."""
    return SPORT + LAW


@pytest.fixture(scope="session")
def corpus() -> list[str]:
    return [f"{text} on day {day} of the season" for day in range(20) for text in SPORT + LAW]


@pytest.fixture(scope="session")
def two_topics() -> list[str]:
    """Documents that draw their words from one of two lists; the first half from the first."""
    rng = np.random.default_rng(0)
    lists = (
        ["goal", "striker", "penalty", "league", "keeper", "match", "season", "coach"],
        ["court", "judge", "appeal", "tenant", "lawyer", "verdict", "clause", "ruling"],
    )
    return [" ".join(rng.choice(words, 12)) for words in lists for _ in range(150)]


@pytest.fixture
def minilm(fetched_home, monkeypatch):
    monkeypatch.setenv("HIERSEED_HOME", str(fetched_home))
    from hierseed.embed import get_embedder

    return get_embedder("minilm")


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory) -> Path:
    """A BERT of two layers with random weights, made here and saved as transformers save one."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    folder = tmp_path_factory.mktemp("tiny-bert")
    letters = [chr(i) for i in range(ord("a"), ord("z") + 1)]
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = ["the", "court", "judge", "goal", "appeal", "striker", "scored", "ruled"]
    vocabulary = [*marks, *letters, *[f"##{letter}" for letter in letters], *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n")
    torch.manual_seed(0)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    transformers.BertModel(config).save_pretrained(folder)
    place = {word: number for number, word in enumerate(vocabulary)}
    transformers.BertTokenizerFast(vocab=place, model_max_length=64).save_pretrained(folder)
    return folder
