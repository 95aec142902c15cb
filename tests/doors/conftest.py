"""A model of four topics, and a real process that serves it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

import hierseed

WORDS = {
    "Animals > Cats": "cat kitten purr whiskers paw",
    "Animals > Dogs": "dog puppy bark leash paw",
    "Food > Bread": "bread oven flour dough yeast",
    "Food > Soup": "soup bowl broth spoon salt",
}
PATHS = list(WORDS)
SECRET = "a secret"


@dataclass(frozen=True)
class Service:
    """A running service."""

    address: str
    model: Path


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "pets"
    texts = {f"d{i}": f"{WORDS[PATHS[i % 4]]} number {i}" for i in range(80)}
    seeds = {path: [f"d{i}" for i in range(k, 24, 4)] for k, path in enumerate(PATHS)}
    hierseed.fit(texts, PATHS, seeds, embedder="wordllama", other=False).save(folder)
    return folder


@contextmanager
def serving(model: Path, *words: str) -> Iterator[Service]:
    command = [sys.executable, "-m", "hierseed", "serve", str(model), "--api", "--port", "0"]
    process = subprocess.Popen(
        [*command, *words],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    try:
        first = process.stdout.readline()
        assert "is served at http://" in first, first
        while "openapi" not in process.stdout.readline():
            assert process.poll() is None
        yield Service(first.split()[-1], model)
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


@pytest.fixture(scope="session")
def service(model_folder: Path) -> Iterator[Service]:
    pytest.importorskip("fastapi")
    with serving(model_folder, "--token", SECRET, "--max-upload", "1") as running:
        yield running


@pytest.fixture
def start(model_folder: Path) -> Iterator[Callable[..., Service]]:
    """Start a further service with options of its own."""
    pytest.importorskip("fastapi")
    with ExitStack() as stack:
        yield lambda *words: stack.enter_context(serving(model_folder, *words))
