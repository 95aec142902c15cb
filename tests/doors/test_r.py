"""The page for R runs with the real Rscript."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import hierseed

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_page_for_r_runs(tmp_path: Path) -> None:
    rscript = shutil.which("Rscript")
    if rscript is None:
        pytest.skip("R is not installed: make doors")
    page = (ROOT / "docs" / "doors" / "r.md").read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"^```r\n(.*?)^```", page, re.S | re.M))
    (tmp_path / "page.R").write_text(code, encoding="utf-8")
    command = tmp_path / "bin" / "hierseed"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m hierseed "$@"\n')
    command.chmod(0o755)
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    env = os.environ | {
        "PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": source,
        "LC_ALL": "C.UTF-8",
    }
    subprocess.run([command, "demo", "--quiet"], cwd=tmp_path, env=env, check=True)
    found = subprocess.run(
        [rscript, "page.R"], cwd=tmp_path, env=env, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
    demo = tmp_path / "demo-output"
    documents = pd.read_csv(tmp_path / "docs.csv")
    assert documents["text"].equals(pd.read_csv(demo / "docs.csv")["text"])  # R kept every letter
    placed = pd.read_csv(tmp_path / "placed.csv", keep_default_na=False)
    model = hierseed.load(tmp_path / "model")
    assert placed["topic"].tolist() == model.assign(demo / "docs.csv").to_frame()["topic"].tolist()
    sure = ((placed["score"] > 0.8) & ~placed["is_none"]).sum()
    assert f"{sure} sure, {placed['is_none'].sum()} without a topic" in found.stdout
    assert len(pd.read_csv(tmp_path / "to_label.csv")) == 10
