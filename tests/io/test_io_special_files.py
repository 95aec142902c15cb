"""Files that are unusual rather than wrong: pipes, names that are not UTF-8, a stray cell."""

import os
from pathlib import Path

import openpyxl
import pytest
from openpyxl.cell.cell import Cell

from hierseed import Taxonomy
from hierseed.errors import CorpusError, TaxonomyError
from hierseed.io.corpus import Corpus
from hierseed.io.records.rows import SkippedRows


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are of Unix")
@pytest.mark.parametrize("name", ["docs.csv", "docs.jsonl", "docs.parquet", "docs.xlsx"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(CorpusError, match="a pipe or a device, which can be read only once"):
        Corpus(tmp_path / name).survey()
    with pytest.raises(TaxonomyError, match="a pipe or a device"):
        Taxonomy.read(tmp_path / name)


def test_a_file_name_that_is_not_utf8_is_a_fault_of_that_file(tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "fine.txt").write_text("a text")
    try:
        Path(os.fsdecode(os.fsencode(texts) + b"/caf\xe9.txt")).write_text("another")
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    with pytest.raises(CorpusError, match=r"texts/caf\\xe9\.txt: the file's name is not UTF-8"):
        list(Corpus(texts))
    with SkippedRows(tmp_path / "skipped.csv") as skipped:
        corpus = Corpus(texts, on_error="skip", on_skip=skipped.write)
        assert [document.id for document in corpus] == ["fine.txt"]
    assert r"caf\xe9.txt" in (tmp_path / "skipped.csv").read_text()


def test_one_cell_far_down_does_not_make_a_million_cells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = openpyxl.Workbook()
    for row in (["path", "description"], ["A", ""], ["A > B", ""]):
        book.active.append(row)
    book.active.cell(1_000_000, 1).value = "C"
    book.save(tmp_path / "topics.xlsx")
    made, real = [], Cell.__init__

    def count(self: Cell, *args: object, **options: object) -> None:
        made.append(1)
        real(self, *args, **options)

    monkeypatch.setattr(Cell, "__init__", count)
    assert Taxonomy.read(tmp_path / "topics.xlsx").paths == ("A", "A > B", "C")
    assert len(made) < 100
