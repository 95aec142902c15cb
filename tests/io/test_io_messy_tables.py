"""Tables as spreadsheets and people leave them."""

from pathlib import Path

import openpyxl
import pytest

from hierseed import Taxonomy
from hierseed.errors import CorpusError, SeedError, TaxonomyError
from hierseed.io.corpus import Corpus
from hierseed.io.records import open_records
from hierseed.io.seeds import TopicFinder, read_seeds

TAXONOMY = Taxonomy.from_paths(["Animals > Cats", "Animals > Dogs", "Food > Soup", "Food > HIV/x"])
TEXT = "a text that is long enough to be one"


def table(folder: Path, text: str, name: str = "seeds.csv") -> Path:
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def test_blank_rows_are_no_faults(tmp_path: Path) -> None:
    file = table(tmp_path, f"id;text;year\n1;{TEXT};2\n;;\n ; ;\n;\n2;{TEXT};3\n;;\n", "docs.csv")
    assert [document.id for document in Corpus(file)] == ["1", "2"]
    book = openpyxl.Workbook()
    for row in [("id", "text"), (1, TEXT), (None, " "), (2, TEXT)]:
        book.active.append(row)
    book.active.cell(900, 7, " ")
    book.save(tmp_path / "docs.xlsx")
    assert [document.id for document in Corpus(tmp_path / "docs.xlsx")] == ["1", "2"]


def test_ids_without_their_zeros_tell_the_column_of_ids(tmp_path: Path) -> None:
    corpus = {f"{i:05d}" for i in range(300)}
    file = table(tmp_path, "Nr.,Label\n7,Cats\n12,Dogs\n299,Soup\n")
    with pytest.warns(UserWarning, match="'Nr.'|'Label'"):
        seeds = read_seeds(file, TAXONOMY, holds=corpus.__contains__)
    assert seeds.respell(corpus.__contains__) == {"7": "00007", "12": "00012", "299": "00299"}


def test_of_columns_for_several_levels_the_deepest_has_the_topics(tmp_path: Path) -> None:
    file = table(tmp_path, "id,area,issue\n1,Animals,Cats\n2,Food,Soup\n")
    with pytest.warns(UserWarning, match="'issue'"):
        assert read_seeds(file, TAXONOMY).by_id == {"1": [1], "2": [4]}


def test_several_topics_in_a_cell(tmp_path: Path) -> None:
    file = table(tmp_path, "id,topic\n1,Cats; Food > Soup\n2,Animals > Dogs|Cats|Cats\n")
    assert read_seeds(file, TAXONOMY).by_id == {"1": [1, 4], "2": [2, 1]}
    with pytest.raises(SeedError, match="no topic 'Cats; Nothing'"):
        read_seeds(table(tmp_path, "id,topic\n1,Cats; Nothing\n"), TAXONOMY)


@pytest.mark.parametrize("mark", ["/", " / ", " -- ", "->", "→", "::", "|", "\\"])
def test_paths_with_another_mark(mark: str) -> None:
    finder = TopicFinder(TAXONOMY)
    assert finder.find(f"Animals{mark}Dogs") == 2
    assert finder.find("HIV/x") == 5
    with pytest.raises(TaxonomyError, match="no topic"):
        finder.find(f"Food{mark}Dogs")


def test_the_same_fault_in_several_rows_is_reported_once(tmp_path: Path) -> None:
    file = table(tmp_path, "id,topic\n1,Cat\n2,Dogs\n3,Cat\n4,Cat\n")
    with pytest.raises(SeedError) as fault:
        read_seeds(file, TAXONOMY)
    assert str(fault.value).count("no topic 'Cat'") == 1
    assert "The same in seeds.csv:4, seeds.csv:5" in str(fault.value)


def test_a_first_row_of_data_is_no_row_of_names(tmp_path: Path) -> None:
    rows = "".join(f"doc{i},{TEXT} {i}\n" for i in range(9))
    with pytest.raises(CorpusError, match=r"the first row has data, such as 'doc0'.*id,text"):
        Corpus(table(tmp_path, rows, "docs.csv")).survey()
    with pytest.raises(SeedError, match=r"the first row has data, such as 'Cats'.*id,topic"):
        read_seeds(table(tmp_path, "1,Cats\n2,Dogs\n"), TAXONOMY)


def test_names_that_are_not_utf8_come_with_advice(tmp_path: Path) -> None:
    (tmp_path / "docs.csv").write_bytes(f"Nr;Größe\n1;{TEXT}\n".encode("cp1252"))
    with pytest.raises(CorpusError, match=r"not UTF-8.*encoding='auto'"):
        Corpus(tmp_path / "docs.csv").survey()


@pytest.mark.parametrize(
    ("name", "advice"),
    [("a.xls", "save it as .xlsx"), ("a.pdf", "folder of these files"), ("a.txt", "a folder of")],
)
def test_files_that_are_no_tables_come_with_a_way(tmp_path: Path, name: str, advice: str) -> None:
    with pytest.raises(CorpusError, match=advice):
        open_records(table(tmp_path, "x", name))
