"""Files that are broken, cut off, huge or something else: refused with a reason, or a row each."""

import gzip
import json
import tracemalloc
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hierseed.errors import CorpusError
from hierseed.io.corpus import Corpus
from hierseed.io.records import rows
from hierseed.io.records.delimited import DelimitedFile
from hierseed.io.records.rows import Fault


def faults_of(corpus: Corpus) -> list[tuple[int, str]]:
    return [(fault.line, fault.kind) for fault in corpus.survey().faults.kept]


@pytest.mark.filterwarnings("ignore:.*guessed from the content:UserWarning")
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(raw=st.binary(max_size=60), name=st.sampled_from(["x.csv", "x.tsv", "x.jsonl", "x.parquet"]))
def test_any_bytes_are_read_or_refused_with_a_reason(raw: bytes, name: str, tmp_path: Path) -> None:
    header = b"" if name.endswith("parquet") else b'id,text\n{"id": 1, "text": 2}\n'
    (tmp_path / name).write_bytes(header + raw)
    try:
        list(Corpus(tmp_path / name, on_error="skip"))
    except CorpusError as fault:
        assert name in str(fault)  # noqa: PT017 - both ways out are right


def test_a_file_in_another_encoding_is_reported_once(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_bytes(b"id,text\n" + b"%d,caf\xe9\n" * 300 % tuple(range(300)))
    with pytest.raises(CorpusError) as caught:
        list(Corpus(tmp_path / "docs.csv"))
    assert str(caught.value).count("not UTF-8") == 1
    places = "the same in docs.csv:3, docs.csv:4, docs.csv:5, docs.csv:6 and 295 more\n"
    assert f"{places}It may be Windows-1252" in str(caught.value)


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
    assert peak < 3 * rows.LIMIT
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
    assert "is longer than 400 characters" in found[0].detail
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
        Corpus(tmp_path / "docs.csv").survey()


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


def test_half_a_letter_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "docs.jsonl").write_text(r'{"id": 1, "text": "\ud83d"}' + "\n")
    (fault,) = Corpus(tmp_path / "docs.jsonl").survey().faults.kept
    assert (fault.line, fault.detail) == (1, "half of a surrogate pair")


def test_a_damaged_parquet_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "docs.parquet"
    pd.DataFrame({"id": range(100), "text": "a"}).to_parquet(file)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(CorpusError, match="no Parquet file, or was cut off"):
        Corpus(file).survey()


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="no file"):
        Corpus(tmp_path / "absent.csv").survey()
    with pytest.raises(CorpusError, match=r"no \.txt files"):
        Corpus(tmp_path).survey()
    (tmp_path / "docs.csv").write_text("")
    with pytest.raises(CorpusError, match="is empty"):
        Corpus(tmp_path / "docs.csv").survey()
    (tmp_path / "docs.csv").write_text("id,text\n")
    with pytest.raises(CorpusError, match="no document"):
        list(Corpus(tmp_path / "docs.csv"))
    (tmp_path / "docs.docx").write_text("")
    with pytest.raises(CorpusError, match=r"'\.docx' is none of \.csv"):
        Corpus(tmp_path / "docs.docx").survey()


def test_files_of_a_folder_have_faults_too(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("fine")
    (tmp_path / "b.txt").write_bytes(b"one\ncaf\xe9")
    (tmp_path / "c.txt").write_bytes(b"%PDF-1.4")
    (tmp_path / "d.txt").write_bytes(b"x" * (rows.LIMIT + 1))
    corpus = Corpus(tmp_path, on_error="skip")
    assert list(corpus) == [("a.txt", "fine")]
    assert faults_of(corpus) == [(2, "not UTF-8"), (0, "not text"), (0, "file too long")]
