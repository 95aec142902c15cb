"""A saved model places new text as the one in memory did."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hierseed import AnchoredHierSeed, Taxonomy, load_model
from hierseed.checksums import with_checksum
from hierseed.embed import Preparation, Prepared, embed_corpus, get_embedder, load_embedder
from hierseed.errors import CorpusError, EmbeddingError, ModelError
from hierseed.estimators.hierseed import HierSeed
from hierseed.io.saved import SavedModel, read_saved, write_saved
from hierseed.io.seed_documents import SeedDocuments
from hierseed.io.vectors import RowNumbers, is_vectors, open_vectors

TAXONOMY = Taxonomy.from_paths(["Animals > Cats", "Animals > Dogs", "Food > Bread", "Food > Soup"])
TEXTS = ["the cat purrs", "a kitten and a cat", "the dog barks", "a puppy and a dog",
         "bread from the oven", "flour and yeast for bread", "hot soup in a bowl",
         "vegetable soup with salt"]  # fmt: skip
Y = [1, -1, 2, -1, 4, -1, 5, -1]


@pytest.fixture(scope="module")
def fitted() -> SavedModel:
    embedder = get_embedder("wordllama:64")
    vectors = embedder.encode(TEXTS)
    preparation = Preparation().fit(vectors)
    model = HierSeed(TAXONOMY).fit(preparation.transform(vectors), Y)
    return SavedModel(
        model,
        preparation,
        embedder.name,
        embedder.fingerprint,
        SeedDocuments.among({"a": [1]}, "abcdefgh", vectors),
        {"corpus": "pets.csv"},
    )


def test_new_text_is_placed_as_before(fitted: SavedModel, tmp_path: Path) -> None:
    write_saved(fitted, tmp_path / "model", get_embedder("wordllama:64"))
    found = read_saved(tmp_path / "model")
    vectors = get_embedder("wordllama:64").encode(TEXTS)
    raw = get_embedder("wordllama:64").encode(["my cat sleeps", "the baker's bread"])
    np.testing.assert_array_equal(found.embedder.encode(["my cat sleeps"])[0], raw[0])
    ready = fitted.preparation.transform(raw)
    np.testing.assert_array_equal(found.prepare(raw)[:], ready)
    np.testing.assert_array_equal(
        found.estimator.predict(found.prepare(raw)), fitted.estimator.predict(ready)
    )
    assert found.taxonomy == fitted.estimator.taxonomy_
    assert found.seeds.labels(["a", "b"], vectors[:2]).tolist() == [1, -1]
    assert found.seeds.labels(["b", "a"], vectors[:2]).tolist() == [-1, -1]  # a: another document
    assert found.about == {"corpus": "pets.csv"}


def test_a_loaded_model_prepares_raw_vectors_once(fitted: SavedModel, tmp_path: Path) -> None:
    raw = get_embedder("wordllama:64").encode(TEXTS)
    ready = fitted.preparation.transform(raw)
    write_saved(fitted, tmp_path / "model", get_embedder("wordllama:64"))
    fitted.estimator.save(tmp_path / "python", preparation=fitted.preparation)
    load_model(tmp_path / "model").save(tmp_path / "again")
    expected = fitted.estimator.assign(ready, Y).to_frame()
    for name in ("model", "python", "again"):
        model = load_model(tmp_path / name)
        for X in (raw, raw.tolist(), Prepared(raw, fitted.preparation)):
            pd.testing.assert_frame_equal(model.assign(X, Y).to_frame(), expected)
        np.testing.assert_array_equal(model.predict(raw), fitted.estimator.predict(ready))
        saved = read_saved(tmp_path / name)  # as the commands use it
        pd.testing.assert_frame_equal(saved.estimator.assign(ready, Y).to_frame(), expected)
        with pytest.raises(CorpusError, match="has 3 features"):
            model.assign(raw[:, :3])
    again = model.fit(ready, Y)  # on vectors that were prepared by hand: now it takes such
    np.testing.assert_array_equal(again.predict(ready), fitted.estimator.predict(ready))


def test_seeds_of_a_loaded_model_are_as_far_as_before(tmp_path: Path) -> None:
    raw = get_embedder("wordllama:64").encode(TEXTS)
    preparation = Preparation().fit(raw)
    ready = preparation.transform(raw)
    model = AnchoredHierSeed(TAXONOMY).fit(ready, Y)
    model.save(tmp_path / "model", preparation=preparation)
    pd.testing.assert_frame_equal(
        load_model(tmp_path / "model").assign(raw, Y).to_frame(), model.assign(ready, Y).to_frame()
    )


def test_the_embedder_of_a_model_is_found(fitted: SavedModel, tmp_path: Path) -> None:
    write_saved(fitted, tmp_path / "model", get_embedder("wordllama:64"))
    embed_corpus([("a", "x")], get_embedder("wordllama:64"), tmp_path / "store")
    for folder in ("model", "store"):
        assert load_embedder(tmp_path / folder).name == "wordllama:64"
    with pytest.raises(EmbeddingError, match="Name the embedder"):
        load_embedder(tmp_path)


def test_damage_in_either_part_is_refused(fitted: SavedModel, tmp_path: Path) -> None:
    write_saved(fitted, tmp_path / "model")
    header = tmp_path / "model" / "from_text" / "from_text.json"
    header.write_text(header.read_text().replace("pets", "cats"))
    with pytest.raises(ModelError, match=r"from_text\.json was changed"):
        read_saved(tmp_path / "model")


def test_a_model_saved_from_python_takes_vectors_only(fitted: SavedModel, tmp_path: Path) -> None:
    fitted.estimator.save(tmp_path / "model")
    found = read_saved(tmp_path / "model")
    X = np.zeros((2, 64), dtype=np.float32)
    assert found.prepare(X) is X
    with pytest.raises(ModelError, match="Give vectors instead of text"):
        found.embedder  # noqa: B018 - asking for it is the test


def test_an_embedder_that_changed_is_refused(fitted: SavedModel, tmp_path: Path) -> None:
    write_saved(fitted, tmp_path / "model", get_embedder("wordllama:64"))
    header = tmp_path / "model" / "from_text" / "embedder" / "embedder.json"
    changed = json.loads(header.read_text()) | {"fingerprint": "other"}
    del changed["sha256"]
    header.write_text(json.dumps(with_checksum(changed)))
    with pytest.raises(EmbeddingError, match="other weights or another version"):
        read_saved(tmp_path / "model").embedder  # noqa: B018


def test_vectors_of_another_embedder_are_refused(fitted: SavedModel, tmp_path: Path) -> None:
    documents = [(str(i), text) for i, text in enumerate(TEXTS)]
    embed_corpus(documents, get_embedder("wordllama:64"), tmp_path / "same")
    embed_corpus(documents, get_embedder("wordllama:128"), tmp_path / "other")
    fitted.check_store(open_vectors(tmp_path / "same").store)
    with pytest.raises(ModelError, match=r"are of wordllama:128.*hierseed embed"):
        fitted.check_store(open_vectors(tmp_path / "other").store)


def test_vectors_come_with_ids(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(3, dtype=np.float32))
    assert is_vectors(tmp_path / "v.npy")
    X, ids, store = open_vectors(tmp_path / "v.npy")
    assert (X.shape, list(ids), ids[1:], store) == ((3, 3), ["0", "1", "2"], ["1", "2"], None)
    assert RowNumbers(3)[-1] == "2"
    embed_corpus([("a", "x"), ("b", "y")], get_embedder("wordllama:64"), tmp_path / "store")
    assert is_vectors(tmp_path / "store")
    assert list(open_vectors(tmp_path / "store").ids) == ["a", "b"]
    assert not is_vectors(tmp_path / "docs.csv")


def test_vectors_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "v.npy").write_bytes(b"not a matrix")
    with pytest.raises(CorpusError, match=r"v\.npy"):
        open_vectors(tmp_path / "v.npy")
    embed_corpus([("a", "x"), ("b", "y")], get_embedder("wordllama:64"), tmp_path / "store")
    journal = tmp_path / "store" / "journal.jsonl"
    journal.write_text(journal.read_text().splitlines(keepends=True)[0])  # cut off before the end
    with pytest.raises(CorpusError, match="not finished"):
        open_vectors(tmp_path / "store")
