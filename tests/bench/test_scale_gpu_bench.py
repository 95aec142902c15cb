"""The benchmark that is to be run on a card runs without one too, and its page can be made."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hierseed_bench import repository
from hierseed_bench.pages import scale

pytest.importorskip("torch", reason="the extra 'gpu' is not installed")

ROOT = Path(__file__).parents[2]
SIZES = "--rows 3000 --dimensions 32 --topics 3 --leaves 12 --streamed-rows 1000 --repeats 1"


def bench(*options):
    command = [sys.executable, ROOT / "bench" / "scripts" / "bench_gpu.py", *options]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT)


@pytest.mark.slow
def test_the_benchmark_checks_before_it_times_and_fills_the_page(tmp_path, monkeypatch):
    (tmp_path / "results").mkdir()
    file = tmp_path / "results" / "bench_gpu.json"
    done = bench("--device", "cpu", *SIZES.split(), "-o", str(file))
    assert done.returncode == 0, done.stderr
    record = json.loads(file.read_text())
    assert record["checked"] == {"rows": 3000, "labels": "equal", "sums": "equal to the bit"}
    assert record["streamed"]["labels"] == "equal"
    assert set(record["fit"]) == {"HierSeed", "AnchoredHierSeed"}
    monkeypatch.setattr(repository, "RESULTS", tmp_path / "results")
    made = scale.timings()
    assert re.search(rf"\| ours: the whole pass +\| {record['pass']['whole']} +\|", made)


@pytest.mark.slow
def test_without_a_card_nothing_is_timed_and_nothing_is_written():
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device")
    done = bench()
    assert done.returncode == 1
    assert "no CUDA device: nothing is timed" in done.stderr
