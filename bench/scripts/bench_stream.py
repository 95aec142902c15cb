"""A million short documents through `hierseed fit` and `hierseed assign`: rate and peak memory.

    python bench/scripts/bench_stream.py                 a million; writes results/bench_stream.json
    python bench/scripts/bench_stream.py 20000 --dry     fewer, and no record

The documents are stretches of 8 to 16 words out of the docstrings of Python's library, drawn at
random; their topics are the modules, below the chapters of the library reference; four seeds a
module. Both commands run as a user would run them; memory is the most that each process held.
Processor seconds hold though other programs run beside; seconds on the clock do not.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from machine import write

from hierseed.demo.corpus import load_corpus

LIMIT_MIB = 2048


def write_corpus(folder, documents):
    """docs.csv, topics.txt and seeds.csv; a document is written as soon as it is drawn."""
    demo = load_corpus()
    draw = random.Random(0)
    words = [text.split() for text in demo.texts]
    topics = [demo.taxonomy.paths[topic] for topic in demo.gold]
    seeds = {}
    with (folder / "docs.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["id", "text"])
        for number in range(documents):
            source = draw.randrange(len(words))
            start = draw.randrange(max(1, len(words[source]) - 8))
            text = " ".join(words[source][start : start + draw.randint(8, 16)])
            out.writerow([f"d{number}", text])
            if len(seeds.setdefault(topics[source], [])) < 4:
                seeds[topics[source]].append(f"d{number}")
    rows = [f"{id},{topic}\n" for topic, ids in seeds.items() for id in ids]
    (folder / "seeds.csv").write_text("id,topic\n" + "".join(rows), encoding="utf-8")
    (folder / "topics.txt").write_text("".join(f"{path}\n" for path in seeds), encoding="utf-8")


def run(folder, *command):
    """Run a command in a process of its own; its JSON, seconds and peak memory in MiB."""
    began = time.perf_counter()
    call = "from hierseed.cli import main; main()"
    child = subprocess.Popen(
        [sys.executable, "-c", call, *command, "--json"], cwd=folder, stdout=subprocess.PIPE
    )
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, command
    facts = json.loads(said)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return {
        "seconds": round(time.perf_counter() - began, 1),
        "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_mib": round(usage.ru_maxrss / unit),
        "facts": {key: value for key, value in facts.items() if key != "topics"},
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("documents", nargs="?", type=int, default=1_000_000)
    parser.add_argument("--dry", action="store_true", help="print, and leave results/ alone")
    parser.add_argument("--method", default=None)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_corpus(folder, options.documents)
        method = ["--method", options.method] if options.method else []
        files = ["--taxonomy", "topics.txt", "--seeds", "seeds.csv", "--embedder", "wordllama"]
        # Not beside the model, where `assign` would find the vectors and embed nothing.
        fit = run(folder, "fit", "docs.csv", *files, "-o", "model", "--vectors", "vectors", *method)
        text = run(folder, "assign", "model", "docs.csv", "-o", "placed.parquet")
        vectors = run(folder, "assign", "model", "vectors", "-o", "again.parquet")
        sizes = {
            "corpus_mib": round((folder / "docs.csv").stat().st_size / 2**20),
            "vectors_mib": round(
                sum(f.stat().st_size for f in (folder / "vectors").glob("*.*")) / 2**20
            ),
            "table_mib": round((folder / "placed.parquet").stat().st_size / 2**20),
        }
    steps = {"fit": fit, "assign_text": text, "assign_vectors": vectors}
    load = os.getloadavg()[0]
    for step in steps.values():
        step["documents_a_second"] = round(options.documents / step["seconds"])
    record = {
        "documents": options.documents,
        "limit_mib": LIMIT_MIB,
        "load_after": round(load, 1),
        **sizes,
        **steps,
    }
    print(json.dumps(record, indent=1))
    assert max(step["peak_mib"] for step in steps.values()) < LIMIT_MIB
    if not options.dry:
        write("bench_stream", record)


if __name__ == "__main__":
    main()
