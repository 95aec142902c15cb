"""Errors carry their advice as data; each front end words it."""

import ast
import pickle
import re
import warnings
from pathlib import Path

import pytest

from hierseed import errors
from hierseed.errors import HierSeedError, HierSeedWarning, InputError, MissingDependency
from hierseed.progress import Note, warn_of_notes

PACKAGE = Path(errors.__file__).parent
FRONT_ENDS = ("cli", "app", "service")
OPTION = re.compile(r"(?<![\w-])--[a-z]")
FOREIGN = re.compile(r"pip |--memory-limit|--scheduler-file|--(quiet|no-deps|disable|only|dest)")


def test_advice_is_a_sentence_of_its_own() -> None:
    assert (
        str(HierSeedError("docs.csv:4: no id", "Mend the row")) == "docs.csv:4: no id. Mend the row"
    )
    assert str(HierSeedError("no id.", "Mend the row")) == "no id. Mend the row"
    assert str(HierSeedError("3 rows:\n  - a\n", "Mend them")) == "3 rows:\n  - a\nMend them"
    assert str(HierSeedError("no id")) == "no id"


def test_an_advice_is_worded_by_each_front_end():
    fault = HierSeedError("3 rows can't be used.", "Leave them out with {on_error:skip}")
    assert str(fault) == "3 rows can't be used. Leave them out with on_error='skip'"
    told = fault.worded(lambda name, value: f"<{name}|{value}>")
    assert told == "3 rows can't be used. Leave them out with <on_error|skip>"


def test_braces_in_a_message_are_left_alone():
    fault = HierSeedError("the name {x} is empty", "Rename it")
    assert fault.worded(lambda name, value: "never") == "the name {x} is empty. Rename it"


@pytest.mark.parametrize("kind", HierSeedError.__subclasses__())
def test_every_error_crosses_a_process(kind):
    given = {MissingDependency: ("a", "b", "c"), InputError: ([HierSeedError("x", "{y}")],)}
    made = kind(*given.get(kind, ("what", "do {this}")))
    assert str(pickle.loads(pickle.dumps(made))) == str(made)


def test_the_drawing_shows_every_error():
    for kind in HierSeedError.__subclasses__():
        assert kind.__module__ != "hierseed.errors" or kind.__name__ in errors.__doc__


def test_a_warning_is_worded_like_an_error() -> None:
    note = Note("topics.txt: 'A/B' is one name.", "If not, use {separator:/}")
    with pytest.warns(HierSeedWarning, match="one name. If not, use separator='/'") as caught:
        warn_of_notes(note)
    assert Note.of(caught[0].message) == note
    assert note.worded(lambda name, value: f"--{name} {value}").endswith("use --separator /")
    with warnings.catch_warnings(record=True) as plain:
        warnings.simplefilter("always")
        warnings.warn("no {braces} here", stacklevel=1)
    assert Note.of(plain[0].message).worded() == "no {braces} here"


def test_no_message_of_the_library_names_an_option_of_the_command_line() -> None:
    faults = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.relative_to(PACKAGE).parts[0] in FRONT_ENDS:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        docstrings = {
            id(node.body[0].value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
            and isinstance(node.body[0], ast.Expr)
        }
        faults += [
            f"{path.relative_to(PACKAGE)}:{node.lineno} {node.value!r}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docstrings
            and OPTION.search(node.value)
            and not FOREIGN.search(node.value)
        ]
    assert not faults, "\n".join(faults)
