"""Parts of bench_machine.py that need many cores: threads, workers, placing."""

import json
import os
import shutil
import time

import numpy as np
from machine_commands import SkippedError, best_in, hierseed, script, so_far
from machine_inputs import REDUCED, WIDTH, inputs, repeat, seeds_by_path, vectors

METHODS = ("HierSeed", "AnchoredHierSeed")
ENOUGH = 12  # seconds after which a measurement is not repeated


def threads(size, folder, count):
    """Whole fits and scikit-learn's KMeans in one process, by number of threads."""
    from sklearn.cluster import KMeans

    import hierseed
    from hierseed.core.kernels import compiled

    if count > (os.cpu_count() or 1):
        raise SkippedError(f"{os.cpu_count()} cores")
    tree, file, y = vectors(folder, size["rows"])
    X = np.load(file)
    compiled.BREAK_EVEN = 0
    found = {"rows": len(X), "dimensions": WIDTH, "leaves": 0, "threads": count}

    def keep(name, function, **more):
        seconds, _, times = best_in(ENOUGH, function)
        found[name] = {"seconds": seconds, "times": times} | more
        so_far(found)

    for name in METHODS:
        make = getattr(hierseed, name)
        make(tree, n_jobs=count).fit(X[: 1 << 16], y[: 1 << 16])  # compiles the kernels
        keep(name, lambda make=make: make(tree, n_jobs=count).fit(X, y))
    leaves = np.unique(y[y >= 0])
    found["leaves"] = len(leaves)
    means = np.array([X[y == leaf].mean(axis=0, dtype=np.float32) for leaf in leaves])
    wide = X.astype(np.float32)
    keep("bare product", lambda: wide @ means.T)
    peer = KMeans(len(leaves), init=means, n_init=1, max_iter=5)
    keep("scikit-learn KMeans, 5 iterations", lambda: peer.fit(wide))
    return found


def workers(size, folder, *counts):
    """`embed` and `assign` by number of workers, and by one process."""
    small = size is REDUCED
    out = folder / "workers.json"
    script(
        "bench_workers.py", "--out", out, "--workers", *counts, "--documents", size["texts"],
        "--wide", 0, "--folder", folder, "--part", 5_000 if small else 1 << 18,
        "--parts", 1 if small else 3, "--most", 1 if small else 3 * max(counts),
    )  # fmt: skip
    record = json.loads(out.read_text())
    found = {name: record[name] for name in ("embed", "assign")}
    return found | {"embedder": record["settings"]["embedder"]}


def fit_by_workers(size, folder, *counts):
    """`fit` by this many workers."""
    given, found = inputs(size, folder, "rows"), {"rows": size["rows"], "fit": []}
    for method in ("hierseed", "anchored"):
        words = ("fit", *given, "-o", folder / "model-workers", "--overwrite", "--method", method)
        hierseed(*words, "--workers", counts[-1])  # compiles the kernels
        for count in counts:
            told = hierseed(*words, "--workers", count)
            kept = {name: told[name] for name in ("seconds", "whole_command")}
            found["fit"].append({"method": method, "workers": count} | kept)
            so_far(found)
    return found


def assign_cores(size, folder):
    """`assign` of vectors by the command line, a process for each core, into a folder of parts."""
    file = inputs(size, folder, "mid")[0]
    found = {"rows": size["mid"], "dimensions": WIDTH}
    few = inputs(size, folder, "rows")
    for method in ("anchored", "hierseed"):
        model = folder / f"cores-{method}"
        hierseed("fit", *few, "-o", model, "--overwrite", "--method", method)
        found[method] = place(model, file, folder, size["mid"])
    return found


def place(model, file, folder, rows):
    """Place vectors with a process for each core: seconds, and bytes read and written."""
    cores, out = os.cpu_count() or 1, folder / "placed"
    told = hierseed("assign", model, file, "-o", out, "--overwrite", "--workers", cores)
    written = sum(part.stat().st_size for part in out.glob("part-*"))
    shutil.rmtree(out)
    return {
        "workers": cores, "seconds": told["seconds"], "whole_command": told["whole_command"],
        "rows_per_second": round(rows / told["seconds"]), "bytes_read": file.stat().st_size,
        "bytes_written": written,
    }  # fmt: skip


def assign_many(size, folder, method):
    """`assign` of as many vectors as the disk holds, and what one process reads of the file."""
    import hierseed as library

    rows, width = size["many"]
    tree, _, y = vectors(folder, size["rows"])
    X = np.load(folder / f"{size['rows']}.npy", mmap_mode="r")[:, :width]
    X = np.ascontiguousarray(X)
    model, file = folder / f"many-{method}", folder / "many.npy"
    few = min(len(X), 1 << 18)
    library.fit(X[:few], tree, seeds_by_path(tree, y[:few]), method=method).save(model)
    found = {"dimensions": width, "distinct_rows": len(X), "method": method}
    if not file.exists():
        _, found["seconds_to_write_the_file"] = repeat(file, X, rows)
    found["rows"] = rows = len(np.load(file, mmap_mode="r"))
    began, block = time.perf_counter(), bytearray(1 << 24)
    with file.open("rb", buffering=0) as source:
        while source.readinto(block):
            pass
    found["seconds_to_read_it_once"] = round(time.perf_counter() - began, 1)
    return found | place(model, file, folder, rows)
