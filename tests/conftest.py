"""Fixtures for all tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


@pytest.fixture(scope="session", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home without models: what the tester has fetched must not choose the embedder."""
    before = os.environ.get("HIERSEED_HOME")
    folder = tmp_path_factory.mktemp("home")
    os.environ["HIERSEED_HOME"] = str(folder)
    yield folder
    if before is None:
        del os.environ["HIERSEED_HOME"]
    else:
        os.environ["HIERSEED_HOME"] = before


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The labelled corpora beside the checkout; a test that needs them skips without."""
    if not DATA.is_dir():
        pytest.skip("the labelled corpora (../shared/data) are not beside this checkout")
    return DATA
