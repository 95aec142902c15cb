"""The core's speed and memory as ratios in one run: sphere, whole fit, growth, peak memory.

    python bench/scripts/bench_core.py            all parts
    python bench/scripts/bench_core.py sphere     one part

Writes results/bench_core.json and results/figure_growth.svg. Ratios and growth are of processor
time, which other programs on the machine disturb least.
"""

import gzip
import json
import subprocess
import sys
import time
import warnings
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
from machine import DATA, RESULTS, best_of, describe, least, write
from threadpoolctl import threadpool_limits

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy
from hierseed.core.hierseed.sphere import windows

# ------------------------------------------------------------------ the sphere


def triple_loop(distances):
    """The published cost: every document, every triple of children."""
    best = np.full(len(distances), np.inf)
    for a, b, c in combinations(range(distances.shape[1]), 3):
        three = distances[:, [a, b, c]]
        np.minimum(best, three.max(axis=1) - three.min(axis=1), out=best)
    return best


def sphere():
    rng = np.random.default_rng(0)
    against = []
    for children in (10, 20, 53):
        distances = rng.gamma(9.0, size=(500, children))
        slow, _, one = best_of(1, lambda d=distances: triple_loop(d))
        fast, _, two = best_of(5, lambda d=distances: windows(d))
        assert np.allclose(one, two[0])
        python = per_document_loop_seconds(distances[:3]) / 3 * 500
        against.append(
            {"children": children, "documents": 500, "windows_s": fast, "triples_numpy_s": slow,
             "triples_python_s": python, "ratio_numpy": slow / fast, "ratio_python": python / fast}
        )  # fmt: skip
    growth = []
    for documents in (10_000, 20_000, 40_000, 80_000):
        for children in (8, 32, 128):
            distances = rng.gamma(9.0, size=(documents, children))
            seconds, _, _ = best_of(3, lambda d=distances: windows(d))
            growth.append({"documents": documents, "children": children, "seconds": seconds})
    return {"against_triples": against, "growth": growth}


def per_document_loop_seconds(distances):
    """The same as plain loops, which is how the published code runs it."""
    began = time.perf_counter()
    for row in distances:
        min(max(t) - min(t) for t in combinations(row.tolist(), 3))
    return time.perf_counter() - began


# ------------------------------------------------------------------ a whole fit


def arxiv(draw=0, seeds=4):
    folder = DATA / "arxiv"
    X = np.load(folder / "minilm.npy").astype(np.float32)
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    with gzip.open(folder / "docs.jsonl.gz", "rt") as file:
        paths = [tuple(json.loads(line)["labels"][0]) for line in file]
    taxonomy = Taxonomy.from_paths(sorted(set(paths)))
    truth = np.array([taxonomy.index(path) for path in paths])
    rng = np.random.default_rng(draw)
    y = np.full(len(X), -1)
    for topic in np.unique(truth):
        y[rng.choice(np.flatnonzero(truth == topic), seeds, replace=False)] = topic
    return taxonomy, X, y


def whole_fit(threads=1):
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    if not DATA.is_dir():
        return {"skipped": "the labelled corpora are not here: set HIERSEED_DATA"}
    taxonomy, X, y = arxiv()
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    means = np.array([X[y == leaf].mean(axis=0) for leaf in leaves])
    warnings.simplefilter("ignore", ConvergenceWarning)
    systems = {
        "HierSeed": lambda: HierSeed(taxonomy, n_jobs=threads).fit(X, y),
        "AnchoredHierSeed": lambda: AnchoredHierSeed(taxonomy, n_jobs=threads).fit(X, y),
        "scikit-learn KMeans": lambda: KMeans(len(leaves), init=means, n_init=1, max_iter=10).fit(
            X
        ),
        "one product, all leaves": lambda: X @ means.T,
    }
    best = dict.fromkeys(systems, (np.inf, np.inf))
    with threadpool_limits(threads):
        for _ in range(4 * threads):  # in turn, so that all see the same load
            for name, run in systems.items():
                clock, processor, _ = least(1, run)
                best[name] = min(best[name][0], clock), min(best[name][1], processor)
    rounds = HierSeed(taxonomy).fit(X, y).n_iter_
    kind = 1 if threads == 1 else 0  # several threads by the clock, one by the processor
    kmeans = best["scikit-learn KMeans"][kind]
    return {
        "documents": len(X), "width": X.shape[1], "topics": len(taxonomy), "rounds": rounds,
        "threads": threads, "machine": describe(),
        "systems": {name: {"seconds": both[0], "processor_seconds": both[1],
                           "times_kmeans": both[kind] / kmeans}
                    for name, both in best.items()},
    }  # fmt: skip


# ------------------------------------------------------------------ growth


def synthetic(documents, branches, leaves, width=128, seed=0):
    rng = np.random.default_rng(seed)
    taxonomy = Taxonomy.from_paths([(f"t{a}", f"s{b}") for a in range(branches)
                                    for b in range(leaves)])  # fmt: skip
    tops = rng.normal(size=(branches, width)).astype(np.float32)
    subs = tops.repeat(leaves, axis=0) + rng.normal(size=(branches * leaves, width)) * 0.6
    which = rng.integers(0, branches * leaves, documents)
    X = subs[which].astype(np.float32)
    X += rng.normal(size=X.shape).astype(np.float32) * 0.5
    y = np.full(documents, -1)
    leaf_ids = np.flatnonzero(taxonomy.tree.is_leaf)
    for leaf in range(branches * leaves):
        y[np.flatnonzero(which == leaf)[:4]] = leaf_ids[leaf]
    return taxonomy, X, y


SIZES = {  # documents, branches of 8 leaves, dimensions
    "documents": [(n, 8, 128) for n in (25_000, 50_000, 100_000, 200_000)],
    "topics": [(50_000, branches, 128) for branches in (8, 16, 32, 64)],
    "dimensions": [(50_000, 8, width) for width in (64, 128, 256, 512)],
}


def growth(axis):
    rows = []
    for documents, branches, width in SIZES[axis]:
        taxonomy, X, y = synthetic(documents, branches, 8, width)
        size = {"documents": documents, "topics": len(taxonomy), "dimensions": width}[axis]
        for name, model in (
            ("HierSeed", HierSeed(taxonomy, max_iter=2, tol=0.0, refine_tol=0.0, n_jobs=1)),
            ("AnchoredHierSeed", AnchoredHierSeed(taxonomy, max_iter=2, tol=0.0, n_jobs=1)),
        ):
            _, seconds, _ = least(2, lambda m=model, X=X, y=y: m.fit(X, y))
            rows.append({"axis": axis, "method": name, "size": size, "seconds": seconds})
            print(rows[-1], flush=True)
    return rows


def plot(rows):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "growth"  # the same file from the same figures
    names = [name for name in SIZES if any(row["axis"] == name for row in rows)]
    size = (3.4 * len(names), 3.2)
    figure, axes = plt.subplots(1, len(names), figsize=size, constrained_layout=True, squeeze=False)
    for axis, name in zip(axes[0], names):
        for method, colour in (("HierSeed", "#2a6f97"), ("AnchoredHierSeed", "#c1666b")):
            mine = [row for row in rows if (row["axis"], row["method"]) == (name, method)]
            size = np.array([row["size"] for row in mine])
            seconds = np.array([row["seconds"] for row in mine])
            axis.plot(size, seconds, "o-", color=colour, label=method)
            axis.plot(size, seconds[-1] * size / size[-1], ":", color=colour, linewidth=1)
        axis.set(xlabel=name, ylabel="processor seconds, two rounds", ylim=(0, None))
        axis.set_xlim(0, None)
        axis.spines[["top", "right"]].set_visible(False)
    axes[0, 0].legend(frameon=False, title="dotted: in proportion")
    figure.savefig(RESULTS / "figure_growth.svg", metadata={"Date": None})
    plt.close(figure)


# ------------------------------------------------------------------ peak memory


def memory():
    """Peak of a fresh process beyond the input matrix, which it maps from disk."""
    rows = []
    for dtype in ("float16", "float32"):
        shown = subprocess.run(
            [sys.executable, __file__, "peak", dtype], capture_output=True, text=True, check=True
        ).stdout.split()
        base, peak, matrix = map(int, shown[-3:])
        beyond = peak - base - matrix
        rows.append(
            {"dtype": dtype, "matrix_mb": matrix / 1e6, "beyond_mb": beyond / 1e6,
             "share_of_matrix": beyond / matrix, "allowed_mb": 0.3 * matrix / 1e6 + 200}
        )  # fmt: skip
    return rows


def peak(dtype):
    taxonomy, X, y = synthetic(4_000, 8, 8, width=384)
    HierSeed(taxonomy).fit(X, y)  # libraries loaded, pools made
    taxonomy, X, y = synthetic(400_000, 8, 8, width=384)
    path = RESULTS / f"peak-{dtype}.npy"
    np.save(path, X.astype(dtype))
    del X
    child = subprocess.run(
        [sys.executable, __file__, "peak-child", str(path)], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    path.unlink()
    print(child.stdout)


def high_water():
    """Largest resident size so far; unlike ru_maxrss it starts anew in a new program."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def peak_child(path):
    taxonomy, X, y = synthetic(4_000, 8, 8, width=384)
    HierSeed(taxonomy).fit(X, y)
    del X
    base = high_water()
    taxonomy = synthetic(2_000, 8, 8, width=384)[0]
    X = np.load(path)
    y = np.full(len(X), -1)
    y[:2_000] = synthetic(2_000, 8, 8, width=384)[2]
    HierSeed(taxonomy).fit(X, y)
    print(base, high_water(), X.nbytes)


PARTS = {
    "sphere": sphere,
    "whole_fit": whole_fit,
    "whole_fit_2": partial(whole_fit, 2),
    **{f"growth_{axis}": partial(growth, axis) for axis in SIZES},
    "memory": memory,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["peak"]:
        peak(sys.argv[2])
    elif sys.argv[1:2] == ["peak-child"]:
        peak_child(sys.argv[2])
    else:
        old = RESULTS / "bench_core.json"
        record = json.loads(old.read_text()) if old.exists() else {}
        record.pop("machine", None)
        for part in sys.argv[1:] or PARTS:
            record[part] = PARTS[part]()
            print(json.dumps({part: record[part]}, indent=1))
            write("bench_core", record)
        if rows := [row for axis in SIZES for row in record.get(f"growth_{axis}", [])]:
            plot(rows)
