"""What joining an embedder with `lsa` brings: AnchoredHierSeed on every set, five draws.

    python bench/scripts/embed_joined.py [SET ...]     writes results/embed_joined.json

A set is a name that `hierseed-bench` knows, or a folder (see hierseed_bench.data.open_sets). What
the file holds already is not made again.
"""

import json
import sys
from itertools import product
from pathlib import Path

from machine import RESULTS, write

from hierseed_bench.runs.config import RunConfig
from hierseed_bench.runs.run import run_one

SETS = ("20newsgroups", "arxiv", "cap", "arxiv_acm", "us_code", "wos_partial")
VECTORS = ("wordllama", "wordllama+lsa", "minilm", "minilm+lsa")
DRAWS = 5


def main():
    file = RESULTS / "embed_joined.json"
    rows = json.loads(file.read_text())["rows"] if file.exists() else []
    done = {(row["data"], row["vectors"], row["draw"]) for row in rows}
    for data, vectors, draw in product(sys.argv[1:] or SETS, VECTORS, range(DRAWS)):
        name = Path(data).name
        if (name, vectors, draw) in done:
            continue
        record, _ = run_one(RunConfig(data, "anchored", draw=draw, vectors=vectors))
        weights = record["vectors"]["preparation"].get("weights")
        f1 = record["scores"]["all"]["mean"]["bcubed_f1"]
        rows.append({"data": name, "vectors": vectors, "draw": draw, "f1": f1, "weights": weights})
        write("embed_joined", {"rows": rows})
        print(name, vectors, draw, f1, weights, flush=True)


if __name__ == "__main__":
    main()
