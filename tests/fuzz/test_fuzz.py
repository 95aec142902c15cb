"""A short run of the fuzzer; `make fuzz` has a long one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from targets import targets

from fuzz import fuzz

pytest.importorskip("rdflib", reason="the extra 'skos' is not installed")


@pytest.mark.parametrize("name", [target.name for target in targets()])
def test_damaged_files_are_read_as_before_or_refused(name: str) -> None:
    assert fuzz(40, seed=7, only=name)["findings"] == []
