"""The measurements for a large machine run in tiny sizes without a GPU, and continue."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def bench(folder, *options):
    script = ROOT / "bench" / "scripts" / "bench_machine.py"
    command = [sys.executable, script, "--reduced", "--folder", folder / "x", *options]
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=ROOT)


@pytest.mark.slow
def test_parts_are_measured_once_and_a_gpu_gives_the_labels_of_the_processor(tmp_path):
    pytest.importorskip("torch", reason="the extra 'gpu' is not installed")
    file = tmp_path / "machine.json"
    done = bench(tmp_path, "-o", file, "gpu-embed", "gpu-equal-hierseed")
    assert done.returncode == 0, done.stderr
    found = json.loads(file.read_text())
    assert found["gpu-equal-hierseed"]["labels_that_differ"] == 0
    assert found["gpu-equal-hierseed"]["vectors"] == "equal to the bit"
    assert "no tokenizer.json" in found["gpu-embed"]["skipped"]
    done = bench(tmp_path, "-o", file, "--budget", "0")
    assert "no time left for threads-16" in done.stdout
    assert "gpu-equal-hierseed" not in done.stdout
    assert json.loads(file.read_text()) == found


def test_a_part_that_does_not_exist_is_refused(tmp_path):
    done = bench(tmp_path, "-o", tmp_path / "x.json", "threads-3")
    assert done.returncode == 1
    assert "no part threads-3" in done.stderr


def test_tiny_sizes_never_become_results(tmp_path):
    done = bench(tmp_path)
    assert done.returncode == 1
    assert "name another file" in done.stderr
