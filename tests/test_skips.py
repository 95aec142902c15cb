"""CI fails when a test is skipped for a reason that tests/skips.txt does not list."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ONE = "import pytest\n\ndef test_one():\n    pytest.skip({!r})\n"
WHOLE = "import pytest\npytest.skip({!r}, allow_module_level=True)\n"


def run(folder: Path, source: str, *options: str, ci: str = "1") -> subprocess.CompletedProcess:
    for name in ("conftest.py", "skips.txt"):
        shutil.copy(HERE / name, folder)
    (folder / "test_skipping.py").write_text(source, encoding="utf-8")
    (folder / "test_other.py").write_text("def test_other():\n    pass\n", encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, str(folder)]
    environment = {**os.environ, "CI": ci}
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "two processes"])
@pytest.mark.parametrize("source", [ONE, WHOLE], ids=["one test", "whole module"])
def test_an_unlisted_skip_fails_the_run_and_is_named(tmp_path, source, options):
    done = run(tmp_path, source.format("I felt like it"), *options)
    assert done.returncode == 1
    assert "test_skipping.py" in done.stdout
    assert "I felt like it" in done.stdout


def test_a_listed_skip_is_accepted_in_its_stage_only(tmp_path):
    source = ONE.format("needs the extra setfit")
    assert run(tmp_path, source).returncode == 0
    assert run(tmp_path, source, "--stage", "neural").returncode == 1


def test_without_ci_a_developer_may_skip(tmp_path):
    assert run(tmp_path, ONE.format("I felt like it"), ci="").returncode == 0


def test_browser_tests_are_in_the_folders_that_their_stage_runs():
    makefile = (HERE.parent / "Makefile").read_text(encoding="utf-8")
    folders = re.search(r'\$\(PYTEST\) (.*) -m "browser and', makefile)[1].split()
    for file in HERE.rglob("test_*.py"):
        if file != Path(__file__) and "mark.browser" in file.read_text(encoding="utf-8"):
            assert file.relative_to(HERE.parent).as_posix().startswith(tuple(folders)), file


def test_every_line_of_the_list_has_a_stage_a_reason_and_a_why():
    for line in (HERE / "skips.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            stage, reason, why = (cell.strip() for cell in line.split("|"))
            assert stage in ("test", "neural", "browser", "doors", "any"), line
            assert reason, line
            assert why, line
