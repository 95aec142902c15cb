"""Does `suggest` beat random choice at equal cost? Rounds of labelling, gold labels as oracle.

    python bench/scripts/bench_suggest.py                        all sets and methods
    python bench/scripts/bench_suggest.py --draws 2 --data cap   a quick look

Each draw: 2 seeds a topic at random; then 4 rounds, in each as many documents labelled as there
are leaves, chosen from the training part by `suggest`, at random, or by least score alone. The
labels become seeds, the model is fitted again, and is scored on the test part, which nobody may
choose from. All three start from the same seeds. Writes results/bench_suggest.json and
docs/images/suggest.png.
"""

import argparse
import json
import time
import warnings

import numpy as np
from machine import DATA, RESULTS, ROOT, write

from hierseed.embed.prepare import Preparation
from hierseed.estimators.parameters import METHODS
from hierseed.evaluate import score
from hierseed.suggestions import suggest
from hierseed_bench.data.splits import draw_seeds
from hierseed_bench.runs.prepared import ready

SETS = {"20newsgroups": 8_000, "cap": 0, "arxiv": 10_000}  # documents used, 0: all
SEEDS, ROUNDS, MIN_DOCS = 2, 4, 15
NAMES = {"suggest": "suggest", "random": "random choice", "least": "least score"}


def by_suggest(assignments, X, labelled, n, random):
    return suggest(
        assignments, X, n, labelled=labelled, random_state=int(random.integers(2**31))
    ).row


def by_random(assignments, X, labelled, n, random):
    return random.choice(np.setdiff1d(np.arange(len(X)), labelled), n, replace=False)


def by_least(assignments, X, labelled, n, random):
    scores = np.nan_to_num(assignments.at(assignments.score)[assignments.primary])
    scores[assignments.labels < 0] = 0
    scores[labelled] = np.inf
    return np.argsort(scores, kind="stable")[:n]


CHOICES = {"suggest": by_suggest, "random": by_random, "least": by_least}


def one_run(dataset, method, choose, draw):
    """Scores on the test part after 0, 1, … rounds, and the seconds that choosing took."""
    split = draw_seeds(dataset, SEEDS, draw)
    train = split.train
    preparation = Preparation().fit(dataset.vectors[train])
    X, X_test = (preparation.transform(dataset.vectors[rows]) for rows in (train, split.test))
    gold_test = [dataset.labels[row] for row in split.test]
    n = int(dataset.taxonomy.tree.is_leaf.sum())
    y = [[] for _ in train]
    for row, topics in zip(np.searchsorted(train, split.seeds), split.seed_topics):
        y[row] = list(topics)
    random = np.random.default_rng([draw, 7])
    scores, seconds = [], 0.0
    for round_number in range(ROUNDS + 1):
        model = METHODS[method].estimator(dataset.taxonomy).fit(X, y)
        levels = model.taxonomy_.tree.ancestors[model.predict(X_test)]
        mean = score(dataset.taxonomy, levels, gold_test).all.mean
        scores.append({"labels": sum(map(bool, y)), "bcubed_f1": mean.bcubed_f1,
                       "accuracy": mean.accuracy})  # fmt: skip
        if round_number == ROUNDS:
            break
        labelled = np.flatnonzero([bool(topics) for topics in y])
        assignments = model.assign(X, y)
        began = time.perf_counter()
        for row in choose(assignments, X, labelled, n, random):
            y[row] = list(dataset.labels[train[row]])
        seconds += time.perf_counter() - began
    return scores, seconds


def draw_figure(runs, methods, sets):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    colours = {"suggest": "#b4562c", "random": "#6b6b6b", "least": "#8fa8bf"}
    figure, panels = plt.subplots(
        len(methods), len(sets), figsize=(3.6 * len(sets), 2.9 * len(methods)), squeeze=False
    )
    for i, method in enumerate(methods):
        for j, data in enumerate(sets):
            panel = panels[i, j]
            for choice in CHOICES:
                mine = [
                    r
                    for r in runs
                    if (r["method"], r["data"], r["choice"]) == (method, data, choice)
                ]
                curves = np.array([[s["bcubed_f1"] for s in r["scores"]] for r in mine])
                labels = [s["labels"] for s in mine[0]["scores"]]
                panel.plot(labels, curves.mean(0), color=colours[choice], marker="o", ms=3.5,
                           lw=2 if choice == "suggest" else 1.3, label=NAMES[choice])  # fmt: skip
                spread = curves.std(0)
                panel.fill_between(labels, curves.mean(0) - spread, curves.mean(0) + spread,
                                   color=colours[choice], alpha=0.13, lw=0)  # fmt: skip
            panel.set_title(f"{data}, {METHODS[method].kind}", fontsize=10)
            panel.spines[["top", "right"]].set_visible(False)
            panel.grid(axis="y", color="#e8e6e1", lw=0.7)
            panel.tick_params(labelsize=8)
            if i == len(methods) - 1:
                panel.set_xlabel("labelled documents", fontsize=9)
            if j == 0:
                panel.set_ylabel("B-cubed F1, mean of levels", fontsize=9)
    panels[0, 0].legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(ROOT / "docs" / "images" / "suggest.png", dpi=110)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--data", nargs="+", default=list(SETS))
    parser.add_argument("--method", nargs="+", default=[m for m in METHODS if m != "unfit"])
    parser.add_argument("--no-write", action="store_true", help="only print")
    options = parser.parse_args()
    if not DATA.is_dir():
        parser.error("the labelled corpora are not here: set HIERSEED_DATA")
    warnings.simplefilter("ignore")  # topics left empty by few seeds
    for data in options.data:
        dataset = ready((data, "minilm", MIN_DOCS, SETS[data], 0, 0)).dataset
        for method in options.method:
            runs = []
            for choice, choose in CHOICES.items():
                for draw in range(options.draws):
                    scores, seconds = one_run(dataset, method, choose, draw)
                    runs.append({"data": data, "method": method, "choice": choice, "draw": draw,
                                 "scores": scores, "choosing_s": round(seconds, 2)})  # fmt: skip
                mine = runs[-options.draws :]
                curve = np.mean([[s["bcubed_f1"] for s in r["scores"]] for r in mine], axis=0)
                print(f"{data:14}{method:10}{choice:9}", np.round(curve, 3), flush=True)
            if not options.no_write:
                keep(runs)


def keep(runs):
    """Replace the runs of one set and method in the record, and draw what is there."""
    file = RESULTS / "bench_suggest.json"
    known = json.loads(file.read_text())["runs"] if file.exists() else []
    new = {(run["data"], run["method"]) for run in runs}
    runs = [run for run in known if (run["data"], run["method"]) not in new] + runs
    write("bench_suggest", {"seeds": SEEDS, "rounds": ROUNDS, "min_docs": MIN_DOCS,
                            "documents": SETS, "runs": runs})  # fmt: skip
    present = {(run["data"], run["method"]) for run in runs}
    sets = [data for data in SETS if any(data == d for d, _ in present)]
    methods = [m for m in METHODS if all((data, m) in present for data in sets)]
    if methods:
        draw_figure(runs, methods, sets)


if __name__ == "__main__":
    main()
