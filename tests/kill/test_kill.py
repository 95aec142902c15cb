"""A few kills; `make kill` has two hundred."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from kill import COMMANDS, kill_many


@pytest.mark.parametrize("name", ["embed", "fit", "convert", "workbench"])
def test_a_killed_command_loses_nothing_and_ends_alike(name: str) -> None:
    if name == "workbench":
        pytest.importorskip("hierseed.app.project")
    assert kill_many(2, seed=3, only=name) == []


@pytest.mark.slow
def test_every_command_is_killed_a_few_times() -> None:
    assert kill_many(2 * len(COMMANDS), seed=4) == []
