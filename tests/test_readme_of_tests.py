"""tests/README.md names tests that exist."""

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_every_test_that_is_named_exists():
    text = (HERE / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", text)
    assert len(named) > 40
    for file, name in named:
        source = (HERE / file).read_text(encoding="utf-8")
        assert f"def {name}" in source, f"{file}::{name}"
