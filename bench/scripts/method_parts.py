"""Parts of the default method taken away one at a time, and how honest its scores are.

    python bench/scripts/method_parts.py ablations [SET ...]     results/method/ablations.json
    python bench/scripts/method_parts.py calibration             results/method/calibration.json

Everything else on the default method is a plan of `hierseed bench all`.
"""

import json
import sys
import warnings
from contextlib import contextmanager, nullcontext
from itertools import product
from unittest.mock import patch

import numpy as np
from machine import RESULTS

from hierseed import AnchoredHierSeed, HierSeed
from hierseed.core.mixture import em
from hierseed.core.mixture.covariance import Factored
from hierseed.core.mixture.gaussian_mixture import Mixture
from hierseed.estimators.anchored import fitting
from hierseed.evaluate import calibration, score
from hierseed_bench.competitors.task import Documents
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.plan import METHOD_SETS
from hierseed_bench.runs.prepared import make_task, ready

HOME = RESULTS / "method"
SETS = {f"{data} skewed" if skew else data: (data, skew) for data, skew in METHOD_SETS}


# ------------------------------------------------------------------ ablations


@contextmanager
def changed(**parts):
    """Run with parts of the rounds replaced."""
    original = em.maximise

    def maximise(problem, seen):
        mixture, nodes, fixed = original(problem, seen)
        covariance = np.linalg.inv(mixture.covariance.solve(np.eye(mixture.means.shape[1])))
        log_size = mixture.log_size
        if parts.get("round_balls"):
            covariance = np.eye(len(covariance)) * np.trace(covariance) / len(covariance)
        if parts.get("equal_sizes"):
            log_size = np.full(len(log_size), -np.log(len(log_size)))
        return Mixture.of(mixture.means, Factored.of(covariance), log_size), nodes, fixed

    def all_groups(held, initial):
        return np.ones(len(initial.components), dtype=bool)

    if parts.get("every_group"):
        context = patch.object(fitting, "supported_groups", all_groups)
    else:
        context = patch.object(em, "maximise", maximise) if parts else nullcontext()
    with context:
        yield


ABLATIONS = {  # what is taken away: parameters, parts
    "nothing": ({}, {}),
    "the corpus (seeds only)": ({"seed_weight": 1e6}, {}),
    "the anchor (a seed counts as one document)": ({"seed_weight": 1.0}, {}),
    "the tree": ({"tree_weight": 1e-3}, {}),
    "the learned tree weight (8 for all)": ({"tree_weight": 8.0}, {}),
    "the covariance (round balls)": ({}, {"round_balls": True}),
    "topic sizes": ({}, {"equal_sizes": True}),
    "Other and None": ({"other": False}, {}),
    "the seeds' word on groups": ({}, {"every_group": True}),
    "further topics": ({"several": None}, {}),
    "the early stop (30 rounds)": ({"max_iter": 30, "tol": 0.0}, {}),
}


def ablations(*names):
    rows = others("ablations", names)
    for name in names or SETS:
        data, skew = SETS[name]
        for draw in range(2 if name in ("arxiv", "arxiv_acm") else 3):
            setting = RunConfig(data, "anchored", draw=draw, skew=skew)
            task, test, gold, _ = prepared(setting)
            for change, (parameters, parts) in ABLATIONS.items():
                with changed(**parts):
                    model = fitted(task, **parameters)
                placed = model.assign(test.vectors)
                mean = score(task.taxonomy, placed.path, gold, rows=placed.row).all.mean
                rows.append({"data": name, "draw": draw, "without": change,
                             "bcubed_f1": mean.bcubed_f1, "v_measure": mean.v_measure})  # fmt: skip
        print(name, flush=True)
        write("ablations", rows)


def prepared(setting):
    data = ready(setting.shape)
    split = data.split(setting)
    task, test, _ = make_task(data, setting, split)
    return (
        task,
        Documents(test.vectors, test.texts),
        [data.dataset.labels[i] for i in split.test],
        data,
    )


def fitted(task, make=AnchoredHierSeed, **parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        topics = [list(each) for each in task.seed_topics]
        return make(task.taxonomy, n_jobs=1, **parameters).fit(
            task.fitting.vectors, X_seeds=task.seeds.vectors, y_seeds=topics
        )


def others(name, names):
    """What is known of sets that are not to be made again; none given: of none."""
    file = HOME / f"{name}.json"
    known = json.loads(file.read_text()) if file.exists() else []
    return [row for row in known if row["data"] not in (names or SETS)]


def write(name, content):
    HOME.mkdir(parents=True, exist_ok=True)
    (HOME / f"{name}.json").write_text(json.dumps(content, indent=1) + "\n")


# ------------------------------------------------------------------ calibration and time


def calibrate():
    rows = []
    for name, (data, skew) in SETS.items():
        for k, draw in product((1, 4), range(2)):
            task, test, gold, _ = prepared(
                RunConfig(data, "anchored", seeds=k, draw=draw, skew=skew)
            )
            for method in (AnchoredHierSeed, HierSeed):
                model = fitted(task, method)
                placed = model.assign(test.vectors)
                height = task.taxonomy.tree.height
                scores = placed.score[placed.primary][:, :height]
                for c in calibration(task.taxonomy.tree, placed.levels[:, :height], scores, gold):
                    rows.append({"data": name, "seeds": k, "draw": draw, "level": c.level,
                                 "method": method.__name__, "documents": c.documents,
                                 "error": c.error, "brier": c.brier, "counts": c.counts,
                                 "score": c.score, "accuracy": c.accuracy})  # fmt: skip
        print(name, flush=True)
        write("calibration", rows)


PARTS = {"ablations": ablations, "calibration": calibrate}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in PARTS:
        raise SystemExit(__doc__)
    PARTS[sys.argv[1]](*sys.argv[2:])
