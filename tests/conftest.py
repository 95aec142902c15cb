"""Fixtures for all tests."""

from pathlib import Path

import pytest

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The labelled corpora beside the checkout; a test that needs them skips without."""
    if not DATA.is_dir():
        pytest.skip("the labelled corpora (../shared/data) are not beside this checkout")
    return DATA
