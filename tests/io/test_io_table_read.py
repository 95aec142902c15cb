"""What `open_table` writes, `read_table` reads; and .csv files that spreadsheets can't run."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hierseed.errors import CorpusError
from hierseed.io.table_read import read_table
from hierseed.io.tables import WRITERS, open_table, write_table

FRAME = pd.DataFrame(
    {
        "id": ["007", "=1+1", "1.0", "-5"],
        "topic": ["A > B", "A", "", "A > =x"],
        "distance": [0.1, 2.0, np.nan, 1e-9],
        "score": [1.0, 0.5, 0.0, 1 / 3],
        "runner_up": ["", "A > C", "", ""],
        "is_other": [False, True, False, False],
        "is_none": [False, False, True, False],
        "is_seed": [True, False, False, False],
    }
)


@pytest.mark.parametrize("ending", WRITERS)
def test_assignment_tables_come_back_with_their_types(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"placed{ending}"
    write_table(FRAME, file)
    again = read_table(file)
    pd.testing.assert_frame_equal(again, FRAME, check_dtype=False, rtol=1e-12)
    assert all(isinstance(id, str) for id in again["id"])
    assert list(read_table(file, columns=["score", "id"]).columns) == ["score", "id"]


def test_faults_are_told_with_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "placed.csv"
    file.write_text("id,score,is_none\n1,0.5,no idea\n2,high,True\n")
    with pytest.raises(CorpusError) as fault:
        read_table(file)
    assert "2 rows" in str(fault.value)
    assert "placed.csv:2: neither true nor false in the column 'is_none'" in str(fault.value)
    assert "placed.csv:3: no number in the column 'score'" in str(fault.value)
    with pytest.raises(CorpusError, match="no column 'topic'"):
        read_table(file, columns=["id", "topic"])


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_guarded_tables_hold_no_formula(tmp_path: Path, ending: str) -> None:
    evil = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "plain", "a=b"]
    frame = pd.DataFrame({"id": evil, "=score": np.linspace(-1, 1, len(evil))})
    file = tmp_path / f"t{ending}"
    write_table(frame, file, guard=True)
    with file.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.reader(handle, delimiter="\t" if ending == ".tsv" else ","))
    texts = [rows[0][1], *(row[0] for row in rows[1:])]
    assert not [text for text in texts if text[0] in "=+-@\t\r"]
    assert [text.removeprefix("'") for text in texts] == ["=score", *evil]
    assert float(rows[1][1]) == -1.0  # numbers are no formulas and stay numbers
    write_table(frame, file)
    assert read_table(file)["id"].tolist()[:4] == evil[:4]


def test_the_guard_leaves_other_formats_as_they_are(tmp_path: Path) -> None:
    for ending in (".jsonl", ".parquet", ".xlsx"):
        write_table(FRAME, tmp_path / f"t{ending}", guard=True)
        assert read_table(tmp_path / f"t{ending}")["id"][1] == "=1+1"


# not .xlsx: XML turns a carriage return into a line feed, in Excel's own files too
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_line_breaks_of_all_kinds_stay_in_their_cells(tmp_path: Path, ending: str) -> None:
    frame = pd.DataFrame({"id": ["a\rb", "a\nb", "a\r\nb", "\r"], "score": [1.0, 2.0, 3.0, 4.0]})
    write_table(frame, tmp_path / f"t{ending}")
    pd.testing.assert_frame_equal(read_table(tmp_path / f"t{ending}"), frame, check_dtype=False)


def test_a_column_of_gaps_may_hold_texts_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hierseed.io.tables.GROUP", 2)
    with open_table(tmp_path / "t.parquet") as table:
        table.write(pd.DataFrame({"id": ["a", "b"], "note": [None, None]}))
        table.write(pd.DataFrame({"id": ["c", "d"], "note": ["x", None]}))
    assert pd.read_parquet(tmp_path / "t.parquet")["note"][2] == "x"
