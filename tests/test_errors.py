"""Errors carry their advice as data; each front end words it."""

import pickle

import pytest

from hierseed import errors
from hierseed.errors import HierSeedError, InputError, MissingDependency


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
