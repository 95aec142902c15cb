"""Belonging on real text: no topic swallows the corpus, and nonsense hardly belongs anywhere."""

import csv
import gzip

import numpy as np
import pytest

from hierseed import AnchoredHierSeed, Taxonomy
from hierseed.embed.choose import get_embedder
from hierseed.embed.prepare import Preparation

NONSENSE = ["asdkjh asdkj", "qwpo zxmv lkjqwe", "xxxx yyyy zzzz", "hjk hjk hjkl", "fgdsa rewq"]


def load(folder, seeds_file):
    """Ids, texts, taxonomy and the topics of the seeds by id."""
    if not folder.is_dir():
        pytest.skip("the labelled corpora are not here: set HIERSEED_DATA")
    csv.field_size_limit(10_000_000)
    with gzip.open(folder / "docs.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = [(row["id"], row["text"]) for row in csv.DictReader(file)]
    taxonomy = Taxonomy.from_paths(
        line.strip() for line in (folder / "topics.txt").read_text("utf-8").splitlines() if line
    )
    return [id for id, _ in rows], [text for _, text in rows], taxonomy, topics(folder / seeds_file)


def topics(file):
    with file.open(encoding="utf-8", newline="") as lines:
        return {row["id"]: row["topic"] for row in csv.DictReader(lines)}


def labels_of(ids, taxonomy, named):
    return np.array([taxonomy.index(named[id]) if id in named else -1 for id in ids])


def nearest_seed_mean(X, y):
    """Topic whose mean of seeds has the greatest cosine, on centred vectors."""
    seeded = np.unique(y[y >= 0])
    centre = X.mean(axis=0)
    means = np.stack([X[y == topic].mean(axis=0) for topic in seeded]) - centre
    means /= np.linalg.norm(means, axis=1, keepdims=True)
    return seeded[((X - centre) @ means.T).argmax(axis=1)]


@pytest.mark.filterwarnings("ignore")
def test_no_topic_swallows_the_petitions_and_nonsense_hardly_belongs(shared_data):
    pytest.importorskip("wordllama", reason="the embedder wordllama is not installed")
    ids, texts, taxonomy, named = load(shared_data / "petitions", "seeds.csv")
    kept = [i for i, id in enumerate(ids) if id in named or i % 5 == 0]  # a fifth will do
    ids, texts = [ids[i] for i in kept], [texts[i] for i in kept]
    embedder = get_embedder("wordllama+lsa").fit(texts)  # what `auto` takes in a plain install
    X = np.asarray(embedder.encode(texts))
    preparation = Preparation(blocks=embedder.blocks).fit(X)
    X = preparation.transform(X)
    y = labels_of(ids, taxonomy, named)
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    largest = np.bincount(nearest_seed_mean(X, y)).max()
    assert np.bincount(model.labels_[model.labels_ >= 0]).max() <= 1.5 * largest
    assert (model.labels_ < 0).any()
    placed = model.assign(preparation.transform(np.asarray(embedder.encode(NONSENSE))))
    assert (placed.belongs[:, 0] < 0.1).all()
    assert placed.is_none.all()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seeds", [3, 8])
def test_german_news_is_placed_no_worse_than_by_the_nearest_seed_mean(shared_data, seeds):
    ids, texts, taxonomy, named = load(shared_data / "gnad_de", f"seeds{seeds}.csv")
    gold = labels_of(ids, taxonomy, topics(shared_data / "gnad_de" / "gold.csv"))
    X = np.asarray(get_embedder("tfidf").fit(texts).encode(texts))
    X = Preparation().fit(X).transform(X)
    y = labels_of(ids, taxonomy, named)
    model = AnchoredHierSeed(taxonomy).fit(X, y)
    free = (y < 0) & (gold >= 0)
    nearest = nearest_seed_mean(X, y)
    found = (model.labels_ == gold)[free].mean()
    assert found >= (nearest == gold)[free].mean()
    counts = np.bincount(model.labels_[model.labels_ >= 0])
    assert counts.max() <= 1.5 * np.bincount(nearest).max()
