"""The scripts of bench/scripts can be loaded: none names what the package no longer has."""

import subprocess
import sys

import pytest

from hierseed_bench.repository import ROOT

SCRIPTS = sorted((ROOT / "bench" / "scripts").glob("*.py"))
EXTRAS = ("torch", "triton", "transformers", "playwright", "PIL", "nicegui")


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_can_be_loaded(script):
    code = f"import sys; sys.path.insert(0, {str(script.parent)!r}); import {script.stem}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.strip().split("\n")[-1]
    if any(f"No module named '{extra}" in last for extra in EXTRAS):
        pytest.skip(last)
    assert done.returncode == 0, last
