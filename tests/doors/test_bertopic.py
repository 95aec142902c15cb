"""The real BERTopic, with a model of ours as its cluster model."""

from typing import Any

import numpy as np
import pytest

from hierseed import AnchoredHierSeed, Taxonomy
from hierseed.embed.prepare import Preparation
from hierseed.model_selection import TextEmbedder

pytestmark = [pytest.mark.neural, pytest.mark.filterwarnings("ignore")]
bertopic = pytest.importorskip("bertopic", reason="needs the extra bertopic")

WORDS = {
    "Animals > Cats": "cat kitten purr whiskers paw",
    "Animals > Dogs": "dog puppy bark leash paw",
    "Food > Bread": "bread oven flour dough yeast",
    "Food > Soup": "soup bowl broth spoon salt",
}
PATHS = list(WORDS)
GOLD = [PATHS[i % 4] for i in range(80)]
TEXTS = [
    " ".join(np.random.default_rng(i).permutation(WORDS[topic].split())[:3]) + f" number {i}"
    for i, topic in enumerate(GOLD)
]
Y = [topic if i < 24 else "" for i, topic in enumerate(GOLD)]
TAXONOMY = Taxonomy.from_paths(PATHS)


@pytest.fixture(scope="module")
def X() -> Any:
    return TextEmbedder("wordllama").fit_transform(TEXTS)


def test_topics_of_bertopic_are_those_of_the_taxonomy(X: Any) -> None:
    ours = AnchoredHierSeed(TAXONOMY, other=False)
    model = bertopic.BERTopic(embedding_model=None, umap_model=Preparation(), hdbscan_model=ours)
    found, _ = model.fit_transform(TEXTS, embeddings=X, y=Y)
    alone = AnchoredHierSeed(TAXONOMY, other=False)
    expected = alone.fit(Preparation().fit_transform(X), Y).labels_
    mapping = {
        int(ours): int(theirs) for ours, theirs in model.topic_mapper_.get_mappings().items()
    }
    assert [mapping[topic] for topic in expected.tolist()] == [int(topic) for topic in found]
    paths = {number: TAXONOMY.paths[topic] for topic, number in mapping.items()}
    assert [paths[int(number)] for number in found] == GOLD
    for number, path in paths.items():  # BERTopic's own words are words of the topic
        words = {word for word, _ in model.get_topic(number)[:3]}
        assert words <= set(WORDS[path].split())
    new = ["kitten whiskers purr", "spoon of salt broth"]
    placed, _ = model.transform(new, embeddings=TextEmbedder("wordllama").fit_transform(new))
    assert [paths[int(number)] for number in placed] == ["Animals > Cats", "Food > Soup"]


def test_vectors_of_umap_serve_here(X: Any) -> None:
    umap = pytest.importorskip("umap", reason="needs the extra bertopic")
    small = umap.UMAP(n_components=5, n_neighbors=10, random_state=1, n_jobs=1).fit_transform(X)
    ready = Preparation(unit=False).fit_transform(small)
    model = AnchoredHierSeed(TAXONOMY, other=False).fit(ready, Y)
    assert model.score(ready[24:], GOLD[24:]) > 0.9
