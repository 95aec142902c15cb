"""The command line starts before anyone notices."""

import subprocess
import sys

import pytest

import hierseed

HEAVY = ["sklearn", "scipy", "pandas", "pyarrow", "wordllama", "rdflib"]


def loaded_after(code: str) -> set[str]:
    code += "\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_public_names_are_there_and_loaded_late() -> None:
    assert {name for name in hierseed.__all__ if getattr(hierseed, name, None) is None} == set()
    assert set(hierseed.__all__) <= set(dir(hierseed))
    assert not loaded_after("import hierseed").intersection([*HEAVY, "numpy"])
    with pytest.raises(AttributeError, match="no attribute 'Nonsense'"):
        hierseed.Nonsense  # noqa: B018 - asking for it is the test


def test_the_package_runs_as_the_command() -> None:
    words = [sys.executable, "-m", "hierseed"]
    done = subprocess.run([*words, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["hierseed", hierseed.__version__]
    assert subprocess.run([*words, "fit"], capture_output=True).returncode == 2
