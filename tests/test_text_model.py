"""A TextModel places texts and vectors alike, in memory and after a round trip to disk."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from hierseed import HierSeed, Taxonomy, TextModel, fit, get_embedder, load
from hierseed.embed import embed_corpus, load_embedder
from hierseed.errors import CorpusError, EmbeddingError, ModelError, ParameterError
from hierseed.files import with_checksum
from hierseed.io import model_bundle
from hierseed.io.documents import RowNumbers, is_vectors, open_vectors
from hierseed.io.model_bundle import write_sealed

TAXONOMY = Taxonomy.from_paths(["Animals > Cats", "Animals > Dogs", "Food > Bread", "Food > Soup"])
TEXTS = ["the cat purrs", "a kitten and a cat", "the dog barks", "a puppy and a dog",
         "bread from the oven", "flour and yeast for bread", "hot soup in a bowl",
         "vegetable soup with salt"]  # fmt: skip
Y = [1, -1, 2, -1, 4, -1, 5, -1]


SEEDS = {TAXONOMY.paths[topic]: [row] for row, topic in enumerate(Y) if topic >= 0}


@pytest.fixture(scope="module")
def model() -> TextModel:
    return fit(TEXTS, TAXONOMY, SEEDS, embedder="wordllama:64", method="hierseed")


def tables_equal(one: Any, two: Any) -> None:
    pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())


def test_a_loaded_model_places_new_text_as_the_one_in_memory(
    model: TextModel, tmp_path: Path
) -> None:
    model.save(tmp_path / "model")
    found = load(tmp_path / "model")
    new = ["my cat sleeps", "the baker's bread"]
    tables_equal(found.assign(new), model.assign(new))
    tables_equal(found.assign(TEXTS), model.assign(TEXTS))
    assert found.taxonomy_ == model.taxonomy_
    assert found.about["corpus"] == "documents"
    found.save(tmp_path / "again")
    for file in (tmp_path / "model").rglob("*.*"):
        again = tmp_path / "again" / file.relative_to(tmp_path / "model")
        assert again.read_bytes() == file.read_bytes()


def test_the_model_prepares_and_the_estimator_never_does(model: TextModel, tmp_path: Path) -> None:
    raw = get_embedder("wordllama:64").encode(TEXTS)
    ready = model.preparation.transform(raw)
    model.save(tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        np.testing.assert_array_equal(one.assign(raw).labels, model.assign(TEXTS).labels)
        np.testing.assert_array_equal(one.estimator.predict(ready), one.assign(raw).labels)
    estimator = HierSeed.load(tmp_path / "model")
    tables_equal(estimator.assign(ready), model.estimator.assign(ready))


def test_a_seed_is_known_by_id_and_text(model: TextModel) -> None:
    assert model.assign(TEXTS).is_seed.tolist() == [topic >= 0 for topic in Y]
    other = model.assign({"0": "an entirely different text", "2": TEXTS[2]})
    assert other.is_seed.tolist() == [False, True]


def test_a_model_of_the_first_version_is_read(model: TextModel, tmp_path: Path) -> None:
    """The first version kept preparation, seeds and embedder in a folder of their own."""
    model.save(tmp_path / "model")
    body = json.loads((tmp_path / "model" / "model.json").read_text())
    names = {"prepare_mean", "seed_vectors"}
    arrays = {name: np.load(tmp_path / "model" / f"{name}.npy") for name in body["arrays"]}
    old = tmp_path / "old"
    (old / "from_text").mkdir(parents=True)
    text = body["text"] | {"preparation": body["preparation"]}
    for file, format, content, wanted in (
        (old / "model.json", "hierseed-model",
         {key: body[key] for key in ("hierseed", "kind", "header", "taxonomy")},
         body["arrays"].keys() - names),
        (old / "from_text" / "from_text.json", "hierseed-from-text", text, names),
    ):  # fmt: skip
        kept = {name: arrays[name] for name in sorted(wanted)}
        write_sealed(file, format=format, version=1, content=content, arrays=kept)
    (tmp_path / "model" / "embedder").rename(old / "from_text" / "embedder")
    tables_equal(load(old).assign([*TEXTS, "a purring kitten"]),
                 model.assign([*TEXTS, "a purring kitten"]))  # fmt: skip


def test_every_array_is_hashed_once(
    model: TextModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.save(tmp_path / "model")
    read: list[str] = []
    digest = model_bundle.file_sha256
    monkeypatch.setattr(
        model_bundle, "file_sha256", lambda path: read.append(path.name) or digest(path)
    )
    load(tmp_path / "model").assign(TEXTS)
    assert sorted(read) == sorted(file.name for file in (tmp_path / "model").glob("*.npy"))


def test_the_embedder_of_a_model_is_found(model: TextModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    embed_corpus([("a", "x")], get_embedder("wordllama:64"), tmp_path / "store")
    for folder in ("model", "store"):
        assert load_embedder(tmp_path / folder).name == "wordllama:64"
    with pytest.raises(EmbeddingError, match="Name the embedder"):
        load_embedder(tmp_path)


def test_an_estimator_saved_alone_takes_vectors_only(model: TextModel, tmp_path: Path) -> None:
    model.estimator.save(tmp_path / "model")
    found = load(tmp_path / "model")
    X = np.zeros((2, 64), dtype=np.float32)
    assert found.prepare(X) is X
    assert found.assign(X).n_documents == 2
    with pytest.raises(ModelError, match="Give vectors instead of text"):
        found.assign(TEXTS)


def test_an_embedder_that_changed_is_refused(model: TextModel, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    header = tmp_path / "model" / "embedder" / "embedder.json"
    changed = json.loads(header.read_text()) | {"fingerprint": "other"}
    del changed["sha256"]
    header.write_text(json.dumps(with_checksum(changed)))
    with pytest.raises(EmbeddingError, match="other weights or another version"):
        load(tmp_path / "model").assign(["new text"])


def test_vectors_of_another_embedder_are_refused(model: TextModel, tmp_path: Path) -> None:
    documents = [(str(i), text) for i, text in enumerate(TEXTS)]
    embed_corpus(documents, get_embedder("wordllama:64"), tmp_path / "same")
    embed_corpus(documents, get_embedder("wordllama:128"), tmp_path / "other")
    assert model.assign(tmp_path / "same").n_documents == len(TEXTS)
    with pytest.raises(ModelError, match=r"are of wordllama:128.*embedder='wordllama:64'"):
        model.assign(tmp_path / "other")


def test_a_report_and_scores_come_from_the_same_placement(model: TextModel, tmp_path: Path) -> None:
    shown = model.report(TEXTS, tmp_path / "report.html", title="Pets")
    assert shown["n"] == len(TEXTS)
    assert "Pets" in (tmp_path / "report.html").read_text()
    found = model.assign(TEXTS)
    gold = {str(row): TAXONOMY.paths[topic] for row, topic in enumerate([1, 1, 2, 2, 4, 4, 5, 5])}
    scores = model.evaluate(TEXTS, gold)
    assert scores.all.documents == sum(topic < 0 for topic in Y)
    frame = pd.DataFrame({"id": gold.keys(), "topic": gold.values()})
    assert model.evaluate(TEXTS, frame).to_dict() == scores.to_dict()
    right = [found.labels[row] == TAXONOMY.index(gold[str(row)]) for row in (1, 3, 5, 7)]
    assert scores.all.levels[1].accuracy == pytest.approx(np.mean(right))
    with pytest.raises(CorpusError, match="none of 1 documents"):
        model.evaluate(TEXTS, {"elsewhere": "Food"})


def test_a_model_shows_itself(model: TextModel) -> None:
    assert repr(model).startswith("TextModel(HierSeed, ")
    assert "Animals" in model._repr_html_()


def test_vectors_come_with_ids(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.eye(3, dtype=np.float32))
    assert is_vectors(tmp_path / "v.npy")
    found = open_vectors(tmp_path / "v.npy")
    assert (found.X.shape, list(found.ids), found.store) == ((3, 3), ["0", "1", "2"], None)
    assert found.ids[1:] == ["1", "2"]
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
    with pytest.raises(CorpusError, match="not complete"):
        open_vectors(tmp_path / "store")


def test_a_topic_with_one_seed_keeps_its_documents_in_a_corpus_of_eight():
    """How many seeds a topic has says nothing of its size: it once decided all weak cases."""
    pytest.importorskip("wordllama", reason="the embedder wordllama is not installed")
    documents = [
        "The hospital hired more nurses for the emergency ward",
        "A new vaccine protects children from measles",
        "Doctors treat patients with heart disease",
        "The striker scored two goals in the final",
        "The tennis champion won her third title",
        "The bank raised interest rates again",
        "Unemployment fell as factories hired workers",
        "Stocks dropped after the central bank's decision",
    ]
    seeds = {
        "Health": ["A clinic for patients", "The doctor prescribed medicine"],
        "Sport": ["The team won the match"],
        "Economy": ["Inflation and interest rates", "The stock market"],
    }
    model = fit(documents, list(seeds), seeds, embedder="wordllama")
    found = [model.taxonomy_.paths[topic] for topic in model.assign(documents).labels]
    assert found[:3] == ["Health"] * 3
    assert found[3:5] == ["Sport"] * 2
    assert found.count("Economy") >= 2


def test_a_precision_is_set_by_the_documents_of_the_fit_and_by_no_others() -> None:
    coded = {str(row): TAXONOMY.paths[topic] for row, topic in enumerate([1, 1, 2, 2, 4, 4, 5, 5])}
    model = fit(TEXTS, TAXONOMY, SEEDS, embedder="wordllama:64", other=False)
    before, shown = model.estimator.labels_.copy(), model._placed(None)
    with pytest.raises(ParameterError, match="Give those of the fit"):
        model.set_precision(TEXTS[:6], coded, 0.9)
    assert np.array_equal(model.estimator.labels_, before)
    assert (before >= 0).all()
    model.set_precision(TEXTS, coded, 0.99)  # two documents a topic prove nothing
    assert (model.estimator.labels_ < 0).any()
    assert np.array_equal(model.estimator.labels_, model.assign(TEXTS).labels)
    assert model._placed(None) is not shown  # pictures show the new placements
