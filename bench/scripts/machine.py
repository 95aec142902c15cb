"""Facts that a benchmark records with its figures: machine and versions, nothing private."""

import json
import os
import platform
import shutil
import subprocess
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("HIERSEED_DATA") or ROOT.parent / "shared" / "data")
RESULTS = ROOT / "results"


def describe():
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line.split(":")[1].strip() for line in info.read_text().splitlines()
                 if line.startswith("model name")]  # fmt: skip
        cpu = names[0] if names else cpu
    commit = os.environ.get("COMMIT", "")  # of a copy of the tree without git's folder
    if not commit and shutil.which("git"):
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
        ).stdout.strip()
    load = os.getloadavg()[0]
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {
        "cpu": cpu, "cores": os.cpu_count(), "load_before": round(load, 1), "commit": commit,
        "python": platform.python_version(), **packages,
    }  # fmt: skip


def write_clouds(file, centres, topic, rng, rows=20_000):
    """Write unit vectors around the centre of each row's topic, in half precision."""
    X = np.lib.format.open_memmap(file, "w+", np.float16, (len(topic), centres.shape[1]))
    for at in range(0, len(topic), rows):
        part = topic[at : at + rows]
        some = 2 * rng.standard_normal((len(part), centres.shape[1]), dtype=np.float32)
        some += centres[part]
        X[at : at + rows] = some / np.linalg.norm(some, axis=1, keepdims=True)
    X.flush()


def least(times, function):
    """Least seconds on the clock and of the processor, and the last result."""
    clock, processor = [], []
    for _ in range(times):
        began, used = time.perf_counter(), time.process_time()
        result = function()
        clock.append(time.perf_counter() - began)
        processor.append(time.process_time() - used)
    return min(clock), min(processor), result


def write(name, record):
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps({"machine": describe(), **record}, indent=1) + "\n")
    print(f"wrote {path.relative_to(ROOT)}")
