"""Excel workbooks as people make them: merged cells, formulas, numbers, dates."""

import io
import zipfile
from collections.abc import Callable
from datetime import date
from typing import Any

import openpyxl
import pytest
from taxonomy_cases import read_bytes, written

from hierseed import Taxonomy
from hierseed.errors import TaxonomyError


def workbook(rows: list[list[Any]], change: Callable[[Any], None] = lambda page: None) -> bytes:
    book = openpyxl.Workbook()
    page = book.active
    for row in rows:
        page.append(row)
    change(page)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def test_numbers_are_codes_without_a_point() -> None:
    rows = [["code", "name", "parent"], [1, "A", None], [105.0, "B", 1], [1.5, "C", 1]]
    assert read_bytes("xlsx", workbook(rows)).codes == ("1", "105", "1.5")


def test_cells_merged_down_stand_for_every_row() -> None:
    rows = [["Level 1", "Level 2"], ["A", "x"], [None, "y"], ["B", "x"]]
    data = workbook(rows, lambda page: page.merge_cells("A2:A3"))
    assert read_bytes("xlsx", data).paths == ("A", "A > x", "A > y", "B", "B > x")


def test_cells_merged_across_are_refused() -> None:
    rows = [["Level 1", "Level 2"], ["A"], ["A", "x"]]
    data = workbook(rows, lambda page: page.merge_cells("A2:B2"))
    with pytest.raises(TaxonomyError, match="cells A2:B2: merged across columns; unmerge"):
        read_bytes("xlsx", data)


def test_a_title_above_the_table_is_passed_over() -> None:
    rows = [["Our topics"], [], ["Level 1", "Level 2"], ["A", "x"]]
    data = workbook(rows, lambda page: page.merge_cells("A1:B1"))
    with pytest.warns(UserWarning, match="'Our topics' above the table is passed over"):
        assert read_bytes("xlsx", data).paths == ("A", "A > x")
    with pytest.warns(UserWarning, match="'Our topics'"):
        assert read_bytes("csv", "Our topics;\n;\nLevel 1;Level 2\nA;x\n").names == ("A", "x")


def test_formulas_count_by_their_stored_result() -> None:
    rows = [["name", "parent"], ["A", None], ["B", "=A2"]]
    with pytest.raises(TaxonomyError, match="cell B3: a formula without a stored result; open and"):
        read_bytes("xlsx", workbook(rows))
    assert read_bytes("xlsx", with_stored_result(workbook(rows), "A")).paths == ("A", "A > B")


def with_stored_result(data: bytes, result: str) -> bytes:
    """Store a formula's result as Excel does; openpyxl never writes one."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            text = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                assert b'<c r="B3"><f>A2</f><v/></c>' in text or b"<f>A2</f>" in text
                text = text.replace(b'<c r="B3">', b'<c r="B3" t="str">')
                text = text.replace(b"<v/>", f"<v>{result}</v>".encode())
                text = text.replace(b"<v />", f"<v>{result}</v>".encode())
            new.writestr(name, text)
    return out.getvalue()


def test_dates_and_errors_are_faults_with_their_cells() -> None:
    rows = [["name", "parent"], [date(2026, 2, 1), None], ["B", "#REF!"]]
    data = workbook(rows, lambda page: setattr(page["B3"], "data_type", "e"))
    with pytest.raises(TaxonomyError) as fault:
        read_bytes("xlsx", data)
    assert "cell A2: a date (2026-02-01" in str(fault.value)
    assert "cell B3: the error #REF!" in str(fault.value)


def test_sheets_and_empty_ones() -> None:
    rows = [["name", "parent"], ["A", None]]
    data = workbook(rows, lambda page: page.parent.create_sheet("second"))
    assert read_bytes("xlsx", data, sheet="Sheet").names == ("A",)
    with pytest.raises(TaxonomyError, match="no sheet 'third'; the workbook has"):
        read_bytes("xlsx", data, sheet="third")
    with pytest.raises(TaxonomyError, match="the sheet 'second' is empty"):
        read_bytes("xlsx", data, sheet="second")
    assert read_bytes("xlsx", data, sheet="1").names == ("A",)
    for number in ("0", "3"):
        with pytest.raises(TaxonomyError, match=f"no sheet '{number}'; the workbook has"):
            read_bytes("xlsx", data, sheet=number)


def test_line_breaks_in_cells_and_cells_next_to_the_header() -> None:
    rows = [["name", "parent"], ["two\nlines", None], ["B", "two lines"]]
    assert read_bytes("xlsx", workbook(rows)).paths == ("two lines", "two lines > B")
    with pytest.raises(TaxonomyError, match="row 2: cells to the right of the header's 2 columns"):
        read_bytes("xlsx", workbook([["name", "parent"], ["A", None, None, "stray"]]))


def test_names_written_never_become_formulas() -> None:
    taxonomy = Taxonomy.from_paths(["=1+1 > @x", "007 > +49", "2020-01-01"])
    data = written(taxonomy, "xlsx")
    page = openpyxl.load_workbook(io.BytesIO(data)).active
    assert {cell.data_type for row in page.iter_rows() for cell in row if cell.value} == {"s"}
    assert read_bytes("xlsx", data).paths == taxonomy.paths


@pytest.mark.parametrize(
    ("data", "match"),
    [
        (b"name,parent\nA,\n", "not a readable Excel workbook"),
        (b"PK\x03\x04 broken", "not a readable Excel workbook"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old .xls or an encrypted workbook"),
    ],
)
def test_files_that_are_no_workbook(data: bytes, match: str) -> None:
    with pytest.raises(TaxonomyError, match=match):
        read_bytes("xlsx", data)


def test_zip_bombs_are_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"0" * (3 * 2**20))
    monkeypatch.setattr("hierseed.io.taxonomies.excel.LIMIT", 2**20)
    unpack = "openpyxl.reader.excel.ExcelReader"
    monkeypatch.setattr(unpack, lambda *_, **__: pytest.fail("unpacked"))
    with pytest.raises(TaxonomyError, match="unpacks to 3 MB, more than 1 MB"):
        read_bytes("xlsx", out.getvalue())
