"""One small real project, loaded and fitted once; tests work on copies of it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from workbench_browser import Server, chromium
from workbench_chapters import CHAPTERS

from hierseed.app import fitting
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, gold, labels
from hierseed.app.store.actions import record
from hierseed.demo.corpus import read_docstrings
from hierseed.taxonomy import Taxonomy

SEEDS = 3


@pytest.fixture(scope="session")
def _fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Docstrings of thirteen modules of Python's own library, three seeds each, one fit."""
    folder = tmp_path_factory.mktemp("project")
    project = Project(folder / "library")
    paths = [f"{chapter} > {module}" for chapter, modules in CHAPTERS.items() for module in modules]
    taxonomy = Taxonomy.from_paths(paths)
    found = read_docstrings([path.split(" > ")[1] for path in paths])
    ids = edits.replace_all(project, taxonomy, "library.txt")
    documents.add(project, [(d.id, d.text) for d in found])
    topic = {path.split(" > ")[1]: ids[taxonomy.index(path)] for path in paths}
    truth = [(row, topic[d.module]) for row, d in enumerate(found)]
    draw = np.random.default_rng(0)
    seeds = []
    for id in topic.values():
        rows = [row for row, label in truth if label == id]
        seeds += [(int(row), id) for row in draw.choice(rows, SEEDS, replace=False)]
    labels.load(project, seeds, "file")
    with record(project, "gold") as action:
        gold.write(action, truth, replace=True)
    fitting.fit(project, fitting.Dials())
    project.close()
    return folder


@pytest.fixture
def project(_fitted: Path, tmp_path: Path) -> Iterator[Project]:
    """A loaded and fitted project of one's own."""
    shutil.copytree(_fitted, tmp_path, dirs_exist_ok=True)
    opened = Project(tmp_path / "library")
    yield opened
    opened.close()


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Project]:
    """A new project."""
    opened = Project(tmp_path / "new")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def chrome() -> Iterator[Any]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def served() -> Iterator[Any]:
    """Start servers that end with the test, however it ends."""
    servers: list[Server] = []

    def start(path: Path, *options: str, log: Path | None = None) -> Server:
        servers.append(Server(path, *options, log=log))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="module")
def house(
    _fitted: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Project]]:
    """One server and its project for the tests that leave both in order."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copytree(_fitted, folder, dirs_exist_ok=True)
    project = Project(folder / "library")
    server = Server(project.path)
    yield server, project
    server.close()
    project.close()
