"""tests/README.md names tests that exist, and gives the figures of the records."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent


def test_every_test_that_is_named_exists():
    text = (HERE / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", text)
    assert len(named) > 40
    for file, name in named:
        source = (HERE / file).read_text(encoding="utf-8")
        assert f"def {name}(" in source, f"{file}::{name}"


def test_measurements_follow_the_records(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(HERE), *sys.path])
    from measured import TOP, rows

    text = (HERE / "README.md").read_text(encoding="utf-8")
    assert text.partition(TOP)[2] == "".join(rows()), "run python tests/measured.py"
