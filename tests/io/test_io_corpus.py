"""Every reader gives back what was written; every fault has a file, a line and a name."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hierseed.cli.console import wording
from hierseed.errors import CorpusError
from hierseed.io.corpus import Corpus, Document
from hierseed.io.records import open_records
from hierseed.io.records.rows import Fault, SkippedRows
from hierseed.io.tables import write_table

Rows = list[tuple[str, str]]


def write_csv(file: Path, rows: Rows, delimiter: str = ",", end: str = "\r\n") -> None:
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if end == "\n" else csv.QUOTE_MINIMAL  # else a lone \r stays bare
    writer = csv.writer(text, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerows([("text", "id"), *[(body, name) for name, body in rows]])
    file.write_bytes(text.getvalue().encode())


def write_jsonl(file: Path, rows: Rows, ascii: bool = True) -> None:
    objects = ({"id": name, "more": [1], "text": body} for name, body in rows)
    file.write_text("".join(json.dumps(each, ensure_ascii=ascii) + "\n" for each in objects))


def write_parquet(file: Path, rows: Rows) -> None:
    frame = pd.DataFrame(rows, columns=["id", "text"], dtype=object)
    frame.assign(more=1.5).to_parquet(file)


def zipped(write: Callable[[Path, Rows], None]) -> Callable[[Path, Rows], None]:
    def write_and_zip(file: Path, rows: Rows) -> None:
        write(file, rows)
        file.write_bytes(gzip.compress(file.read_bytes()))

    return write_and_zip


FORMATS: dict[str, Callable[[Path, Rows], None]] = {
    "c.csv": write_csv,
    "semicolon.csv": lambda file, rows: write_csv(file, rows, ";", "\n"),
    "t.tsv": lambda file, rows: write_csv(file, rows, "\t"),
    "j.jsonl": write_jsonl,
    "plain.jsonl": lambda file, rows: write_jsonl(file, rows, False),
    "c.csv.gz": zipped(write_csv),
    "j.jsonl.gz": zipped(write_jsonl),
    "p.parquet": write_parquet,
}
# Zero bytes are refused on purpose; surrogates are no text in any encoding.
texts = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=30)
filled = texts.filter(str.strip)
corpora = st.lists(
    st.tuples(filled.map(str.strip), filled), min_size=1, max_size=8, unique_by=lambda row: row[0]
)


@pytest.mark.parametrize("name", FORMATS)
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(rows=corpora)
def test_any_corpus_comes_back(name: str, rows: Rows, tmp_path: Path) -> None:
    FORMATS[name](tmp_path / name, rows)
    assert list(Corpus(tmp_path / name)) == rows


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(bodies=st.lists(filled, min_size=1, max_size=6))
def test_any_folder_of_texts_comes_back(
    bodies: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("texts")
    (folder / "deep").mkdir()
    for i, body in enumerate(bodies):
        (folder / f"{'deep/' if i % 2 else ''}{i}.txt").write_bytes(body.encode())
    (folder / ".hidden.txt").write_text("not a document")
    (folder / "notes.md").write_text("not a document")
    found = {int(Path(name).stem): body for name, body in Corpus(folder)}
    # a byte order mark at the start is a mark and no letter
    assert found == {i: body.removeprefix("\ufeff") for i, body in enumerate(bodies)}


def faults_of(corpus: Corpus) -> list[tuple[int, str]]:
    return [(fault.line, fault.kind) for fault in corpus.survey().faults.kept]


def test_all_faults_are_reported_at_once_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "docs.csv"
    file.write_bytes(
        b"id,text\n"
        b"1,fine\n"
        b"2, \n"  # 3: empty
        b'3,"over\ntwo lines"\n'
        b"1,again\n"  # 6: repeated
        b"4,caf\xe9\n"  # 7: Latin-1
        b"5,a,b\n"  # 8: one field too many
        b",nameless\n"  # 9
        b'6,"open\n'  # 10
        b"7,last\n"
    )
    corpus = Corpus(file)
    with pytest.raises(CorpusError) as caught:
        list(corpus)
    message = str(caught.value)
    assert message.startswith(f"6 lines of {file} can't be used")
    assert "on_error='skip'" in message
    assert "docs.csv:7: not UTF-8 (byte 0xE9 at position 6)\n" in message
    assert "It may be Windows-1252" in message
    assert "Use encoding='auto' or encoding='cp1252'" in message
    assert "Use --encoding auto" in caught.value.worded(wording)
    assert sorted(faults_of(corpus)) == [
        (3, "empty text"),
        (6, "id occurs twice"),
        (7, "not UTF-8"),
        (8, "wrong number of fields"),
        (9, "no id"),
        (10, "unclosed quote"),
    ]


def test_letters_are_those_of_the_documents_kept(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("id,text\n1,four\n1,four\n2,ab\n1,four\n")
    corpus = Corpus(tmp_path / "docs.csv", on_error="skip")
    assert corpus.describe() == "docs.csv, 2 documents, 3 characters each on average"


def test_skipping_keeps_going_and_keeps_the_rows_left_out(tmp_path: Path) -> None:
    file = tmp_path / "docs.jsonl"
    file.write_text('{"id": 1, "text": "a"}\n{"id": 1, "text": "b"}\n{"id": 2, "te\n[3]\n\n')
    with SkippedRows.beside(tmp_path / "table.csv") as skipped:
        corpus = Corpus(file, on_error="skip", on_skip=skipped.write)
        assert list(corpus) == [Document("1", "a")]
        assert len(corpus) == 1
    kept = pd.read_csv(tmp_path / "table.skipped.csv")
    assert kept["line"].tolist() == [3, 4, 2]
    assert kept["row"].tolist() == ['{"id": 2, "te', "[3]", '{"id": 1, "text": "b"}']
    assert kept["fault"].tolist() == ["broken JSON", "not a JSON object", "id occurs twice"]


AUTHORED = [  # id, date, text, author: three rows that can't be used
    (None, "1990", "no id here", "Ann"),
    ("1", "1991", None, "Bob"),
    ("2", "1992", "first two", "Cid"),
    ("2", "1993", "second two;\nof two lines", "Dan"),
]


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "xlsx"])
def test_rows_left_out_are_kept_whole(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame(AUTHORED, columns=["id", "date", "text", "author"])
    write_table(frame, tmp_path / f"docs.{ending}")
    with SkippedRows.beside(tmp_path / "table.csv") as skipped:
        corpus = Corpus(tmp_path / f"docs.{ending}", on_error="skip", on_skip=skipped.write)
        assert [document.id for document in corpus] == ["2"]
    kept = pd.read_csv(tmp_path / "table.skipped.csv")["row"].tolist()
    if ending in ("csv", "tsv"):
        wrong = [",1990,no id here,Ann", "1,1991,,Bob", '2,1993,"second two;\nof two lines",Dan']
        assert [row.replace("\t", ",") for row in kept] == wrong
    else:
        rows = [json.loads(row) for row in kept]
        wrong = [AUTHORED[0], AUTHORED[1], AUTHORED[3]]
        assert [tuple(row.values()) for row in rows] == wrong


def test_rows_with_a_fault_on_their_second_line_are_kept_whole(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_bytes(b'id,text\n1,"one\ncaf\xe9"\n2,"a\nb",c\n3,fine\n')
    with SkippedRows.beside(tmp_path / "table.csv") as skipped:
        list(Corpus(tmp_path / "docs.csv", on_error="skip", on_skip=skipped.write))
    kept = pd.read_csv(tmp_path / "table.skipped.csv")
    assert kept["row"].tolist() == ['1,"one\ncaf\\xe9"', '2,"a\nb",c']


def test_missing_columns_are_reported_together(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("doc,body\n1,a\n")
    with pytest.raises(CorpusError, match=r"(?s)no column 'text'.*no column 'id'"):
        Corpus(tmp_path / "docs.csv").survey()


def test_an_empty_file_of_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("fine")
    (tmp_path / "b.txt").write_text(" ")
    with pytest.raises(CorpusError, match=rf"{tmp_path.name}/b\.txt: empty text"):
        list(Corpus(tmp_path))


def test_no_list_of_skipped_rows_where_none_was(tmp_path: Path) -> None:
    old = tmp_path / "table.skipped.csv"
    old.write_text("of an earlier run")
    with SkippedRows.beside(tmp_path / "table.csv"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_broken_off_run_keeps_the_old_list(tmp_path: Path) -> None:
    old = tmp_path / "table.skipped.csv"
    old.write_text("of an earlier run")
    with pytest.raises(RuntimeError), SkippedRows.beside(tmp_path / "table.csv"):
        raise RuntimeError
    assert [file.name for file in tmp_path.iterdir()] == ["table.skipped.csv"]
    assert old.read_text() == "of an earlier run"


def test_quotes_as_letters_on_request(tmp_path: Path) -> None:
    file = tmp_path / "docs.tsv"
    file.write_text('id\ttext\n1\t"unclosed, on purpose\n2\tb\n')
    assert list(Corpus(file, quotes=False)) == [("1", '"unclosed, on purpose'), ("2", "b")]


def test_a_missing_column_is_reported_with_those_there_are(tmp_path: Path) -> None:
    write_parquet(tmp_path / "docs.parquet", [("1", "a")])
    with pytest.raises(
        CorpusError, match=r"no column 'body'; its 3 columns are 'id', 'text', 'more'"
    ):
        Corpus(tmp_path / "docs.parquet", text="body").survey()
    with pytest.raises(CorpusError, match=r"did you mean 'text'.*text="):
        Corpus(tmp_path / "docs.parquet", text="texts").survey()


def test_columns_by_name_without_regard_to_capitals(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("ID,Body\n 7 ,hello\n")
    assert list(Corpus(tmp_path / "docs.csv", text="body")) == [("7", "hello")]
    assert list(Corpus(tmp_path / "docs.csv", id="#", text="body")) == [("1", "hello")]
    (tmp_path / "docs.csv").write_text("text,text\na,b\n")
    with pytest.raises(CorpusError, match="2 columns named 'text'"):
        Corpus(tmp_path / "docs.csv", id="#").survey()


def test_numbers_as_ids_match_whatever_wrote_them(tmp_path: Path) -> None:
    pd.DataFrame({"id": [7.0, 8.0], "text": ["a", "b"]}).to_parquet(tmp_path / "docs.parquet")
    assert [document.id for document in Corpus(tmp_path / "docs.parquet")] == ["7", "8"]
    (tmp_path / "docs.jsonl").write_text('{"id": 7, "text": ["no", "text"]}\n')
    assert faults_of(Corpus(tmp_path / "docs.jsonl")) == [(1, "the text is not a string")]


def test_excel_gives_the_values_that_were_shown(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": [1, 2, None], "text": ["a", "b", None]})
    frame.to_excel(tmp_path / "docs.xlsx", index=False)
    assert list(Corpus(tmp_path / "docs.xlsx")) == [("1", "a"), ("2", "b")]
    (tmp_path / "bad.xlsx").write_text("id,text\n")
    with pytest.raises(CorpusError, match="not a readable Excel workbook"):
        open_records(tmp_path / "bad.xlsx").columns  # noqa: B018 - reading it is the test


sheet_letters = st.characters(
    codec="utf-8", exclude_categories=["Cc"], exclude_characters="\ufffe\uffff"
)
sheet_texts = st.text(sheet_letters, max_size=20)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(bodies=st.lists(sheet_texts.filter(lambda text: text.strip()), min_size=1, max_size=5))
def test_any_sheet_comes_back(bodies: list[str], tmp_path: Path) -> None:
    rows = [(str(i), body) for i, body in enumerate(bodies)]
    write_table(pd.DataFrame(rows, columns=["id", "text"]), tmp_path / "docs.xlsx")
    assert list(Corpus(tmp_path / "docs.xlsx")) == rows


def test_real_documents_are_all_read(shared_data: Path) -> None:
    corpus = Corpus(shared_data / "us_code" / "docs.jsonl.gz")
    assert len(corpus) == 3045
    assert sum(1 for _ in corpus) == 3045


def test_faults_in_full_are_bounded() -> None:
    from hierseed.io.records.rows import KEPT, Faults

    faults = Faults(Fault("f", i, "broken", row="x" * 1000) for i in range(10 * KEPT))
    assert len(faults) == 10 * KEPT
    assert len(faults.kept) == KEPT
    assert faults.kept[0].row == ""
    faults.add(Fault("f", 2000, "empty"))  # a late kind is told all the same
    assert [str(fault) for fault in faults.errors(CorpusError)] == [
        "f: broken; the same in f:1, f:2, f:3, f:4 and 995 more",
        "f:2000: empty",
    ]


def test_several_columns_of_text_are_joined(tmp_path: Path) -> None:
    file = tmp_path / "docs.csv"
    file.write_text("id,Title,Abstract\n1,Guns,They are many.\n2,,Only this\n3,Only that, \n4,,\n")
    corpus = Corpus(file, text=["title", "Abstract", "title"], on_error="skip")
    assert list(corpus.texts()) == ["Guns\n\nThey are many.", "Only this", "Only that"]
    (fault,) = corpus.survey().faults.errors(CorpusError)
    assert str(fault) == "docs.csv:5: empty text (id '4')"
    turned = Corpus(file, text=["Abstract", "Title"], on_error="skip")
    assert next(iter(turned)).text == "They are many.\n\nGuns"
    with pytest.raises(CorpusError, match="no column 'Body'"):
        Corpus(file, text=["Title", "Body"]).survey()
