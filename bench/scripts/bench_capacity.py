"""Time of a fit by documents, topics and dimensions: the rates behind docs/scale.md.

    python bench/scripts/bench_capacity.py                     all cells that are not there yet
    python bench/scripts/bench_capacity.py anchored-1000-40000-384

A cell is a method, topics, documents and dimensions. It fits synthetic unit vectors (half
precision, memory-mapped) with the method's own settings and blocks on one thread, in a process of
its own; nothing that only a small corpus allows is kept between passes. It records processor
seconds, which hold though other programs run at the same time, the passes over the corpus, and
memory before and at its peak (pages of the mapped file count in both). Topics hang in a tree with
ten below each, `flat`: all below one; every leaf has a seed. Two sizes of corpus show what a
document costs and what a fit costs before the first document.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from machine import RESULTS, describe, write, write_clouds

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy
from hierseed.core.array_blocks import ArrayBlocks
from hierseed.core.mixture import moments
from hierseed.estimators import base

WIDTH, BELOW = 384, 10
METHODS = {"anchored": AnchoredHierSeed, "hierseed": HierSeed}
SIZES = {
    100: (25_000, 100_000, 1_000_000),
    1_000: (15_000, 40_000),
    10_000: (14_000, 18_000),
}
CELLS = [f"{m}-{k}-{n}-{WIDTH}" for k, sizes in SIZES.items() for m in METHODS for n in sizes]
CELLS.append(f"hierseed-10000-60000-{WIDTH}")  # the two above are too close to show the slope
CELLS += [f"{name}-100-100000-{width}" for width in (96, 192, 768) for name in METHODS]
MANY = [f"{m}-{shape}" for shape in ("10000-30000-64", "5000-15000-32-flat") for m in METHODS]
CELLS += MANY  # about a seed for three documents, which tests/README.md shows


def make_world(file, topics, n, width, flat):
    """Leaves of a tree with ten below each topic, documents around them, one seed a leaf."""
    rng = np.random.default_rng(0)
    paths, centres = [""], np.zeros((1, width), dtype=np.float32)
    below = topics if flat else BELOW
    while len(paths) < topics:
        paths = [f"{path} > {i}".removeprefix(" > ") for path in paths for i in range(below)]
        centres = np.repeat(centres, below, axis=0)
        centres += rng.standard_normal(centres.shape, dtype=np.float32)
    if flat:
        paths = [f"One > {path}" for path in paths]
    taxonomy = Taxonomy.from_paths(paths)
    topic = np.concatenate([np.arange(topics), rng.integers(0, topics, n - topics)])
    write_clouds(file, centres, topic, rng)
    y = np.full(n, -1)
    y[:topics] = [taxonomy.index(path) for path in paths]
    return taxonomy, np.load(file, mmap_mode="r"), y


class Passes(ArrayBlocks):
    """Counts the passes over the corpus."""

    passes = 0

    def map(self, *args):
        type(self).passes += 1
        return super().map(*args)


def peak_mib(again=False):
    """Most memory that this process held; `again`: counted from now on."""
    if again:
        Path("/proc/self/clear_refs").write_text("5")
    status = Path("/proc/self/status").read_text()
    return round(int(status.split("VmHWM:")[1].split()[0]) / 1024)


def measure(cell):
    """One fit, in this process."""
    name, *sizes = cell.split("-")
    topics, n, width = map(int, sizes[:3])
    with tempfile.TemporaryDirectory() as folder:
        taxonomy, X, y = make_world(Path(folder) / "X.npy", topics, n, width, sizes[3:])
        estimator = METHODS[name](taxonomy, n_jobs=1)
        base.ArrayBlocks = Passes  # which the estimator makes, in the size that it chooses
        moments.REMEMBERED = 0
        float(np.asarray(X).sum(dtype=np.float64))  # the file's pages count before and after
        before = peak_mib(again=True)
        cpu, began = time.process_time(), time.perf_counter()
        estimator.fit(X, y)
        return {
            "method": name,
            "topics": topics,
            "flat": bool(sizes[3:]),
            "documents": n,
            "dimensions": width,
            "processor_seconds": round(time.process_time() - cpu, 2),
            "seconds": round(time.perf_counter() - began, 2),
            "rounds": estimator.n_iter_,
            "passes": Passes.passes,
            "peak_mib": peak_mib(),
            "mib_before": before,
            "commit": describe()["commit"],
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("cells", nargs="*", metavar="CELL", help=", ".join(CELLS))
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.here:
        print(json.dumps(measure(options.cells[0])))
        return
    path = RESULTS / "bench_capacity.json"
    known = json.loads(path.read_text())["cells"] if path.exists() else {}
    for cell in options.cells or [cell for cell in CELLS if cell not in known]:
        command = [sys.executable, "-W", "ignore", __file__, cell, "--here"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{cell}: {done.stderr}")
        known = json.loads(path.read_text())["cells"] if path.exists() else {}
        known[cell] = json.loads(done.stdout)
        print(known[cell], flush=True)
        write("bench_capacity", {"cells": {one: known[one] for one in CELLS if one in known}})


if __name__ == "__main__":
    main()
