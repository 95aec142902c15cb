"""Every example in a docstring runs, and every public name of an estimator has one."""

import doctest
import inspect
from importlib import import_module
from pathlib import Path

import pytest

import hierseed
from hierseed.estimators.registry import METHODS

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


@pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
def test_every_public_name_of_an_estimator_has_an_example(method):
    members = inspect.getmembers(method.estimator, inspect.isroutine)
    public = [
        (name, member)
        for name, member in members
        if name[0] != "_" and member.__module__.startswith("hierseed.")
    ]
    without = [name for name, member in public if ">>> " not in (member.__doc__ or "")]
    assert ">>> " in method.estimator.__doc__
    assert {"fit", "predict", "assign", "save", "load"} <= {name for name, _ in public}
    assert not without


def test_every_exported_name_but_the_errors_has_an_example():
    exported = {name: getattr(hierseed, name) for name in hierseed.__all__}
    errors = {name for name, one in exported.items() if is_error(one)}
    assert not [name for name in exported.keys() - errors if ">>> " not in exported[name].__doc__]


def is_error(one):
    return inspect.isclass(one) and issubclass(one, Exception)
