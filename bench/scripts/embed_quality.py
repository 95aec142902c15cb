"""Is the method embedding-agnostic? Every embedder, HierSeed and two simple baselines, five draws.

    HIERSEED_HOME=... .venv/bin/python bench/scripts/embed_quality.py [--embedders a,b] [--data c,d]

Runs that are on record already are not made again. fastText trains on each corpus, which takes
minutes; the others take seconds. Fetch `glove` first: hierseed embedders get glove.
"""

import argparse
from itertools import product
from pathlib import Path

from hierseed_bench.runs.config import Setting
from hierseed_bench.runs.records import Records
from hierseed_bench.runs.run import run_one

FOLDER = Path(__file__).parents[2] / "results" / "embed_quality"
EMBEDDERS = ("minilm", "wordllama", "tfidf", "glove", "fasttext")
DATA = ("20newsgroups", "cap", "arxiv")
METHODS = ("hierseed", "nearest-leaf", "seeded-kmeans")
DRAWS = 5
LIMIT = {"arxiv": 10_000}


def settings(embedders, data):
    for name, vectors, method, draw in product(data, embedders, METHODS, range(DRAWS)):
        yield Setting(name, method, draw=draw, vectors=vectors, limit=LIMIT.get(name, 0))


def shorten(record):
    """What the tables need of a record; the rest can be made again from the setting."""
    scores = record["scores"]["all"]
    measures = ("bcubed_f1", "v_measure", "accuracy")
    return {
        "key": record["key"],
        "setting": record["setting"],
        "coverage": record["scores"]["coverage"],
        "levels": [{name: level[name] for name in measures} for level in scores["levels"]],
        "mean": {name: scores["mean"][name] for name in measures},
        "dimensions": record["vectors"]["dimensions"],
        **{key: record[key] for key in ("seconds", "versions", "commit", "date")},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedders", default=",".join(EMBEDDERS))
    parser.add_argument("--data", default=",".join(DATA))
    chosen = parser.parse_args()
    records = Records(FOLDER)
    done = records.keys()
    for setting in settings(chosen.embedders.split(","), chosen.data.split(",")):
        if setting.key not in done:
            record = run_one(setting)
            records.add(shorten(record))
            print(setting, f"vectors={setting.vectors}", record["seconds"], flush=True)


if __name__ == "__main__":
    main()
