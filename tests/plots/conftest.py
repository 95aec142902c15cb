"""A small corpus with known topics and words, fitted once for all tests of words and pictures."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

import hierseed
from hierseed import TextModel

WORDS = {
    "Animals > Cats": "cat kitten purrs whiskers",
    "Animals > Dogs": "dog puppy barks leash",
    "Food > Bread": "bread flour oven yeast",
    "Food > Soup": "soup bowl broth ladle",
}


@dataclass
class Case:
    model: TextModel
    texts: dict[str, str]
    gold: dict[str, str]
    table: pd.DataFrame  # of assign, with the index `id`


@pytest.fixture(scope="session")
def case() -> Case:
    random = np.random.default_rng(7)
    texts, gold = {}, {}
    for topic, n in zip(WORDS, (40, 25, 30, 15)):
        for i in range(n):
            words = random.choice(WORDS[topic].split(), 3)
            texts[f"{topic[-4:]}{i}"] = " ".join(["the", "and", *words, "today"])
            gold[f"{topic[-4:]}{i}"] = topic
    seeds = {topic: [f"{topic[-4:]}{i}" for i in range(6)] for topic in WORDS}
    model = hierseed.fit(texts, list(WORDS), seeds, embedder="wordllama:64")
    return Case(model, texts, gold, model.assign(texts).to_frame().set_index("id"))
