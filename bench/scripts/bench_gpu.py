"""A k-means pass and whole fits on one GPU, beside a plain torch pass and flash-kmeans.

    python bench/scripts/bench_gpu.py  # results/bench_gpu.json; under 3 minutes
    python bench/scripts/bench_gpu.py --rows 1000000 --dimensions 768 -o other.json

Before anything is timed, labels and sums of the kernels are compared with float64 on the
processor; a difference ends the run. Times are medians of device events after a warm-up. With
`--device cpu` (tiny sizes, `-o` needed) the script itself can be tried without a GPU.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import torch
from gpu_peers import flash, norms, plain
from machine import RESULTS, describe
from sampler import sampled

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy
from hierseed.core.exact import Grid
from hierseed.engines.torch import TorchBlocks
from hierseed.engines.torch.distance import Centres, fused, nearest
from hierseed.engines.torch.exact import sum_rows

SEEDS = 4  # a leaf


def main():
    chosen = parse()
    if chosen.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit("no CUDA device: nothing is timed, nothing is written")
    if chosen.device == "cpu" and chosen.output is None:
        raise SystemExit("--device cpu only tries the script out: name a file with -o")
    began = time.perf_counter()
    torch.manual_seed(0)
    world = World(chosen)
    record = {
        "machine": surroundings() | gpu(chosen.device),
        "rows": chosen.rows, "dimensions": chosen.dimensions, "centres": len(world.leaves),
        "type": "float16", "limits": limits(chosen), "checked": check(world, chosen),
    }  # fmt: skip
    record["pass"] = passes(world, chosen)
    record["fit"] = fits(world, chosen)
    record["streamed"] = streamed(world, chosen)
    record["seconds_in_all"] = round(time.perf_counter() - began, 1)
    show(record)
    write(chosen.output or RESULTS / "bench_gpu.json", record)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000_000)
    parser.add_argument("--dimensions", type=int, default=384)
    parser.add_argument("--topics", type=int, default=11, help="inner topics; leaves spread evenly")
    parser.add_argument("--leaves", type=int, default=141)
    parser.add_argument("--streamed-rows", type=int, default=2_000_000)
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("-o", "--output", type=Path)
    return parser.parse_args()


class World:
    """A tree of clouds on the unit sphere, made on the device, in half precision."""

    def __init__(self, chosen):
        rows, width, device = chosen.rows, chosen.dimensions, chosen.device
        parent = np.arange(chosen.leaves) % chosen.topics
        paths = [f"topic {a} > leaf {b}" for b, a in enumerate(parent)]
        self.taxonomy = Taxonomy.from_paths(paths)
        self.leaves = np.array([self.taxonomy.index(path) for path in paths])
        above = torch.randn(chosen.topics, width, device=device)
        centres = above[parent] + 0.7 * torch.randn(chosen.leaves, width, device=device)
        self.X = torch.empty(rows, width, dtype=torch.float16, device=device)
        truth = torch.randint(chosen.leaves, (rows,), device=device)
        for start in range(0, rows, 1 << 20):
            part = slice(start, min(start + (1 << 20), rows))
            cloud = centres[truth[part]]
            cloud += 3.0 * torch.randn_like(cloud)
            self.X[part] = torch.nn.functional.normalize(cloud).half()
        self.centres = torch.nn.functional.normalize(centres).double() * 0.6
        first = torch.arange(min(rows, 1 << 20), device=device)
        self.y = np.full(rows, -1)
        for leaf, topic in enumerate(self.leaves):
            self.y[first[truth[: len(first)] == leaf][:SEEDS].cpu().numpy()] = topic


def surroundings():
    try:
        return describe()
    except OSError:  # a bare machine has no git to name the commit
        return {}


def gpu(device):
    if device == "cpu":
        return {"device": "cpu", "torch": torch.__version__}
    properties = torch.cuda.get_device_properties(0)
    try:
        from triton import __version__ as triton
    except ImportError:
        triton = None
    return {
        "device": properties.name, "memory_gb": round(properties.total_memory / 1e9, 1),
        "multiprocessors": properties.multi_processor_count, "torch": torch.__version__,
        "cuda": torch.version.cuda, "triton": triton,
    }  # fmt: skip


def timed(chosen, work, repeats=None):
    """Median seconds of a piece of work."""
    work()
    taken = []
    for _ in range(repeats or chosen.repeats):
        if chosen.device == "cpu":
            began = time.perf_counter()
            work()
            taken.append(time.perf_counter() - began)
        else:
            begin, end = (torch.cuda.Event(enable_timing=True) for _ in "ab")
            begin.record()
            work()
            end.record()
            torch.cuda.synchronize()
            taken.append(begin.elapsed_time(end) / 1e3)
    return statistics.median(taken)


def limits(chosen):
    """Speed of the GPU: bytes moved a second, and half-precision products."""
    size = 1 << 30 if chosen.device != "cpu" else 1 << 20
    source = torch.randint(256, (size,), dtype=torch.uint8, device=chosen.device)
    target = torch.empty_like(source)
    copy = timed(chosen, lambda: target.copy_(source))
    side = 8192 if chosen.device != "cpu" else 256
    a, b = (torch.randn(side, side, dtype=torch.float16, device=chosen.device) for _ in "ab")
    product = timed(chosen, lambda: a @ b)
    bandwidth = 2 * size / copy
    once = chosen.rows * chosen.dimensions * 2 / bandwidth
    return {
        "copy_tb_per_s": round(bandwidth / 1e12, 3),
        "half_tflop_per_s": round(2 * side**3 / product / 1e12, 1),
        "seconds_to_read_rows_once": round(once, 5),
    }


def check(world, chosen):
    """Labels and sums of the first rows against float64 and whole numbers on the processor."""
    n = min(200_000, chosen.rows)
    X = world.X[:n].clone()
    best, _ = nearest(X, None, *flat(world, X))
    X64, C = X.cpu().double(), world.centres.cpu()
    scores = C.square().sum(dim=1) - 2 * X64 @ C.T
    if not torch.equal(best.cpu(), scores.argmin(dim=1)):
        raise SystemExit("labels differ from float64 on the processor: nothing is timed")
    grid = Grid.holding(chosen.rows, 1.0)
    rows = torch.arange(n, device=X.device, dtype=torch.int32)
    sums, counts = sum_rows(X, rows, best.int(), len(C), grid)
    whole = (X64 * 2.0**grid.bits).round()
    want = torch.zeros(sums.shape, dtype=torch.float64).index_add_(0, best.cpu(), whole)
    number = torch.bincount(best.cpu(), minlength=len(C))
    if not torch.equal(sums.cpu(), want) or not torch.equal(counts.cpu(), number):
        raise SystemExit("sums differ from whole numbers on the processor: nothing is timed")
    return {"rows": n, "labels": "equal", "sums": "equal to the bit"}


def flat(world, X):
    """All centres in one family, as in plain k-means."""
    family = torch.zeros(len(X), dtype=torch.int32, device=X.device)
    of_centre = torch.zeros(len(world.centres), dtype=torch.int32, device=X.device)
    return family, Centres(world.centres, of_centre, 1), norms(X)


def passes(world, chosen):
    X, n = world.X, chosen.rows
    family, centres, x2 = flat(world, X)
    grid = Grid.holding(n, 1.0)
    rows = torch.arange(n, dtype=torch.int32, device=X.device)
    began = time.perf_counter()
    label = nearest(X, None, family, centres, x2)[0].int()
    sum_rows(X, rows, label, len(centres.vectors), grid)
    if chosen.device != "cpu":
        torch.cuda.synchronize()
    first = time.perf_counter() - began

    def whole():
        best, _ = nearest(X, None, family, centres, x2)
        sum_rows(X, rows, best.int(), len(centres.vectors), grid)

    record = {
        "plain_torch": round(timed(chosen, lambda: plain(X, world.centres), 5), 6),
        "first_call_with_compiling": round(first, 2),
        "nearest": round(timed(chosen, lambda: nearest(X, None, family, centres, x2)), 6),
        "sums": round(
            timed(chosen, lambda: sum_rows(X, rows, label, len(centres.vectors), grid)), 6
        ),
        "whole": round(timed(chosen, whole), 6),
    }
    kernels = fused(X)
    if kernels is not None:
        bound = kernels.assign(X, None, family, centres, x2)[1]
        record["looked_at_again"] = round(float((~(bound > 0)).double().mean()), 5)
        run = timed(chosen, lambda: kernels.assign(X, None, family, centres, x2))
        record["assign_kernel"] = round(run, 6)
        record["settings"] = kernels.settings()
    return record | flash(X, world.centres, partial(timed, chosen))


def fits(world, chosen):
    """Whole fits; the first million rows alone come first, and the compiling with them."""
    result, few = {}, min(chosen.rows, 1 << 20)
    for make in (HierSeed, AnchoredHierSeed):
        began = time.perf_counter()
        make(world.taxonomy).fit(TorchBlocks(world.X[:few], chosen.device), world.y[:few])
        first = time.perf_counter() - began
        if chosen.device != "cpu":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats()
        began = time.perf_counter()
        model = make(world.taxonomy).fit(TorchBlocks(world.X, chosen.device), world.y)
        seconds = time.perf_counter() - began
        peak = torch.cuda.max_memory_allocated() if chosen.device != "cpu" else 0
        if "PROFILES" in os.environ:
            with sampled(f"{os.environ['PROFILES']}/resident-{make.__name__}.txt"):
                make(world.taxonomy).fit(TorchBlocks(world.X, chosen.device), world.y)
        result[make.__name__] = {
            "seconds": round(seconds, 2), "rounds": model.n_iter_,
            "first_million_with_compiling": round(first, 2),
            "seconds_a_round": [round(entry["seconds"], 3) for entry in model.history_],
            "coverage": round(model.coverage_, 4), "peak_gb": round(peak / 1e9, 2),
        }  # fmt: skip
    return result


def streamed(world, chosen):
    """The same fit with the rows on the GPU, and fetched from a file at every pass."""
    n = min(chosen.streamed_rows, chosen.rows)
    y, result = world.y[:n], {"rows": n}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, world.X[:n].cpu().numpy())
        rows = np.load(path, mmap_mode="r")
        labels = []
        for name, resident in (("resident", True), ("fetched", False)):
            blocks = TorchBlocks(rows, chosen.device, resident=resident)
            began = time.perf_counter()
            labels.append(AnchoredHierSeed(world.taxonomy).fit(blocks, y).labels_)
            result[name] = round(time.perf_counter() - began, 2)
    result["labels"] = "equal" if np.array_equal(*labels) else "differ"
    return result


def show(record):
    print(f"{record['rows']:,} x {record['dimensions']} float16, {record['centres']} centres, "
          f"{record['machine']['device']}")  # fmt: skip
    for part in ("limits", "pass", "streamed"):
        print(part)
        for name, value in record[part].items():
            print(f"  {name:28} {value}")
    for name, entry in record["fit"].items():
        print(f"fit {name}: {entry['seconds']} s, {entry['rounds']} rounds, {entry['peak_gb']} GB")


def write(path, record):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1) + "\n")
    print(f"wrote {path.name}")


if __name__ == "__main__":
    main()
