"""The real BERTopic, with a model of ours as its cluster model."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hierseed import AnchoredHierSeed, Taxonomy
from hierseed.embed.prepare import Preparation
from hierseed.model_selection import TextEmbedder

pytestmark = [pytest.mark.neural, pytest.mark.filterwarnings("ignore")]
bertopic = pytest.importorskip("bertopic", reason="needs the extra bertopic")

ROOT = Path(__file__).resolve().parents[2]
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
def vectors() -> Any:
    return TextEmbedder("wordllama").fit_transform(TEXTS)


def test_topics_of_bertopic_are_those_of_the_taxonomy(vectors: Any) -> None:
    ours = AnchoredHierSeed(TAXONOMY, other=False)
    model = bertopic.BERTopic(embedding_model=None, umap_model=Preparation(), hdbscan_model=ours)
    found, _ = model.fit_transform(TEXTS, embeddings=vectors, y=Y)
    alone = AnchoredHierSeed(TAXONOMY, other=False)
    expected = alone.fit(Preparation().fit_transform(vectors), Y).labels_
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


def test_vectors_of_umap_serve_here(vectors: Any) -> None:
    umap = pytest.importorskip("umap", reason="needs the extra bertopic")
    small = umap.UMAP(n_components=5, n_neighbors=10, random_state=1, n_jobs=1).fit_transform(
        vectors
    )
    ready = Preparation(unit=False).fit_transform(small)
    model = AnchoredHierSeed(TAXONOMY, other=False).fit(ready, Y)
    assert model.score(ready[24:], GOLD[24:]) > 0.9


@pytest.mark.slow
def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    subprocess.run([sys.executable, "-m", "hierseed", "demo", "--quiet"], check=True)
    demo = {"docs": "docs.csv", "topics": "taxonomy.txt", "seeds": "seeds.csv"}
    names: dict[str, Any] = {name: f"demo-output/{file}" for name, file in demo.items()}
    names["pd"] = pd
    page = (ROOT / "docs" / "doors" / "bertopic.md").read_text(encoding="utf-8")
    for code in re.findall(r"^```python\n(.*?)^```", page, re.S | re.M):
        exec(compile(code, "docs/doors/bertopic.md", "exec"), names)
    assert len(names["names"]) > 20
    assert names["reduced"].coverage_ > 0.5
