"""A tiny corpus whose answer is known, for every system."""

from typing import NamedTuple

import numpy as np
import pytest

from hierseed.taxonomy import Taxonomy


class Corpus(NamedTuple):
    taxonomy: Taxonomy
    texts: list[str]
    topics: np.ndarray
    test_texts: list[str]
    test_topics: np.ndarray

    @property
    def answer(self) -> np.ndarray:
        return self.taxonomy.tree.ancestors[self.test_topics]


def write(taxonomy: Taxonomy, topics: np.ndarray, seed: int) -> list[str]:
    """Documents of common words, words of the topic's parent and words of the topic."""
    rng = np.random.default_rng(seed)
    texts = []
    for topic in topics:
        path = taxonomy.tree.path(int(topic))
        words = [f"common{i}" for i in rng.integers(0, 20, 8)]
        for depth, node in enumerate(path):
            words += [f"{'abcd'[depth]}{node}w{i}" for i in rng.integers(0, 5, 6)]
        rng.shuffle(words)
        texts.append(
            " ".join(word.translate(str.maketrans("0123456789", "ghijklmnop")) for word in words)
        )
    return texts


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    """Two groups, one of them deeper, one leaf at level 1: uneven on purpose."""
    taxonomy = Taxonomy.from_paths(["A > B", "A > C", "D > E > F", "D > E > G", "D > H", "I"])
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    topics, test = np.tile(leaves, 12), np.tile(leaves, 8)
    return Corpus(taxonomy, write(taxonomy, topics, 0), topics, write(taxonomy, test, 1), test)
