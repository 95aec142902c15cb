"""Columns named on the command line: several of text, remembered by the model, carried over."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable

import numpy as np
import pytest
from cli_project import FIT, Project
from typer.testing import Result

from hierseed.io.corpus import Corpus
from hierseed.io.documents import open_vectors

Run = Callable[..., Result]

NAMED = ("--id", "the id", "--text", "Title", "--text", "Abstract")


@pytest.fixture
def titled(project: Project) -> Project:
    """The project with its texts parted: the first word is the title, the rest the abstract."""
    rows = [(id, *text.split(",", 1)) for id, text in project.documents]
    lines = [f"{id},{title},{abstract.strip()},useless" for id, title, abstract in rows]
    (project / "parted.csv").write_text(
        "\n".join(["the id,Title,Abstract,text", *lines, "last,,,more"]) + "\n"
    )
    (project / "joined.csv").write_text(
        "id,text\n" + "".join(f'{id},"{title}\n\n{a.strip()}"\n' for id, title, a in rows)
    )
    return project


def next_commands(done: Result) -> list[list[str]]:
    at = done.stderr.index("Next")
    return [shlex.split(line[11:]) for line in done.stderr[at:].splitlines()]


def test_texts_are_joined_and_remembered_and_next_commands_run(
    titled: Project, hierseed: Run
) -> None:
    done = hierseed("fit", "parted.csv", *FIT, *NAMED, "--on-error", "skip", "-o", "model")
    assert done.exit_code == 0, done.stderr
    assign, report = next_commands(done)
    assert hierseed(*assign[1:]).exit_code == 0
    assert hierseed(*report[1:]).exit_code == 0

    given = hierseed("assign", "model", "parted.csv", *NAMED, "--on-error=skip", "-o", "given.csv")
    for command in next_commands(given):
        assert hierseed(*command[1:]).exit_code == 0
    plain = hierseed("assign", "model", "parted.csv", "--on-error", "skip", "-o", "plain.csv")
    assert "Title and Abstract, as in the fit" in plain.stderr
    other = hierseed("assign", "model", "joined.csv", "-o", "other.csv")  # has id and text alone
    assert other.exit_code == 0, other.stderr
    tables = [(titled / f"{name}.csv").read_text() for name in ("given", "plain", "other")]
    assert tables[0] == tables[1] == tables[2]


def test_check_and_embed_join_them_too(titled: Project, hierseed: Run) -> None:
    done = hierseed("check", "--corpus", "parted.csv", *NAMED, "--json")
    characters = Corpus("joined.csv").survey().n_characters // 48
    assert f"48 documents, {characters} characters" in json.loads(done.stdout)["facts"]["Corpus"]
    for corpus, named in (("parted.csv", NAMED), ("joined.csv", ())):
        hierseed("embed", corpus, *named, "--on-error", "skip", "-o", f"{corpus}.vectors",
                 "--embedder", "wordllama:64")  # fmt: skip
    one, two = (open_vectors(titled / f"{name}.csv.vectors").X[:] for name in ("parted", "joined"))
    assert np.array_equal(one, two)
