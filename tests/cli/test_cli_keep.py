"""assign --keep and --codes: what else goes into the table."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from cli_project import FIT, Project
from typer.testing import Result

from hierseed.io.corpus import Corpus, Document

Run = Callable[..., Result]
WRITE: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    ".csv": lambda frame, file: frame.to_csv(file, index=False),
    ".jsonl": lambda frame, file: frame.to_json(file, orient="records", lines=True),
    ".parquet": lambda frame, file: frame.to_parquet(file, index=False),
    ".xlsx": lambda frame, file: frame.to_excel(file, index=False),
}
READ: dict[str, Callable[[Path], pd.DataFrame]] = {
    ".csv": pd.read_csv,
    ".jsonl": lambda file: pd.read_json(file, lines=True),
    ".parquet": pd.read_parquet,
    ".xlsx": pd.read_excel,
}


def corpus_of(project: Project, ending: str) -> Path:
    """The corpus with a year, which one row lacks, and a topic that somebody gave it."""
    frame = pd.DataFrame(project.documents, columns=["id", "text"])
    frame.insert(0, "Year", pd.Series(range(1950, 1950 + len(frame)), dtype="Int64"))
    frame.loc[3, "Year"] = None
    frame["topic"] = [f"old {i}" for i in range(len(frame))]
    WRITE[ending](frame, project / f"more{ending}")
    return project / f"more{ending}"


@pytest.mark.parametrize("written", WRITE)
@pytest.mark.parametrize("read", WRITE)
def test_columns_go_along_in_every_format(
    model: Project, hierseed: Run, read: str, written: str
) -> None:
    source = corpus_of(model, read)
    table = model / f"placed{written}"
    done = hierseed("assign", "model", source, "-o", table, "--keep", "year", "--keep", "topic")
    assert done.exit_code == 0, done.stderr
    placed = READ[written](table)
    assert list(placed)[-3:] == ["is_seed", "Year", "corpus_topic"]
    years = pd.to_numeric(placed["Year"]).tolist()
    assert years[:3] + years[4:] == [1950, 1951, 1952, *range(1954, 1998)]
    assert pd.isna(years[3])
    assert placed["corpus_topic"].tolist() == [f"old {i}" for i in range(48)]
    if written == ".csv":
        assert ",1950,old 0" in table.read_text()  # a year is not 1950.0 because one is missing


@pytest.mark.parametrize("read", WRITE)
def test_every_column(model: Project, hierseed: Run, read: str) -> None:
    source = corpus_of(model, read)
    assert hierseed("assign", "model", source, "-o", "p.csv", "--keep", "*").exit_code == 0
    placed = pd.read_csv(model / "p.csv")
    assert list(placed)[-3:] == ["Year", "text", "corpus_topic"]
    assert placed["text"].tolist() == [text for _, text in model.documents]


def test_each_row_of_a_document_with_several_topics_has_them(
    project: Project, hierseed: Run
) -> None:
    source = corpus_of(project, ".csv")
    options = ("--method", "hierseed", "--set", "eccentricity=1")
    assert hierseed("fit", source, *FIT, *options, "-o", "model").exit_code == 0
    assert hierseed("assign", "model", source, "-o", "p.csv", "--keep", "text").exit_code == 0
    placed = pd.read_csv(project / "p.csv")
    assert len(placed) > len(project.documents)
    assert set(zip(placed["id"], placed["text"])) == set(project.documents)


def test_rows_left_out_take_their_columns_along(model: Project, hierseed: Run) -> None:
    (model / "few.csv").write_text("id,text,year\n1,the cat,1\n2,,2\n3,the dog,3\n3,again,4\n")
    options = ("--keep", "year", "--on-error", "skip")
    assert hierseed("assign", "model", "few.csv", "-o", "p.csv", *options).exit_code == 0
    placed = pd.read_csv(model / "p.csv")
    assert placed[["id", "year"]].to_numpy().tolist() == [[1, 1], [3, 3]]


def test_a_column_that_is_not_there(model: Project, hierseed: Run) -> None:
    done = hierseed("assign", "model", corpus_of(model, ".csv"), "-o", "p.csv", "--keep", "topics")
    assert done.exit_code == 1
    assert "no column 'topics'" in done.stderr
    assert "did you mean 'topic'? Name a column of the file with --keep" in done.stderr
    done = hierseed("assign", "model", "model.vectors", "-o", "p.csv", "--keep", "year")
    assert done.exit_code == 1
    assert "Give the corpus instead" in done.stderr
    assert not (model / "p.csv").exists()


def test_codes(project: Project, hierseed: Run) -> None:
    lines = ["1 - Animals", "101 - Animals > Cats", "102 - Animals > Dogs", "2 - Food"]
    lines += ["201 - Food > Bread", "207 - Food > Soup"]
    (project / "topics.txt").write_text("# ids: yes\n" + "\n".join(lines) + "\n")
    assert hierseed("fit", "docs.csv", *FIT, "-o", "model").exit_code == 0
    assert hierseed("assign", "model", "docs.csv", "-o", "p.csv", "--codes").exit_code == 0
    placed = pd.read_csv(project / "p.csv", dtype={"code": str}, keep_default_na=False)
    assert list(placed)[-2:] == ["is_seed", "code"]
    code = {line.split(" - ")[1]: line.split(" - ")[0] for line in lines} | {"": ""}
    assert placed["code"].tolist() == [code.get(topic, "") for topic in placed["topic"]]
    assert "207" in set(placed["code"])


def test_codes_where_there_are_none(model: Project, hierseed: Run) -> None:
    done = hierseed("assign", "model", "docs.csv", "-o", "p.csv", "--codes")
    assert done.exit_code == 2
    assert "has no codes" in done.stderr


def test_a_corpus_gives_rows_and_documents(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text('{"id": 7, "text": "a", "tags": ["x"]}\n')
    corpus = Corpus(tmp_path / "c.jsonl", keep=["tags", "TAGS"])
    assert corpus.kept == ["tags"]
    assert list(corpus.rows()) == [(Document("7", "a"), [["x"]])]
    assert list(corpus) == [Document("7", "a")]
