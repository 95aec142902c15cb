"""docs/results.md shows what the records in results/ say."""

from pathlib import Path

import pytest

from hierseed.errors import CorpusError
from hierseed_bench.pages.page import BLOCK, fill
from hierseed_bench.runs.records import Records

HOUSE = Path(__file__).resolve().parents[2]


def test_the_page_has_the_rows_that_the_records_give():
    """Titles and row names; figures may be a run behind until `hierseed bench all` is over."""
    page = (HOUSE / "docs" / "results.md").read_text(encoding="utf-8")
    filled = fill(page, Records(HOUSE / "results" / "runs"))

    def names(text):
        return [line for line in text.splitlines() if line.startswith("### ")]

    assert len(BLOCK.findall(page)) >= 5
    assert names(page) == names(filled)


def test_only_the_tables_are_replaced(tmp_path):
    page = "before\n<!-- table left-out -->\nold\n<!-- end -->\nafter\n"
    filled = fill(page, Records(tmp_path))
    assert filled.startswith("before\n<!-- table left-out -->\n")
    assert filled.endswith("<!-- end -->\nafter\n")
    assert "old" not in filled
    assert fill(filled, Records(tmp_path)) == filled


def test_an_unknown_table_is_refused(tmp_path):
    with pytest.raises(CorpusError, match="ablations"):
        fill("<!-- table 99 -->\n<!-- end -->", Records(tmp_path))
