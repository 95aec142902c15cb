"""Every example in a docstring runs, and every public name of an estimator has one."""

import doctest
import inspect
import re
from functools import cached_property
from importlib import import_module
from pathlib import Path

import pytest

import hierseed
from hierseed.estimators.parameters import METHODS

PACKAGE = Path(hierseed.__file__).parent
REFERENCE = Path(__file__).parents[1] / "docs" / "reference"
MODULES = [
    ".".join(("hierseed", *path.relative_to(PACKAGE).with_suffix("").parts))
    for path in sorted(PACKAGE.rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name, tmp_path, monkeypatch):
    """The examples of methods continue those of their class."""
    monkeypatch.chdir(tmp_path)  # some write a model folder
    module = import_module(name.removesuffix(".__init__"))
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    of_class = {}
    for test in sorted(doctest.DocTestFinder().find(module), key=lambda test: test.name):
        test.globs |= of_class.get(test.name.rpartition(".")[0], {})
        runner.run(test, clear_globs=False)
        of_class[test.name] = test.globs
    assert runner.tries
    assert not runner.failures


@pytest.mark.parametrize("page", ["text_model", "taxonomy", "assignments"])
def test_every_member_on_a_page_of_the_reference_has_an_example(page):
    text = (REFERENCE / f"{page}.md").read_text(encoding="utf-8")
    kind = getattr(hierseed, re.search(r"autoclass:: hierseed\.(\w+)", text)[1])
    hidden = re.search(r":exclude-members: (.*)", text)
    hidden = set(hidden[1].split(", ")) if hidden else set()
    names = [name for name in dir(kind) if name[0] != "_" and name not in hidden]
    members = {name: inspect.getattr_static(kind, name) for name in names}
    described = {
        name
        for name, member in members.items()
        if inspect.isroutine(member) or isinstance(member, property | cached_property)
    }
    without = [name for name in described if ">>> " not in (inspect.getdoc(members[name]) or "")]
    assert len(described) > 10
    assert not without


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
