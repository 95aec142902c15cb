"""Workbooks that are damaged, or whose first sheet is not the one meant, read as any table."""

import os
import zipfile
from pathlib import Path

import openpyxl
import pytest

from hierseed import Taxonomy
from hierseed.errors import CorpusError, HierSeedError, SeedError
from hierseed.io.corpus import Corpus
from hierseed.io.seeds import SeedTable, read_seeds

HANDLES = Path("/proc/self/fd")
TOPICS = Taxonomy.from_paths(["A > B", "A > C"])
SHEET = "xl/worksheets/sheet1.xml"


def workbook(file: Path, **sheets: list[list[str]]) -> Path:
    book = openpyxl.Workbook(write_only=True)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(file)
    return file


def rezip(file: Path, change: dict[str, bytes | None]) -> None:
    """Write the archive again with some parts replaced, or left out."""
    with zipfile.ZipFile(file) as old:
        parts = {name: old.read(name) for name in old.namelist()} | change
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for name, data in parts.items():
            if data is not None:
                new.writestr(name, data)


def flip(file: Path) -> None:
    """Spoil the compressed bytes of the sheet, so that zlib or the checksum complains."""
    with zipfile.ZipFile(file) as archive:
        at = archive.getinfo(SHEET).header_offset
    data = bytearray(file.read_bytes())
    start = at + 30 + len(SHEET)
    data[start : start + 40] = bytes(40)
    file.write_bytes(data)


DAMAGES = {
    "half a tag": lambda file: rezip(file, {SHEET: b"<worksheet><sheetData><row"}),
    "no sheet": lambda file: rezip(file, {SHEET: None}),
    "no list of sheets": lambda file: rezip(file, {"xl/workbook.xml": None}),
    "another list": lambda file: rezip(file, {"xl/workbook.xml": b"<a/>"}),
    "spoilt bytes": flip,
    "cut off": lambda file: file.write_bytes(file.read_bytes()[:2000]),
    "no workbook": lambda file: file.write_bytes(b"PK\x03\x04 and nothing else"),
    "an old one": lambda file: file.write_bytes(b"\xd0\xcf\x11\xe0" + bytes(600)),
    "empty": lambda file: file.write_bytes(b""),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_workbook_is_one_fault_for_every_reader(tmp_path: Path, damage: str) -> None:
    rows = [["id", "text", "topic"], *([str(i), f"text {i}", "B"] for i in range(50))]
    file = workbook(tmp_path / "t.xlsx", one=rows)
    assert len(Corpus(file)) == len(read_seeds(file, TOPICS)) == 50
    DAMAGES[damage](file)
    readers = {
        CorpusError: lambda: list(Corpus(file)),
        SeedError: lambda: read_seeds(file, TOPICS),
        HierSeedError: lambda: Taxonomy.read(file),
    }
    for kind, read in readers.items():
        with pytest.raises(kind, match=r"t\.xlsx.*(not a readable Excel workbook|\.xls|no sheet)"):
            read()


def test_a_missing_column_names_the_other_sheets(tmp_path: Path) -> None:
    file = workbook(tmp_path / "t.xlsx", Read_me=[["about"]], Docs=[["id", "text"]], More=[["x"]])
    with pytest.raises(
        CorpusError,
        match=r"Its sheets are 'Read_me', 'Docs', 'More': name the right one with sheet=…",
    ):
        Corpus(file).survey()
    file = workbook(tmp_path / "t.xlsx", Read_me=[["topic"]], Docs=[["id", "topic"]])
    with pytest.raises(SeedError, match="name the right one with sheet=…") as seed_fault:
        read_seeds(file, TOPICS)
    assert "{seed_sheet}" in seed_fault.value.advice
    with pytest.raises(SeedError) as seed_fault:
        read_seeds(SeedTable(file, topic="label", id="topic"), TOPICS)
    assert "{seed_sheet}" in seed_fault.value.advice
    alone = workbook(tmp_path / "alone.xlsx", Docs=[["about"]])
    with pytest.raises(CorpusError) as fault:
        Corpus(alone).survey()
    assert "sheet" not in str(fault.value)


@pytest.mark.skipif(not HANDLES.is_dir(), reason="open files are listed in /proc only on Linux")
def test_a_damaged_workbook_is_closed_while_the_error_is_still_held(tmp_path: Path) -> None:
    file = workbook(tmp_path / "seeds.xlsx", Sheet=[["id", "topic"], ["d1", "A > B"]])
    rezip(file, {"xl/workbook.xml": b"<nothing"})
    with pytest.raises(HierSeedError, match="not a readable Excel workbook") as refused:
        read_seeds(file, TOPICS)
    assert refused.tb is not None  # its frames hold the reader, as a debugger or a log may
    assert file not in {Path(os.path.realpath(one)) for one in HANDLES.iterdir()}
