"""Pages say what the results say, and one filler keeps them so."""

import re
from importlib.metadata import entry_points

import pytest

from hierseed.errors import CorpusError
from hierseed_bench.pages import embedders
from hierseed_bench.pages.fill import BLOCK, all_tables, documents, fill, outdated
from hierseed_bench.repository import DOCS, RESULTS, ROOT
from hierseed_bench.runs.plan import everything
from hierseed_bench.runs.records import Records
from hierseed_bench.tables.cells import cell


def test_every_page_and_table_is_up_to_date_with_the_records():
    names = [str(file.relative_to(ROOT)) for file in outdated()]
    assert not names, f"run hierseed bench docs: {names}"


def test_there_is_one_grammar_of_tables():
    for page in DOCS.rglob("*.md"):
        marks = re.findall(r"<!-- (?!table \S+ -->|end -->|file: )(.*?) -->", page.read_text())
        assert not marks, f"{page.name}: {marks}"


def test_only_the_tables_are_replaced():
    page = "before\n<!-- table main -->\nold\n<!-- end -->\nafter\n"
    filled = fill(page, {"main": lambda: "new"})
    assert filled == "before\n<!-- table main -->\n\nnew\n\n<!-- end -->\nafter\n"
    assert fill(filled, {"main": lambda: "new"}) == filled


def test_an_unknown_table_is_refused():
    with pytest.raises(CorpusError, match="ablations"):
        fill("<!-- table 99 -->\n<!-- end -->", all_tables())


def test_every_table_is_shown_on_a_page_or_kept_in_results():
    files = documents()
    shown = {match[2] for text in files.values() for match in BLOCK.finditer(text)}
    kept = {file.stem for file in files if file.parent == RESULTS / "tables"}
    assert shown | kept == set(all_tables())
    stale = {file.stem for file in (RESULTS / "tables").glob("*.md")} - kept
    assert not stale


def test_a_cell_of_the_embedders_is_the_mean_of_runs_that_differ_in_the_draw_alone(monkeypatch):
    def checked(records, *rest, **options):
        draws = [(r["setting"]["data"], r["setting"]["draw"]) for r in records]
        assert len(set(draws)) == len(draws), records[0]["setting"]
        return cell(records, *rest, **options)

    monkeypatch.setattr(embedders, "cell", checked)
    for table in embedders.TABLES.values():
        table()


def test_no_record_is_kept_twice():
    keys = [record["key"] for record in Records(RESULTS / "runs")]
    assert len(keys) == len(set(keys))


def test_every_record_belongs_to_a_plan():
    planned = {config.key for config in everything()}
    stray = [str(r["setting"]) for r in Records(RESULTS / "runs") if r["key"] not in planned]
    assert not stray, f"{len(stray)} records that no table plans for: {stray[:3]}"


def test_the_command_is_an_entry_point():
    names = {entry.name: entry.value for entry in entry_points(group="hierseed.commands")}
    assert names["bench"] == "hierseed_bench.command:bench"
