"""Every example in a docstring runs."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

import hierseed

PACKAGE = Path(hierseed.__file__).parent
MODULES = [
    ".".join(("hierseed", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write a model folder
    result = doctest.testmod(import_module(name.removesuffix(".__init__")))
    assert result.attempted
    assert not result.failed
