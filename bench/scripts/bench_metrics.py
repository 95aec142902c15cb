"""Scoring a million documents on three levels, beside scikit-learn's V-measure on the same labels.

    python bench/scripts/bench_metrics.py        writes results/bench_metrics.json

Both protocols, all measures, one core. Labels: 7 x 5 x 4 topics; half of the predictions are
right, the rest anywhere in the tree, inner topics and None included. The second case gives
every other document a second label.
"""

import json
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from pathlib import Path

import numpy as np
from sklearn.metrics import v_measure_score

from hierseed.evaluate import score
from hierseed.evaluate.levels import fill_down
from hierseed.taxonomy import Taxonomy
from hierseed_bench.runs.environment import commit, machine, versions

DOCUMENTS = 1_000_000
REPEATS = 5


def best_of(repeats, function):
    """Least time of several: the others were disturbed."""
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        function()
        times.append(time.perf_counter() - started)
    return min(times)


def main():
    rng = np.random.default_rng(0)
    shape = [(f"a{i}", f"b{j}", f"c{k}") for i in range(7) for j in range(5) for k in range(4)]
    taxonomy = Taxonomy.from_paths(shape)
    tree = taxonomy.tree
    gold = rng.choice(np.flatnonzero(tree.is_leaf), DOCUMENTS)
    wild = rng.integers(-1, len(tree), DOCUMENTS)
    levels = tree.ancestors[np.where(rng.random(DOCUMENTS) < 0.5, gold, wild)]
    second = rng.integers(0, len(tree), DOCUMENTS).tolist()
    several = [[a] if i % 2 else [a, b] for i, (a, b) in enumerate(zip(gold.tolist(), second))]
    truth, given = fill_down(tree.ancestors[gold]), fill_down(levels)

    ours = best_of(REPEATS, lambda: score(taxonomy, levels, gold))
    multi = best_of(2, lambda: score(taxonomy, levels, several))
    theirs = best_of(
        REPEATS, lambda: [v_measure_score(truth[:, k], given[:, k]) for k in range(tree.height)]
    )
    same = score(taxonomy, levels, gold).all.levels[2].v_measure
    assert abs(same - v_measure_score(truth[:, 2], given[:, 2])) < 1e-9
    record = {
        "documents": DOCUMENTS,
        "levels": tree.height,
        "seconds_all_measures_both_protocols": round(ours, 3),
        "seconds_sklearn_v_measure": round(theirs, 3),
        "ratio_to_sklearn": round(ours / theirs, 3),
        "seconds_several_labels": round(multi, 3),
        "versions": versions(),
        "commit": commit(),
        "machine": machine() | {"threads": 1},
    }
    file = Path(__file__).resolve().parents[2] / "results" / "bench_metrics.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(record, indent=2) + "\n")
    print(json.dumps(record, indent=2))


if __name__ == "__main__":
    main()
