"""A small project on disk, and a way to run commands as a shell would."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_project import FIT, WORDS, Project
from typer.testing import CliRunner, Result

from hierseed.cli.app import make_app


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """docs.csv, docs.jsonl, topics.txt and seeds.csv in the folder the command runs in."""
    monkeypatch.chdir(tmp_path)
    here = Project(tmp_path)
    rows = here.documents
    (here / "docs.csv").write_text("id,text\n" + "".join(f'{id},"{text}"\n' for id, text in rows))
    (here / "docs.jsonl").write_text(
        "".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in rows)
    )
    (here / "topics.txt").write_text("".join(f"{path}\n" for path in WORDS))
    seeds = [f"{path.split()[-1].lower()}-{i},{path}" for path in WORDS for i in (0, 1, 2)]
    (here / "seeds.csv").write_text("\n".join(["id,topic", *seeds]) + "\n")
    return here


@pytest.fixture
def hierseed() -> Callable[..., Result]:
    """Run `hierseed …` in this process; what it prints is in `.stdout` and `.stderr`."""

    def run(command: str, *args: object) -> Result:
        app = make_app({command})
        result = CliRunner().invoke(app, [command, *map(str, args)], prog_name="hierseed")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


@pytest.fixture
def model(project: Project, hierseed: Callable[..., Result]) -> Project:
    """The project with a fitted model in it."""
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model")
    assert done.exit_code == 0, done.stderr
    return project
