"""A taxonomy of a few topics in a corpus of many: what becomes of the rest?

    python bench/scripts/bench_few_topics.py [DRAWS]      results/method/few_topics.json and .md

Some topics of level 1 are listed, the others are not. Beside the methods as they are: Anchored
HierSeed with one topic more, "anything else", whose seeds are documents picked from the rest.
"""

import json
import sys

import numpy as np
from machine import RESULTS, describe

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy
from hierseed.embed import Preparation
from hierseed_bench.runs.config import Setting
from hierseed_bench.runs.prepared import ready
from hierseed_bench.tables.cells import Table

HOME = RESULTS / "method"
ELSE = 12  # seeds of "anything else"
WAYS = ("anchored", "anchored, anything else", "hierseed")


def corpus(data):
    dataset = ready(Setting(data, "anchored").shape).dataset
    X = np.asarray(dataset.vectors, dtype=np.float32)
    level_1 = dataset.taxonomy.tree.ancestors[:, 0]
    topic = np.array([level_1[mine[0]] if len(mine) else -1 for mine in dataset.labels])
    X = Preparation().fit(X).transform(X)
    return X[topic >= 0], topic[topic >= 0]


def outcome(X, topic, listed, seeds, way, rng):
    """Share of the rest that is kept out, and of listed topics kept out, and placed rightly."""
    place = np.full(topic.max() + 1, -1)
    place[listed] = np.arange(len(listed))
    truth = place[topic]
    y = np.full(len(X), -1)
    for number in range(len(listed)):
        y[rng.choice(np.flatnonzero(truth == number), seeds, replace=False)] = number
    names = [f"topic {number}" for number in range(len(listed))]
    if "else" in way:
        names.append("anything else")
        y[rng.choice(np.flatnonzero(truth < 0), ELSE, replace=False)] = len(listed)
    kind = HierSeed if way == "hierseed" else AnchoredHierSeed
    found = kind(Taxonomy.from_paths(names)).fit(X, y).labels_
    found = np.where(found < len(listed), found, -1)[y < 0]
    truth = truth[y < 0]
    inside = truth >= 0
    return [
        float(np.mean(found[~inside] < 0)),
        float(np.mean(found[inside] < 0)),
        float(np.mean(found[inside] == truth[inside])),
    ]


def main(draws=5):
    rows = []
    for data in ("cap", "arxiv"):
        X, topic = corpus(data)
        for n_listed in (2, 3, 5):
            for seeds in (4, 8):
                for way in WAYS:
                    rng = np.random.default_rng([n_listed, seeds])
                    seen = []
                    for _ in range(draws):
                        listed = rng.choice(np.unique(topic), n_listed, replace=False)
                        seen.append(outcome(X, topic, listed, seeds, way, rng.spawn(1)[0]))
                    rows.append({
                        "data": data, "listed": n_listed, "seeds": seeds, "way": way,
                        "kept out, false alarm, right": np.array(seen).round(4).tolist(),
                    })  # fmt: skip
                    print(rows[-1] | {"mean": np.mean(seen, axis=0).round(2).tolist()}, flush=True)
    HOME.mkdir(exist_ok=True)
    (HOME / "few_topics.json").write_text(json.dumps({"machine": describe(), "rows": rows}) + "\n")
    (HOME / "few_topics.md").write_text(table(rows, draws))


def table(rows, draws):
    cells = []
    for row in rows:
        seen = np.array(row["kept out, false alarm, right"])
        told = [f"{m:.2f} ± {s:.2f}" for m, s in zip(seen.mean(axis=0), seen.std(axis=0, ddof=1))]
        cells.append([row["data"], str(row["listed"]), str(row["seeds"]), row["way"], *told])
    about = (
        f"Topics of level 1, picked by chance; mean ± standard deviation over {draws} draws. `kept "
        "out`: documents of topics that are not listed, in none of those that are. `false alarm`: "
        "documents of listed topics, likewise. `right`: in their own topic. `anything else`: one "
        f"topic more, with {ELSE} seeds from the rest."
    )
    head = ("data", "topics listed", "seeds", "method", "kept out", "false alarm", "right")
    return Table("A few topics listed, of many", about, head, tuple(map(tuple, cells))).markdown()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
