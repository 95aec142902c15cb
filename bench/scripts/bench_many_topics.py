"""Thousands of topics with one seed each: memory and processor time of a fit.

    python bench/scripts/bench_many_topics.py

Two shapes: 10,000 topics in 100 branches over 30,000 x 64, and one parent with 5,000 children over
15,000 x 32. Each fit runs in a process of its own on one thread, after a fit of a few documents
that imports everything. A pass is the bare product of all documents with all topics and its largest
value per document. Writes results/bench_many_topics.json.
"""

import json
import os
import resource
import subprocess
import sys
import time
import warnings

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
SHAPES = {"10,000 topics": (30_000, 64), "5,000 children": (15_000, 32)}
METHODS = ("AnchoredHierSeed", "HierSeed")


def taxonomy(shape):
    from hierseed import Taxonomy

    if shape == "5,000 children":
        return Taxonomy.from_paths(["One", *(f"One > Child {i}" for i in range(5_000))])
    return Taxonomy.from_paths([f"Branch {i // 100} > Topic {i}" for i in range(10_000)])


def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


def one_fit(shape, method):
    """Runs in a process of its own; prints the record as JSON."""
    import numpy as np

    import hierseed

    topics, (n, dimensions) = taxonomy(shape), SHAPES[shape]
    rng = np.random.default_rng(0)
    leaves = np.flatnonzero(topics.tree.is_leaf)
    centres = rng.normal(size=(len(leaves), dimensions)).astype(np.float32)
    X = centres[np.arange(n) % len(leaves)]
    X += 0.5 * rng.normal(size=X.shape).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.full(n, -1)
    y[: len(leaves)] = leaves
    Estimator = getattr(hierseed, method)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # one seed a topic is worth a note
        few = hierseed.Taxonomy.from_paths(["A > B", "A > C"])
        Estimator(few, n_jobs=1).fit(X[:50], np.where(np.arange(50) < 8, 1 + np.arange(50) % 2, -1))
        began = time.process_time()
        for rows in range(0, n, 1_000):
            (X[rows : rows + 1_000] @ centres.T).argmax(axis=1)
        a_pass, before = time.process_time() - began, peak_mib()
        began = time.process_time()
        model = Estimator(topics, n_jobs=1).fit(X, y)
        seconds = time.process_time() - began
    right = float(np.mean(model.labels_ == leaves[np.arange(n) % len(leaves)]))
    record = {
        "shape": shape, "method": method, "documents": n, "dimensions": dimensions,
        "topics": len(topics), "fit_cpu_s": round(seconds, 1), "pass_cpu_s": round(a_pass, 2),
        "passes": round(seconds / a_pass, 1), "before_mib": round(before),
        "peak_mib": round(peak_mib()), "share_right": round(right, 3),
    }  # fmt: skip
    print(json.dumps(record))


def main():
    from machine import write

    runs = []
    for shape in SHAPES:
        for method in METHODS:
            done = subprocess.run(
                [sys.executable, __file__, shape, method],
                env=os.environ | dict.fromkeys(THREADS, "1"), capture_output=True, text=True,
                check=True,
            )  # fmt: skip
            runs.append(json.loads(done.stdout))
            print(runs[-1], flush=True)
    write("bench_many_topics", {"runs": runs})


if __name__ == "__main__":
    one_fit(*sys.argv[1:]) if len(sys.argv) > 1 else main()
