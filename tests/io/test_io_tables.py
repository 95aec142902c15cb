"""Tables come back as they were written, in parts of any size, or not at all."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hierseed.errors import CorpusError
from hierseed.io import tables
from hierseed.io.tables import WRITERS, is_as_written, open_table, write_table

FRAME = pd.DataFrame(
    {
        "id": ["1", "=SUM(A1)", "né\n>"],
        "score": [0.1, np.nan, 1e-9],
        "is_none": [True, False, True],
        "count": [1, 2, 3],
    }
)


def read(file: Path) -> pd.DataFrame:
    readers = {
        ".csv": lambda: pd.read_csv(file, dtype={"id": str}, keep_default_na=False),
        ".tsv": lambda: pd.read_csv(file, dtype={"id": str}, keep_default_na=False, sep="\t"),
        ".jsonl": lambda: pd.DataFrame(map(json.loads, file.read_text("utf-8").split("\n")[:-1])),
        ".parquet": lambda: pd.read_parquet(file),
        ".xlsx": lambda: pd.read_excel(file, dtype={"id": str}, keep_default_na=False),
    }
    frame = readers[file.suffix]()
    return frame.assign(score=pd.to_numeric(frame["score"]))


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_parts_of_any_size_make_the_same_table(tmp_path: Path, ending: str, size: int) -> None:
    file = tmp_path / f"table{ending}"
    with open_table(file) as table:
        for start in range(0, len(FRAME), size):
            table.write(FRAME[start : start + size])
        assert not file.exists()
    pd.testing.assert_frame_equal(read(file), FRAME, check_dtype=False, rtol=1e-12)
    assert [item.name for item in tmp_path.iterdir()] == [file.name]


def test_csv_has_six_digits(tmp_path: Path) -> None:
    write_table(pd.DataFrame({"id": ["a"], "score": [0.8795602321624756]}), tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "id,score\na,0.87956\n"


letters = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=12)


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet", ".xlsx"])
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(ids=st.lists(letters.filter(str.strip), min_size=1, max_size=5))
def test_any_text_comes_back(tmp_path: Path, ending: str, ids: list[str]) -> None:
    frame = pd.DataFrame({"id": ids, "score": np.arange(len(ids)) / 3})
    write_table(frame, tmp_path / f"t{ending}")
    pd.testing.assert_frame_equal(read(tmp_path / f"t{ending}"), frame, check_dtype=False)


@pytest.mark.parametrize("ending", WRITERS)
def test_a_fault_leaves_the_old_table(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"table{ending}"
    file.write_text("old")

    def break_off() -> None:
        with open_table(file) as table:
            table.write(FRAME)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        break_off()
    assert file.read_text() == "old"
    assert [item.name for item in tmp_path.iterdir()] == [file.name]


def test_many_parts_are_few_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq

    monkeypatch.setattr(tables, "GROUP", 10)
    with open_table(tmp_path / "t.parquet") as table:
        for _ in range(8):
            table.write(FRAME)
    assert pq.ParquetFile(tmp_path / "t.parquet").num_row_groups == 2
    assert len(pd.read_parquet(tmp_path / "t.parquet")) == 24


def test_what_excel_can_not_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.warns(UserWarning, match=r"2 cells .*32,767 letters.*\.csv"):
        write_table(
            pd.DataFrame({"id": ["a\x00b\ufffe\uffff", *["x" * 40_000] * 2]}), tmp_path / "t.xlsx"
        )
    found = pd.read_excel(tmp_path / "t.xlsx")["id"]
    assert found[0] == "a\ufffdb\ufffd\ufffd"
    assert len(found[1]) == tables.EXCEL_LETTERS
    with pytest.warns(UserWarning, match="1 cell was cut"):  # Excel counts each of these twice
        write_table(pd.DataFrame({"id": ["\U0001f600" * 20_000]}), tmp_path / "t.xlsx")
    assert len(pd.read_excel(tmp_path / "t.xlsx")["id"][0]) == tables.EXCEL_LETTERS // 2
    monkeypatch.setattr(tables, "EXCEL_ROWS", 3)
    with pytest.raises(CorpusError, match=r"holds 3 rows.*\.parquet instead"):
        write_table(FRAME, tmp_path / "many.xlsx")
    assert not (tmp_path / "many.xlsx").exists()


def test_an_unknown_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match=r"'\.docx'.*\.csv .*\.xlsx"):
        open_table(tmp_path / "t.docx").__enter__()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full, a disk without room")
def test_a_full_disk_ends_an_excel_file_with_one_fault() -> None:
    code = (
        "import pandas as pd; from pathlib import Path; from hierseed.io.tables import ExcelTable\n"
        "table = ExcelTable(Path('/dev/full')); table.write(pd.DataFrame({'id': range(9999)}))\n"
        "try:\n    table.close()\nexcept OSError as fault:\n    print(fault.strerror)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("No space left on device\n", "")


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_kill_around_the_rename_leaves_a_table_that_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    """Found by killing `assign`: the next run took its own table for a corrected one."""
    path, real = tmp_path / "t.csv", os.replace
    write_table(pd.DataFrame({"a": [1]}), path)

    def die(source: Any, target: Any) -> None:
        is_table = Path(target) == path.resolve()
        if not is_table or when == "after":
            real(source, target)
        if is_table:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", die)
    with pytest.raises(KeyboardInterrupt):
        write_table(pd.DataFrame({"a": [2]}), path)
    assert path.read_text() == ("a\n1\n" if when == "before" else "a\n2\n")
    assert is_as_written(path)
    path.write_text("a\n3\n")
    assert not is_as_written(path)
