"""Parts of the default method taken away one at a time, and how calibrated its scores are.

    python bench/scripts/method_parts.py ablations [JOBS]      results/method/ablations.json
    python bench/scripts/method_parts.py calibration [JOBS]    results/method/calibration.json

By default each uses all cores. It needs a clean commit, and resumes where it stopped.
Everything else on the default method is a plan of `hierseed bench all`.
"""

import json
import os
import sys
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from itertools import product
from unittest.mock import patch

import numpy as np
from machine import RESULTS

from hierseed import AnchoredHierSeed, HierSeed
from hierseed.core.mixture import em
from hierseed.core.mixture.gaussian_mixture import CholeskyCovariance, Mixture
from hierseed.evaluate import calibration, score
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.environment import commit, require_clean_tree
from hierseed_bench.runs.plan import METHOD_SETS
from hierseed_bench.runs.prepared import make_task, ready

HOME = RESULTS / "method"
SETS = {f"{data} skewed" if skew else data: (data, skew) for data, skew in METHOD_SETS}
DRAWS = 3


# ------------------------------------------------------------------ ablations


def without_levelling():
    """Means stay where the documents put them, near the centre of the corpus too."""
    return patch.object(Mixture, "levelled", lambda self, centre, variance=None: self)


def with_other_mixture(change):
    """Change covariance and sizes after each maximisation."""
    original = em.m_step

    def m_step(problem, seen):
        mixture, nodes, fixed = original(problem, seen)
        covariance = np.linalg.inv(mixture.solve(np.eye(mixture.means.shape[1])))
        covariance, log_size = change(covariance, mixture.log_size)
        made = Mixture.of(mixture.means, CholeskyCovariance.of(covariance), log_size)
        return made.levelled(problem.centre), nodes, fixed

    return patch.object(em, "m_step", m_step)


def round_balls(covariance, log_size):
    return np.eye(len(covariance)) * np.trace(covariance) / len(covariance), log_size


def equal_sizes(covariance, log_size):
    return covariance, np.full(len(log_size), -np.log(len(log_size)))


ABLATIONS = {  # what is taken away: parameters, and what is replaced in the code
    "nothing": ({}, nullcontext),
    "the corpus (seeds only)": ({"seed_weight": 1e6}, nullcontext),
    "the anchor (a seed counts as one document)": ({"seed_weight": 1.0}, nullcontext),
    "the tree": ({"tree_weight": 1e-3}, nullcontext),
    "the learned tree weight (8 for all)": ({"tree_weight": 8.0}, nullcontext),
    "the covariance (round balls)": ({}, lambda: with_other_mixture(round_balls)),
    "topic sizes": ({}, lambda: with_other_mixture(equal_sizes)),
    "the distance from the centre (sinks)": ({}, without_levelling),
    "belonging (no Other, no None)": ({"other": False}, nullcontext),
    "rejection alone (false_alarm=0)": ({"false_alarm": 0.0}, nullcontext),
    "further topics": ({"several": None}, nullcontext),
    "the early stop (30 rounds)": ({"max_iter": 30, "tol": 0.0}, nullcontext),
}


def ablate(job):
    """Fit a set and a draw without each part."""
    name, draw = job
    data, skew = SETS[name]
    task, test, gold = prepared(RunConfig(data, "anchored", draw=draw, skew=skew))
    rows = []
    for change, (parameters, replaced) in ABLATIONS.items():
        with replaced():
            placed = fitted(task, **parameters).assign(test.vectors)
        mean = score(task.taxonomy, placed.path, gold, rows=placed.row).all.mean
        rows.append(
            {"data": name, "draw": draw, "without": change, "bcubed_f1": mean.bcubed_f1,
             "v_measure": mean.v_measure}
        )  # fmt: skip
    return rows


# ------------------------------------------------------------------ calibration


def calibrate(job):
    """Compare scores with the share that is right, with one and with four seeds."""
    name, draw = job
    data, skew = SETS[name]
    rows = []
    for k, method in product((1, 4), (AnchoredHierSeed, HierSeed)):
        config = RunConfig(data, "anchored", seeds=k, draw=draw, skew=skew)
        task, test, gold = prepared(config)
        placed = fitted(task, method).assign(test.vectors)
        height = task.taxonomy.tree.height
        scores = placed.score[placed.primary][:, :height]
        for c in calibration(task.taxonomy.tree, placed.levels[:, :height], scores, gold):
            rows.append(
                {"data": name, "seeds": k, "draw": draw, "level": c.level,
                 "method": method.__name__, "documents": c.documents, "error": c.error,
                 "brier": c.brier, "counts": c.counts, "score": c.score, "accuracy": c.accuracy}
            )  # fmt: skip
    return rows


# ------------------------------------------------------------------ both


def prepared(config):
    data = ready(config.shape)
    split = data.split(config)
    task, test, _ = make_task(data, config, split)
    return task, test, [data.dataset.labels[i] for i in split.test]


def fitted(task, make=AnchoredHierSeed, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        topics = [list(each) for each in task.seed_topics]
        return make(task.taxonomy, n_jobs=1, **parameters).fit(
            task.fitting.vectors, X_seeds=task.seeds.vectors, y_seeds=topics
        )


def main(part, jobs):
    """Make what is missing of this commit; the old file is replaced when all is made."""
    require_clean_tree()
    file, partial = HOME / f"{part}.json", HOME / f"{part}.partial.json"
    made = read(partial) if partial.is_file() else []
    made = [row for row in made if row["commit"] == commit()]
    done = {(row["data"], row["draw"]) for row in made}
    HOME.mkdir(parents=True, exist_ok=True)
    todo = [job for job in product(SETS, range(DRAWS)) if job not in done]
    with ProcessPoolExecutor(jobs) as pool:
        for rows in pool.map(PARTS[part], todo):
            made += [row | {"commit": commit()} for row in rows]
            partial.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
    partial.replace(file)


def read(file):
    return json.loads(file.read_text(encoding="utf-8"))


PARTS = {"ablations": ablate, "calibration": calibrate}

if __name__ == "__main__":
    if sys.argv[1:2] == [] or sys.argv[1] not in PARTS:
        raise SystemExit(__doc__)
    main(sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else os.cpu_count())
