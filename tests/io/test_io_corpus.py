"""Every reader gives back what was written; every fault has a file, a line and a name."""

import csv
import gzip
import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hierseed.errors import CorpusError
from hierseed.io.corpus import Corpus, Document
from hierseed.io.faults import Fault, SkippedRows
from hierseed.io.records import lines, open_records
from hierseed.io.records.delimited import DelimitedFile
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


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(raw=st.binary(max_size=60), name=st.sampled_from(["x.csv", "x.tsv", "x.jsonl", "x.parquet"]))
def test_any_bytes_are_read_or_refused_with_a_reason(raw: bytes, name: str, tmp_path: Path) -> None:
    header = b"" if name.endswith("parquet") else b'id,text\n{"id": 1, "text": 2}\n'
    (tmp_path / name).write_bytes(header + raw)
    try:
        list(Corpus(tmp_path / name, on_error="skip"))
    except CorpusError as fault:
        assert name in str(fault)  # noqa: PT017 - both ways out are right


def faults_of(corpus: Corpus) -> list[tuple[int, str]]:
    return [(fault.line, fault.kind) for fault in corpus.survey().faults.kept]


def test_all_faults_are_told_at_once_with_their_lines(tmp_path: Path) -> None:
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
    assert "--on-error skip" in message
    assert "docs.csv:7: not UTF-8 (byte 0xE9 at position 6). Perhaps it is Windows" in message
    assert "iconv -f WINDOWS-1252 -t UTF-8 docs.csv > utf8_docs.csv" in message
    assert sorted(faults_of(corpus)) == [
        (3, "empty text"),
        (6, "id stands twice"),
        (7, "not UTF-8"),
        (8, "wrong number of fields"),
        (9, "no id"),
        (10, "unclosed quote"),
    ]


def test_letters_are_those_of_the_documents_kept(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("id,text\n1,four\n1,four\n2,ab\n1,four\n")
    corpus = Corpus(tmp_path / "docs.csv", on_error="skip")
    assert corpus.describe() == "docs.csv, 2 documents, 3 letters each on average"


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
    assert kept["fault"].tolist() == ["broken JSON", "not a JSON object", "id stands twice"]


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


def test_columns_that_lack_are_told_together(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("doc,body\n1,a\n")
    with pytest.raises(CorpusError, match=r"(?s)no column 'text'.*no column 'id'"):
        Corpus(tmp_path / "docs.csv")


def test_a_file_in_another_encoding_is_told_once(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_bytes(b"id,text\n" + b"%d,caf\xe9\n" * 300 % tuple(range(300)))
    with pytest.raises(CorpusError) as caught:
        list(Corpus(tmp_path / "docs.csv"))
    assert str(caught.value).count("not UTF-8") == 1
    assert (
        "the same in docs.csv:3, docs.csv:4, docs.csv:5, docs.csv:6 and 295 more. Perhaps"
        in str(caught.value)
    )
    assert "Windows-1252" in str(caught.value)


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


@pytest.mark.parametrize(
    ("rows", "line", "opened"),
    [
        ('1,a\n2,"open\n3,b\n4,c\n', 3, 3),
        ('1,a\n2,"open\n3,"closed"\n4,c\n', 3, 3),
        ('1,a\n"2","fine\nstill","open\n3,b,c\n', 3, 4),
        ('1,a\n2,"a "word" inside"\n3,b\n', 3, 3),
    ],
)
def test_an_unclosed_quote_is_named_where_it_opens_and_costs_one_row(
    tmp_path: Path, rows: str, line: int, opened: int
) -> None:
    file = tmp_path / "docs.csv"
    file.write_text("id,text\n" + rows)
    corpus = Corpus(file, on_error="skip")
    found = [document.id for document in corpus]
    first = corpus.survey().faults.kept[0]
    assert (first.line, first.kind) == (line, "unclosed quote")
    assert f"opened on line {opened};" in first.detail
    assert found[0] == "1"
    if opened == line:
        assert found == [row[0] for row in rows.splitlines() if row[0] != "2"]


def test_quotes_as_letters_on_request(tmp_path: Path) -> None:
    file = tmp_path / "docs.tsv"
    file.write_text('id\ttext\n1\t"unclosed, on purpose\n2\tb\n')
    assert list(Corpus(file, quotes=False)) == [("1", '"unclosed, on purpose'), ("2", "b")]


@pytest.mark.parametrize("name", ["docs.csv", "docs.jsonl"])
def test_a_huge_line_never_fills_the_memory(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """64 MB in one line, between two good ones, with room for far less."""
    good = (
        ["1,a", "2,b"]
        if name == "docs.csv"
        else [json.dumps({"id": i, "text": "a"}) for i in (1, 2)]
    )
    with (tmp_path / name).open("w") as file:
        file.write("id,text\n" if name == "docs.csv" else "")
        file.write(good[0] + "\n")
        for _ in range(64):
            file.write('"' + "x" * (2**20 - 1))
        file.write("\n" + good[1] + "\n")
    tracemalloc.start()
    corpus = Corpus(tmp_path / name, on_error="skip")
    assert [document.id for document in corpus] == ["1", "2"]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * lines.LIMIT
    (fault,) = corpus.survey().faults.kept
    assert fault.kind == "line too long"
    assert "67,108,8" in fault.detail


def test_an_open_quote_before_a_long_file_never_fills_the_memory(tmp_path: Path) -> None:
    file = tmp_path / "docs.csv"
    with file.open("w") as handle:
        handle.write('id,text\n1,"open\n')
        for i in range(200_000):
            handle.write(f"{i + 2},{'word ' * 8}\n")
    corpus = Corpus(file, on_error="skip")
    assert len(corpus) == 200_000
    assert faults_of(corpus) == [(2, "unclosed quote")]


def test_a_row_of_many_long_fields_is_bounded_too(tmp_path: Path) -> None:
    field = '"' + "line\n" * 30 + '"'
    (tmp_path / "docs.csv").write_text(f"a,b,c,d\n{field},{field},{field},{field}\n1,2,3,4\n")
    found = list(DelimitedFile(tmp_path / "docs.csv", limit=400).rows(["a"]))
    assert isinstance(found[0], Fault)
    assert (found[0].line, found[0].kind) == (2, "unclosed quote")
    assert "goes on for more than 400 letters" in found[0].detail
    assert found[-1][:2] == (123, ["1"])


def test_the_byte_order_mark_is_no_letter(tmp_path: Path) -> None:
    file = tmp_path / "docs.csv"
    file.write_bytes("\ufeffid,text\n1,naïve\n".encode())
    assert list(Corpus(file)) == [("1", "naïve")]


@pytest.mark.parametrize(
    ("start", "said"),
    [
        ("id,text\n".encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04rest", "Office file"),
        (b"%PDF-1.7", "PDF"),
        (b"\x7fELF\x02\x01\x01" + bytes(9), "byte 7 is zero"),
        ("id,text\n1,one\n2,two\n".encode("utf-16-le"), "byte 1 is zero"),
        (b"PAR1", "ending .parquet"),
    ],
)
def test_a_binary_file_is_called_by_its_name(tmp_path: Path, start: bytes, said: str) -> None:
    (tmp_path / "docs.csv").write_bytes(start)
    with pytest.raises(CorpusError, match=said):
        Corpus(tmp_path / "docs.csv")


@pytest.mark.parametrize("before", [0, 1, 30_000])
def test_a_zero_byte_costs_its_own_row_wherever_it_stands(tmp_path: Path, before: int) -> None:
    rows = [b"%d,fine\n" % i for i in range(before + 2)]
    rows[before] = b"bad,a\0b\n"
    (tmp_path / "docs.csv").write_bytes(b"id,text\n" + b"".join(rows))
    corpus = Corpus(tmp_path / "docs.csv", on_error="skip")
    assert len(corpus) == before + 1
    assert faults_of(corpus) == [(before + 2, "not text")]


def test_a_gzip_file_cut_off_is_refused_with_the_last_good_line(tmp_path: Path) -> None:
    whole = gzip.compress(b"id,text\n" + b"".join(b"%d,%d\n" % (i, i * 7919) for i in range(9999)))
    (tmp_path / "docs.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CorpusError, match=r"damaged gzip file.*after line \d"):
        list(Corpus(tmp_path / "docs.csv.gz", on_error="skip"))


def test_a_missing_column_is_said_with_those_there_are(tmp_path: Path) -> None:
    write_parquet(tmp_path / "docs.parquet", [("1", "a")])
    with pytest.raises(
        CorpusError, match=r"no column 'body'; its 3 columns are 'id', 'text', 'more'"
    ):
        Corpus(tmp_path / "docs.parquet", text="body")
    with pytest.raises(CorpusError, match=r"did you mean 'text'.*--text"):
        Corpus(tmp_path / "docs.parquet", text="texts")


def test_columns_by_name_without_regard_to_capitals(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("ID,Body\n 7 ,hello\n")
    assert list(Corpus(tmp_path / "docs.csv", text="body")) == [("7", "hello")]
    assert list(Corpus(tmp_path / "docs.csv", id="#", text="body")) == [("1", "hello")]
    (tmp_path / "docs.csv").write_text("text,text\na,b\n")
    with pytest.raises(CorpusError, match="2 columns named 'text'"):
        Corpus(tmp_path / "docs.csv", id="#")


def test_numbers_as_ids_match_whatever_wrote_them(tmp_path: Path) -> None:
    pd.DataFrame({"id": [7.0, 8.0], "text": ["a", "b"]}).to_parquet(tmp_path / "docs.parquet")
    assert [document.id for document in Corpus(tmp_path / "docs.parquet")] == ["7", "8"]
    (tmp_path / "docs.jsonl").write_text('{"id": 7, "text": ["no", "text"]}\n')
    assert faults_of(Corpus(tmp_path / "docs.jsonl")) == [(1, "the text is no text")]


def test_half_a_letter_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text(r'{"id": 1, "text": "\ud83d"}' + "\n")
    (fault,) = Corpus(tmp_path / "docs.jsonl").survey().faults.kept
    assert (fault.line, fault.detail) == (1, "half of a surrogate pair")


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "docs.parquet"
    write_parquet(file, [(str(i), "a") for i in range(100)])
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(CorpusError, match="no Parquet file, or was cut off"):
        Corpus(file)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no file"):
        Corpus(tmp_path / "absent.csv")
    with pytest.raises(CorpusError, match=r"no \.txt files"):
        Corpus(tmp_path)
    (tmp_path / "docs.csv").write_text("")
    with pytest.raises(CorpusError, match="is empty"):
        Corpus(tmp_path / "docs.csv")
    (tmp_path / "docs.csv").write_text("id,text\n")
    with pytest.raises(CorpusError, match="no document"):
        list(Corpus(tmp_path / "docs.csv"))
    (tmp_path / "docs.docx").write_text("")
    with pytest.raises(CorpusError, match=r"'\.docx' is none of \.csv"):
        Corpus(tmp_path / "docs.docx")


def test_files_of_a_folder_have_faults_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("fine")
    (tmp_path / "b.txt").write_bytes(b"one\ncaf\xe9")
    (tmp_path / "c.txt").write_bytes(b"%PDF-1.4")
    (tmp_path / "d.txt").write_bytes(b"x" * (lines.LIMIT + 1))
    corpus = Corpus(tmp_path, on_error="skip")
    assert list(corpus) == [("a.txt", "fine")]
    assert faults_of(corpus) == [(2, "not UTF-8"), (0, "not text"), (0, "file too long")]


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
    assert sum(1 for _ in corpus.batches(1000)) == 4


def test_faults_in_full_are_bounded() -> None:
    from hierseed.io.faults import KEPT, Faults

    faults = Faults(Fault("f", i, "broken", row="x" * 1000) for i in range(10 * KEPT))
    assert len(faults) == 10 * KEPT
    assert len(faults.kept) == KEPT
    assert faults.kept[0].row == ""
    faults.add(Fault("f", 2000, "empty"))  # a late kind is told all the same
    assert faults.told() == [
        "f: broken; the same in f:1, f:2, f:3, f:4 and 995 more",
        "f:2000: empty",
    ]


def test_several_columns_of_text_are_joined(tmp_path: Path) -> None:
    file = tmp_path / "docs.csv"
    file.write_text("id,Title,Abstract\n1,Guns,They are many.\n2,,Only this\n3,Only that, \n4,,\n")
    corpus = Corpus(file, text=["title", "Abstract", "title"], on_error="skip")
    assert list(corpus.texts()) == ["Guns\n\nThey are many.", "Only this", "Only that"]
    assert corpus.survey().faults.told() == ["docs.csv:5: empty text (id '4')"]
    turned = Corpus(file, text=["Abstract", "Title"], on_error="skip")
    assert next(iter(turned)).text == "They are many.\n\nGuns"
    with pytest.raises(CorpusError, match="no column 'Body'"):
        Corpus(file, text=["Title", "Body"])
