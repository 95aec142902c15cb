"""Data frames and data sets of other libraries give what a list of the same rows gives."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import hierseed
from hierseed import CorpusError, SeedError
from hierseed.io.corpus import Corpus
from hierseed.io.documents import open_documents

WORDS = {"Animals > Cats": "cat kitten purr", "Animals > Dogs": "dog puppy bark", "Food": "soup"}
TOPICS = list(WORDS)
COLUMNS: dict[str, list[Any]] = {
    "id": [f"d{i}" for i in range(30)],
    "text": [f"a {WORDS[TOPICS[i % 3]]} and number {i}" for i in range(30)],
}
SEEDS: dict[str, list[Any]] = {"id": ["d0", "d1", "d2"], "topic": TOPICS}


def polars_frame(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(columns)


def duckdb_relation(columns: dict[str, list[Any]]) -> Any:
    # of the default connection: earlier versions close another one when it is dropped
    return pytest.importorskip("duckdb").from_arrow(pa.table(columns))


def data_set(columns: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict(columns)


MAKERS = {
    "pandas": pd.DataFrame,
    "pyarrow": pa.table,
    "stream": lambda columns: pa.table(columns).to_reader(7),
    "polars": polars_frame,
    "polars lazy": lambda columns: polars_frame(columns).lazy(),
    "duckdb": duckdb_relation,
    "hugging face": data_set,
    "hugging face streamed": lambda columns: data_set(columns).to_iterable_dataset(),
}


@pytest.fixture(scope="module")
def expected() -> pd.DataFrame:
    texts = dict(zip(COLUMNS["id"], COLUMNS["text"]))
    seeds = {topic: [id] for id, topic in zip(SEEDS["id"], SEEDS["topic"])}
    model = hierseed.fit(texts, TOPICS, seeds, embedder="wordllama", method="unfit")
    return model.assign(texts).to_frame()


@pytest.mark.parametrize("kind", MAKERS)
def test_fit_assign_and_evaluate_take_a_frame(kind: str, expected: pd.DataFrame) -> None:
    make = MAKERS[kind]
    model = hierseed.fit(make(COLUMNS), TOPICS, make(SEEDS), embedder="wordllama", method="unfit")
    found = model.assign(make(COLUMNS)).to_frame()
    pd.testing.assert_frame_equal(found, expected)
    gold = [TOPICS[i % 3] for i in range(30)]
    scores = model.evaluate(make(COLUMNS), make({"id": COLUMNS["id"], "topic": gold}))
    assert scores.all.documents == 27  # seeds are left out
    assert scores == model.evaluate(make(COLUMNS), dict(zip(COLUMNS["id"], gold)))


@pytest.mark.parametrize("kind", MAKERS)
def test_a_frame_without_ids_is_numbered_like_a_list(kind: str) -> None:
    texts = COLUMNS["text"]
    opened = open_documents(MAKERS[kind]({"text": texts}))
    assert list(opened) == [(str(i), text) for i, text in enumerate(texts)]
    assert list(opened) == list(open_documents(texts))  # and a second pass gives the same


@pytest.mark.parametrize("kind", MAKERS)
def test_a_corpus_names_other_columns_of_a_frame(kind: str) -> None:
    frame = MAKERS[kind]({"key": [7, 8], "title": ["One", None], "body": ["first", "second"]})
    corpus = Corpus(frame, id="key", text=["title", "body"], keep=["title"])
    assert list(corpus.rows()) == [
        (("7", "One\n\nfirst"), ["One"]),
        (("8", "second"), [None]),
    ]


@pytest.mark.parametrize("kind", MAKERS)
def test_more_rows_than_a_batch_keep_their_order(kind: str) -> None:
    n = 10_000
    frame = MAKERS[kind]({"id": np.arange(n).astype(str).tolist(), "text": ["word"] * n})
    assert [document.id for document in open_documents(frame)] == list(map(str, range(n)))


@pytest.mark.parametrize("kind", MAKERS)
def test_faults_of_a_frame_are_reported_with_their_rows(kind: str) -> None:
    frame = MAKERS[kind]({"id": ["a", "b", "a"], "text": ["one", None, "three"]})
    with pytest.raises(CorpusError, match=r"(?s):2: empty text.*:3: id occurs twice"):
        list(open_documents(frame))


def test_a_class_label_of_a_data_set_is_its_name() -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        {"text": datasets.Value("string"), "topic": datasets.ClassLabel(names=TOPICS)}
    )
    texts = [f"so much {word}" for word in WORDS.values()]
    labelled = datasets.Dataset.from_dict({"text": texts, "topic": [0, 1, -1]}, features=features)
    with pytest.warns(UserWarning, match="1 row of the seeds without a topic"):
        model = hierseed.fit(
            COLUMNS["text"],
            TOPICS,
            labelled,
            embedder="wordllama",
            method="unfit",
            seeds_from_names=True,
            other=False,
        )
    assert model.assign(texts[:2]).to_frame()["topic"].tolist() == TOPICS[:2]


def test_a_data_set_of_several_splits_asks_for_one() -> None:
    datasets = pytest.importorskip("datasets")
    splits = datasets.DatasetDict({"train": data_set(COLUMNS), "test": data_set(COLUMNS)})
    with pytest.raises(CorpusError, match=r"'train', 'test'. Give one of them, such as data\['tr"):
        open_documents(splits)
    with pytest.raises(CorpusError, match="Give one of them"):
        hierseed.fit(COLUMNS["text"], TOPICS, splits, embedder="wordllama")


def test_a_series_is_a_list_of_texts() -> None:
    polars = pytest.importorskip("polars")
    for series in (pd.Series(COLUMNS["text"]), polars.Series(COLUMNS["text"])):
        assert list(open_documents(series)) == list(open_documents(COLUMNS["text"]))


def test_seeds_that_are_no_table_are_refused() -> None:
    with pytest.raises(SeedError, match="seeds can't be a int"):
        hierseed.fit(COLUMNS["text"], TOPICS, 7, embedder="wordllama")
