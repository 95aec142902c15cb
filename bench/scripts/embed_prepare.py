"""Do centring, unit length and PCA help? Each way of preparing vectors, on three corpora.

    python bench/scripts/embed_prepare.py          writes results/embed_prepare.json

Needs the labelled corpora, and `hierseed embedders get glove`. What the file holds already is not
made again. Mean B-cubed F1 over real levels, all test documents, 4 seeds a topic.
"""

import json
from dataclasses import replace
from itertools import product

import numpy as np
from machine import RESULTS, write

from hierseed.embed import Preparation
from hierseed.evaluate import score
from hierseed_bench.competitors.catalogue import make_method
from hierseed_bench.competitors.task import Documents
from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.prepared import make_task, ready

DATA = {"20newsgroups": 0, "cap": 0, "arxiv": 10_000}  # documents used, 0: all
EMBEDDERS = ("minilm", "wordllama", "glove")
METHODS = ("hierseed", "nearest-leaf", "seeded-kmeans")
DRAWS = 3
WAYS = {
    "as they are": {"centre": False, "unit": False},
    "centred": {"centre": True, "unit": False},
    "unit length": {"centre": False, "unit": True},
    "centred, unit length": {"centre": True, "unit": True},
    "centred, PCA 128, unit length": {"centre": True, "unit": True, "pca": 128},
    "centred, PCA 64, unit length": {"centre": True, "unit": True, "pca": 64},
}


def scores(data, limit, vectors, draw):
    """F1 of each way and method on one draw of seeds."""
    setting = RunConfig(
        data, "nearest-leaf", draw=draw, vectors=vectors, limit=limit, prepare=False
    )
    given = ready(setting.shape)
    split = given.split(setting)
    task, test, _ = make_task(given, setting, split)
    gold = [given.dataset.labels[row] for row in split.test]
    for way, options in WAYS.items():
        preparation = Preparation(**options).fit(task.with_seeds())

        def see(documents, preparation=preparation):
            return Documents(preparation.transform(documents.vectors), documents.texts)

        seen = replace(task, seeds=see(task.seeds), fitting=see(task.fitting), labelled=None)
        for name in METHODS:
            method = make_method(name).fit(seen)
            levels = method.predict(see(test))
            told = score(given.dataset.taxonomy, levels, gold, named=True).to_dict()
            yield way, name, told["all"]["mean"]["bcubed_f1"]


def main():
    file = RESULTS / "embed_prepare.json"
    rows = json.loads(file.read_text())["rows"] if file.exists() else []
    done = {(row["data"], row["vectors"]) for row in rows}
    for (data, limit), vectors in product(DATA.items(), EMBEDDERS):
        if (data, vectors) in done:
            continue
        found = {}
        for draw in range(DRAWS):
            for way, method, f1 in scores(data, limit, vectors, draw):
                found.setdefault((way, method), []).append(f1)
        for (way, method), values in found.items():
            row = {"data": data, "vectors": vectors, "way": way, "method": method}
            row |= {"f1": round(float(np.mean(values)), 4), "draws": len(values)}
            row["deviation"] = round(float(np.std(values)), 4)
            rows.append(row)
            print(row, flush=True)
    write("embed_prepare", {"rows": rows})


if __name__ == "__main__":
    main()
