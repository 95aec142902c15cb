"""Text that is not UTF-8, JSON of all kinds, and sheets of a workbook."""

import gzip
import json
import warnings
from pathlib import Path

import openpyxl
import pytest

from hierseed.errors import CorpusError
from hierseed.io.records import open_records
from hierseed.io.records.rows import check_encoding, detect_encoding

TEXTS = {
    "cp1252": [
        "Größe und Maße der Bäume, über die Straße. Ärger mit dem Müll, schöne Grüße aus Köln.",
        "Le café est fermé à cause de la grève générale; où êtes-vous allés ? Ça va très bien.",
    ],
    "cp1250": ["Zażółć gęślą jaźń. Wszyscy ludzie rodzą się wolni i równi pod względem godności."],
    "cp1251": ["Все люди рождаются свободными и равными в своем достоинстве и правах."],
    "koi8_r": ["Все люди рождаются свободными и равными в своем достоинстве и правах."],
    "cp1253": ["Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια."],
    "shift_jis": [
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。"
    ],
    "gb18030": ["人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心。"],
    "utf-16": ["Größe – “quoted”, 自由"],
    "utf-8": ["Größe – “quoted”, 自由"],
}


def read(path, **options):
    records = open_records(path, **options)
    return [row.values for row in records.rows(["id", "text"])]


@pytest.mark.parametrize("encoding", TEXTS)
@pytest.mark.parametrize("zipped", [False, True])
def test_the_encoding_is_detected_and_reported(tmp_path: Path, encoding: str, zipped: bool) -> None:
    for text in TEXTS[encoding]:
        quoted = f'"{text}"'
        content = "".join(["id,text\n", *(f"{i},{quoted}\n" for i in range(5))]).encode(encoding)
        path = tmp_path / ("docs.csv.gz" if zipped else "docs.csv")
        path.write_bytes(gzip.compress(content) if zipped else content)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            assert read(path, encoding="auto") == [[str(i), text] for i in range(5)]
        assert [("is not UTF-8: read as" in str(one.message)) for one in told] == (
            [] if encoding == "utf-8" else [True]
        )
        assert read(path, encoding=encoding) == [[str(i), text] for i in range(5)]


def test_lines_that_are_utf8_stay_so_in_a_mixed_file(tmp_path: Path) -> None:
    path = tmp_path / "docs.csv"
    lines = [
        b"id,text",
        "1,Größe".encode(),
        "2,Größe".encode("cp1252"),
        "3,naïve – “x”".encode(),
    ]
    path.write_bytes(b"\n".join(lines))
    faults = [row for row in open_records(path).rows(["text"]) if not hasattr(row, "values")]
    assert [(fault.line, fault.kind) for fault in faults] == [(3, "not UTF-8")]
    texts = [["1", "Größe"], ["2", "Größe"], ["3", "naïve – “x”"]]
    assert read(path, encoding="cp1252") == texts
    with pytest.warns(UserWarning, match=r"docs\.csv is not UTF-8: read as Windows-1252"):
        assert read(path, encoding="auto") == texts


@pytest.mark.parametrize("name", ["klingon", "rot13", "zlib", "\0", "base64"])
def test_what_is_no_encoding_is_refused(name: str) -> None:
    with pytest.raises(CorpusError, match="no encoding"):
        check_encoding(name)


def test_a_line_that_the_named_encoding_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "docs.csv"
    path.write_bytes(b"id,text\n1,\x81\x8d\n2,fine\n")
    first, second = open_records(path, encoding="cp1252").rows(["text"])
    assert first.kind == "not Windows-1252 (Western Europe)"
    assert second.values == ["fine"]


def test_plain_ascii_is_utf8(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_text("id,text\n1,a\n")
    assert detect_encoding(tmp_path / "docs.csv") == "utf-8"


# ---------------------------------------------------------------- JSON


NESTED = [
    {"id": 1, "text": "a", "user": {"name": "x", "home": {"city": "Bonn"}}, "a.b": "dotted"},
    {"id": 2, "text": "b", "user": {"name": "y"}, "later": 3},
    {"id": 3, "user": None},
]


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".json.gz", "wrapped.json"])
def test_nested_values_have_dotted_names(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"docs{ending}"
    whole = json.dumps({"about": {}, "documents": NESTED} if "wrapped" in ending else NESTED)
    if ending == ".jsonl":
        path.write_text("\n".join(map(json.dumps, NESTED)))
    else:
        path.write_bytes(gzip.compress(whole.encode()) if ending == ".json.gz" else whole.encode())
    records = open_records(path)
    assert {"id", "text", "user.name", "user.home.city", "a.b", "later"} <= set(records.columns)
    rows = list(records.rows(["id", "user.name", "user.home.city", "a.b", "later"]))
    assert [row.values for row in rows] == [
        [1, "x", "Bonn", "dotted", None],
        [2, "y", None, None, 3],
        [3, None, None, None, None],
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{}", "no list of objects"),
        ("[1, 2]", "no list of objects"),
        ('{"a": [{}], "b": [{}]}', "no list of objects"),
        ('{"id": 1}\n{"id": 2}', r"Extra data.*ending \.jsonl"),
        ("[" * 100_000, "is no JSON"),
        ("", "is no JSON"),
    ],
)
def test_json_without_records_is_refused(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "docs.json").write_text(content)
    with pytest.raises(CorpusError, match=said):
        _ = open_records(tmp_path / "docs.json").columns


# ---------------------------------------------------------------- Excel


def test_a_sheet_is_chosen_by_name_or_number(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["about"])
    for row in (["id", "text"], [1, "a"]):
        book.create_sheet("Docs") if "Docs" not in book.sheetnames else None
        book["Docs"].append(row)
    book.save(tmp_path / "t.xlsx")
    for sheet in ("Docs", "2"):
        assert read(tmp_path / "t.xlsx", sheet=sheet) == [[1, "a"]]
    with pytest.raises(CorpusError, match=r"no sheet 'More'; the workbook has 'Sheet', 'Docs'"):
        read(tmp_path / "t.xlsx", sheet="More")
    (tmp_path / "t.csv").write_text("id,text\n1,a\n")
    with pytest.raises(CorpusError, match="no Excel workbook"):
        read(tmp_path / "t.csv", sheet="Docs")
