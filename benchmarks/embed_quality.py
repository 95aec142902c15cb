"""Is the method embedding-agnostic? Every embedder, HierSeed and two simple baselines, five draws.

    HIERSEED_HOME=... .venv/bin/python benchmarks/embed_quality.py [--embedders a,b] [--data c,d]

Runs that are in the file already are not made again. fastText trains on each corpus, which takes
minutes; the others take seconds. Fetch `glove` first: hierseed embedders get glove.
"""

import argparse
import json
from itertools import product
from pathlib import Path

from hierseed.bench.run import run_one
from hierseed.bench.setting import Setting

FILE = Path(__file__).parent.parent / "results" / "embed_quality.json"
EMBEDDERS = ("minilm", "wordllama", "tfidf", "glove", "fasttext")
DATA = ("20newsgroups", "cap", "arxiv")
METHODS = ("hierseed", "nearest-leaf", "seeded-kmeans")
DRAWS = 5
LIMIT = {"arxiv": 10_000}
RAW = ("minilm", "wordllama")  # embedders also tried without centring and unit length


def settings(embedders, data):
    for name, vectors, method, draw in product(data, embedders, METHODS, range(DRAWS)):
        for prepare in (True, False) if vectors in RAW else (True,):
            yield Setting(
                name,
                method,
                draw=draw,
                vectors=vectors,
                prepare=prepare,
                limit=LIMIT.get(name, 0),
            )


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
        "seconds": record["seconds"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedders", default=",".join(EMBEDDERS))
    parser.add_argument("--data", default=",".join(DATA))
    chosen = parser.parse_args()
    runs = json.loads(FILE.read_text())["runs"] if FILE.exists() else []
    done = {run["key"] for run in runs}
    for setting in settings(chosen.embedders.split(","), chosen.data.split(",")):
        if setting.key in done:
            continue
        record = run_one(setting)
        runs.append(shorten(record))
        runs.sort(key=lambda run: json.dumps(run["setting"], sort_keys=True))
        FILE.parent.mkdir(exist_ok=True)
        about = {key: record[key] for key in ("versions", "machine", "commit", "date")}
        lines = ",\n  ".join(json.dumps(run) for run in runs)
        FILE.write_text(f'{{"about": {json.dumps(about)},\n "runs": [\n  {lines}\n ]}}\n')
        print(
            setting,
            f"vectors={setting.vectors} prepare={setting.prepare}",
            record["seconds"],
            flush=True,
        )


if __name__ == "__main__":
    main()
