"""Tables and queries of SQLite and DuckDB files give what a CSV of the same rows gives."""

import csv
import hashlib
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import hierseed
from hierseed import CorpusError, MissingDependency
from hierseed.cli.app import make_app
from hierseed.io.corpus import Corpus
from hierseed.io.seeds import SeedTable

TOPICS = ["Animals > Cats", "Animals > Dogs", "Food"]
WORDS = ["cat kitten purr", "dog puppy bark", "soup and bread"]
ROWS = [(f"d{i}", f"a {WORDS[i % 3]} number {i}", i % 2) for i in range(60)]
SEEDS = [(f"d{i}", TOPICS[i % 3]) for i in range(9)]
KINDS = ["sqlite", "duckdb"]


def connect(kind: str, file: Path) -> Any:
    if kind == "sqlite":
        return sqlite3.connect(file)
    return pytest.importorskip("duckdb").connect(str(file))


@pytest.fixture(params=KINDS)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    file = tmp_path / f"corpus.{request.param}"
    connection = connect(request.param, file)
    connection.execute("create table docs (id text, text text, year integer)")
    connection.executemany("insert into docs values (?, ?, ?)", ROWS)
    connection.execute("create table seeds (id text, topic text)")
    connection.executemany("insert into seeds values (?, ?)", SEEDS)
    connection.execute('create table "odd "" name" (id text, text text)')
    connection.execute("create view recent as select id, text from docs where year = 1")
    connection.commit()
    connection.close()
    return file


def sha(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


def test_a_table_and_a_query_are_corpora(database: Path) -> None:
    before = sha(database)
    documents = [(id, text) for id, text, _ in ROWS]
    assert list(Corpus(database, table="docs")) == documents
    assert list(Corpus(database, table="DOCS")) == documents
    assert list(Corpus(database, table="recent")) == documents[1::2]
    query = "select id as name, upper(text) as body from docs order by id desc; -- the last first"
    found = list(Corpus(database, query=query.split(" --")[0], id="name", text="body"))
    assert found == [(id, text.upper()) for id, text in sorted(documents, reverse=True)]
    commented = "select id, text from docs -- all of them"
    assert list(Corpus(database, query=commented)) == documents
    kept = Corpus(database, table="docs", keep=["year"])
    assert [values for _, values in kept.rows()] == [[year] for *_, year in ROWS]
    assert sha(database) == before
    assert [file.name for file in database.parent.iterdir()] == [database.name]


def test_seeds_of_a_database(database: Path) -> None:
    seeds = SeedTable(database, sheet="seeds")
    model = hierseed.fit(
        Corpus(database, table="docs"), TOPICS, seeds, embedder="wordllama", other=False
    )
    assert model.assign(["my dog"]).to_frame()["topic"].item() == "Animals > Dogs"


@pytest.mark.parametrize(
    "query",
    [
        "drop table docs",
        "insert into docs values ('x', 'y', 1)",
        "select * from docs) as d; delete from docs; --",
        "select * from docs); drop table docs; select * from (select 1",
        "attach 'other.db' as other",
        "select * from docs; select * from docs",
    ],
)
def test_a_query_that_is_no_select_changes_nothing(
    database: Path, query: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sha(database)
    with pytest.raises(CorpusError, match="can't be read by"):
        list(Corpus(database, query=query))
    assert sha(database) == before
    assert [file.name for file in tmp_path.iterdir()] == [database.name]


def test_a_copy_of_duckdb_writes_no_file(tmp_path: Path) -> None:
    file = tmp_path / "a.duckdb"
    connection = connect("duckdb", file)
    connection.execute("create table docs as select 'a' as id, 'b' as text")
    connection.close()
    stolen = tmp_path / "out.csv"
    with pytest.raises(CorpusError, match="can't be read by duckdb"):
        list(Corpus(file, query=f"copy docs to '{stolen}'"))
    assert not stolen.exists()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, r"has several tables: its 4 tables are .*'docs'.* Choose one with table=…"),
        ({"table": "dosc"}, "has no table 'dosc'; its 4 tables are"),
        ({"table": "docs", "query": "select 1"}, "a table and a query were named"),
        ({"query": "select nothing from docs"}, "can't be read by .*nothing"),
        ({"table": 'odd " name'}, "no document that can be used"),
        ({"table": "seeds"}, "has no column 'text'"),
    ],
)
def test_what_can_t_be_read_is_reported(database: Path, options: dict[str, str], told: str) -> None:
    with pytest.raises(CorpusError, match=told):
        list(Corpus(database, **options))


def test_a_database_of_one_table_needs_no_name(tmp_path: Path) -> None:
    file = tmp_path / "one.db"
    with sqlite3.connect(file) as connection:
        connection.execute("create table whatever (id text, text text)")
        connection.execute("insert into whatever values ('a', 'one')")
    connection.close()
    assert list(Corpus(file)) == [("a", "one")]
    (tmp_path / "none.db").write_bytes(b"")
    with pytest.raises(CorpusError, match="neither an SQLite nor a DuckDB database"):
        list(Corpus(tmp_path / "none.db"))


def test_a_text_that_is_no_utf8_is_a_fault_of_its_row(tmp_path: Path) -> None:
    file = tmp_path / "odd.sqlite"
    with sqlite3.connect(file) as connection:
        connection.execute("create table docs (id text, text text)")
        connection.execute("insert into docs values ('a', 'fine'), ('b', cast(x'41ff' as text))")
    connection.close()
    with pytest.raises(CorpusError, match=r"odd.sqlite:2: bytes that are no UTF-8 \(letter 2\)"):
        list(Corpus(file))
    assert list(Corpus(file, on_error="skip")) == [("a", "fine")]


def test_a_damaged_schema_is_refused_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "docs.sqlite"
    with sqlite3.connect(file) as db:
        db.execute("CREATE TABLE docs (id TEXT, text TEXT)")
    db.close()
    file.write_bytes(file.read_bytes().replace(b"CREATE TABLE", b"CREATE \x80ABLE"))
    with pytest.raises(CorpusError, match="malformed database schema"):
        list(Corpus(file))
    with sqlite3.connect(tmp_path / "bytes.sqlite") as db:
        db.execute("CREATE TABLE docs (id TEXT, text TEXT)")
        db.execute("PRAGMA writable_schema = ON")
        db.execute("UPDATE sqlite_master SET name = x'646f6373'")
    db.close()
    with pytest.raises(CorpusError, match=r"no text|malformed"):
        list(Corpus(tmp_path / "bytes.sqlite"))


def test_tables_belong_to_databases(tmp_path: Path) -> None:
    file = tmp_path / "docs.csv"
    file.write_text("id,text\na,one\n")
    with pytest.raises(CorpusError, match="is no database"):
        list(Corpus(file, table="docs"))


def test_duckdb_that_is_not_installed_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.duckdb"
    file.write_bytes(b"12345678DUCK0000")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingDependency, match=r"pip install 'hierseed\[duckdb\]'"):
        list(Corpus(file))


def test_the_command_line_reads_tables_and_queries(database: Path, tmp_path: Path) -> None:
    topics = tmp_path / "topics.txt"
    topics.write_text("\n".join(TOPICS))
    for name, rows in (("docs", ROWS), ("seeds", SEEDS)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows(
                [["id", "text", "year"] if name == "docs" else ["id", "topic"], *rows]
            )

    def run(*words: object) -> str:
        found = CliRunner().invoke(make_app(), [str(word) for word in words])
        assert found.exit_code == 0, found.output
        return found.output

    common = ("--taxonomy", topics, "--embedder", "wordllama")
    run("fit", tmp_path / "docs.csv", "-s", tmp_path / "seeds.csv", *common, "-o", tmp_path / "m1")
    run("assign", tmp_path / "m1", tmp_path / "docs.csv", "-o", tmp_path / "1.csv")
    seeds = ("-s", database, "--seed-sheet", "seeds")
    said = run("fit", database, "--table", "docs", *seeds, *common, "-o", tmp_path / "m2")
    assert "--table docs" in said.replace("\n", " ")  # the next command has it too
    query = "select id, text, year from docs order by id"
    run("assign", tmp_path / "m2", database, "--query", query, "-o", tmp_path / "2.csv")
    first, second = ((tmp_path / f"{i}.csv").read_text().splitlines() for i in (1, 2))
    assert sorted(first) == sorted(second)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_memory_does_not_grow_with_a_table(kind: str, tmp_path: Path) -> None:
    """A child reads 200 MB of text; its memory grows by less than that."""
    file = tmp_path / f"large.{kind}"
    connection = connect(kind, file)
    connection.execute("create table docs (id integer, text text)")
    if kind == "sqlite":
        rows = ((i, f"word {i} " * 100) for i in range(200_000))
        connection.executemany("insert into docs values (?, ?)", rows)
    else:
        connection.execute(
            "insert into docs select i, repeat('word ' || i || ' ', 100) from range(200000) t(i)"
        )
    connection.commit()
    connection.close()
    code = (
        "import resource, sys\n"
        "from hierseed.io.corpus import Corpus\n"
        "corpus = Corpus(sys.argv[1])\n"
        "next(corpus._records.rows(['id', 'text']))\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "assert sum(len(text) for text in corpus.texts()) > 2 * 10**8\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", code, str(file)], capture_output=True, text=True, check=True
    )
    assert int(found.stdout) < 150  # MB
