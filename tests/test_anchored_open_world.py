"""A taxonomy of a few topics in a corpus of many: listed topics are not swallowed by None."""

import numpy as np
import pytest

from hierseed import AnchoredHierSeed, Taxonomy


def many_topics(seed: int, of: int = 20, each: int = 60, width: int = 96):
    """Unit vectors around topics that overlap, and the topic of each."""
    rng = np.random.default_rng(seed)
    topic = np.repeat(np.arange(of), each)
    X = rng.normal(size=(of, width))[topic] + 2.0 * rng.normal(size=(len(topic), width))
    X -= X.mean(axis=0)
    return X / np.linalg.norm(X, axis=1, keepdims=True), topic


@pytest.mark.parametrize(("listed", "seeds"), [(1, 4), (2, 1), (2, 4), (3, 2), (3, 8)])
def test_documents_of_listed_topics_are_found(listed, seeds) -> None:
    taxonomy = Taxonomy.from_paths([f"topic {one}" for one in range(listed)])
    right = []
    for draw in range(3):
        X, topic = many_topics(draw)
        y = np.full(len(X), -1)
        for one in range(listed):
            y[np.flatnonzero(topic == one)[:seeds]] = one
        model = AnchoredHierSeed(taxonomy).fit(X, y)
        inside = (topic < listed) & (y < 0)
        right.append(np.mean(model.labels_[inside] == topic[inside]))
    assert np.mean(right) > 0.6
