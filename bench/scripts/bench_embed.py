"""How fast are the embedders, what does the store add, and what does reading it back cost?

    python bench/scripts/bench_embed.py            everything that is ready on this machine
    python bench/scripts/bench_embed.py --quick    fewer documents and rows
    python bench/scripts/bench_embed.py --only wordllama+lsa    measure the rate of these again

Ratios are taken inside one run, the two sides in turn, so that a busy machine slows both. Rates
are given by the clock and per second of processor time: the second hardly depends on what else the
machine does, and times the number of cores is what an idle one would reach.
Writes results/embed_speed.json.
"""

import argparse
import gzip
import json
import tempfile
import time
from itertools import count, islice
from pathlib import Path

import numpy as np
from machine import DATA, RESULTS, describe, write

from hierseed.embed import VectorStore, embed_corpus, get_embedder
from hierseed.embed.corpus import ready_specs
from hierseed.embed.embedder import is_trained
from hierseed.embed.onnx import cores
from hierseed.embed.store_writer import StoreWriter

WORDS = 200
JOINED = ("wordllama+lsa", "wordllama+student")  # a student's rate depends on no teacher
TRIAL = {"minilm": 100, "mpnet": 8, "wordllama": 4000, "tfidf": 4000, "glove": 4000}


def read_texts(n):
    """Texts of 200 words: cut from 20 Newsgroups where it is here, else words by Zipf's law."""
    file = DATA / "20newsgroups" / "docs.jsonl.gz"
    if not file.exists():
        rng = np.random.default_rng(0)
        draw = np.minimum(rng.zipf(1.3, size=(n, WORDS)), 20_000)
        return [" ".join(f"word{i}" for i in row) for row in draw], "made of words by Zipf's law"
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        words = (word for line in lines for word in json.loads(line)["text"].split())
        texts = [" ".join(islice(words, WORDS)) for _ in range(n)]
    return texts, "20 Newsgroups, cut to 200 words"


def timed(function, turns=2):
    """Seconds by the clock and of processor time, the least of a few turns."""
    clock, core = [], []
    for _ in range(turns):
        began, began_core = time.perf_counter(), time.process_time()
        function()
        clock.append(time.perf_counter() - began)
        core.append(time.process_time() - began_core)
    return min(clock), min(core)


def speed(texts, specs):
    """Documents a second of each embedder."""
    rates = {}
    for spec in specs:
        n = TRIAL.get(spec, 2000)
        embedder = get_embedder(spec)
        began = time.perf_counter()
        if is_trained(embedder):
            embedder.fit(texts[:2000])
        fit = time.perf_counter() - began
        embedder.encode(texts[:2])
        part = texts[:n]
        seconds, core_seconds = timed(lambda e=embedder, part=part: e.encode(part))
        rates[spec] = {
            "documents_per_second": round(len(part) / seconds, 1),
            "documents_per_core_second": round(len(part) / core_seconds, 1),
        }
        if is_trained(embedder):
            rates[spec]["learning_2000_documents_seconds"] = round(fit, 1)
        print(spec, rates[spec], flush=True)
    return rates


def store_overhead(spec, texts, folder, turns=5, **options):
    """Seconds through the store over seconds of the bare embedder, in turn; the best of each."""
    embedder = get_embedder(spec)
    documents = [(str(i), text) for i, text in enumerate(texts)]
    embedder.encode(texts[:64])
    bare, stored = [], []
    for turn in range(turns):
        bare.append(timed(lambda: embedder.encode(texts), 1))
        place = folder / f"{spec}-{turn}"
        stored.append(timed(lambda p=place: embed_corpus(documents, embedder, p, **options), 1))
    (bare_clock, bare_core), (store_clock, store_core) = (
        np.min(side, axis=0) for side in (bare, stored)
    )
    return {
        "documents": len(texts),
        "bare_seconds": round(bare_clock, 3),
        "store_seconds": round(store_clock, 3),
        "ratio": round(store_clock / bare_clock, 3),
        "ratio_of_processor_time": round(store_core / bare_core, 3),
    }


def reading(rows, folder):
    """Sum all rows through the store and through one numpy memmap of the same size."""
    dimension, block = 384, 8192
    numbers = np.random.default_rng(0).random((block, dimension), dtype=np.float32)
    fake = get_embedder(lambda texts: np.zeros((len(texts), dimension)))
    ids = count()
    with StoreWriter(folder / "read", fake) as writer:
        for start in range(0, rows, block):
            part = numbers[: min(block, rows - start)]
            names = [str(next(ids)) for _ in part]
            writer.append(names, names, part)
        writer.finish()
    store = VectorStore(folder / "read")
    whole = np.lib.format.open_memmap(
        folder / "whole.npy", mode="w+", dtype=np.float32, shape=(rows, dimension)
    )
    for start in range(0, rows, block):
        whole[start : start + block] = store[start : start + block]
    whole.flush()
    plain = np.load(folder / "whole.npy", mmap_mode="r")

    def total(X):
        return sum(X[a : a + block].sum(dtype=np.float64) for a in range(0, rows, block))

    assert total(plain) == total(store)
    times = {"memmap": [], "store": []}
    for _ in range(5):
        for name, X in (("memmap", plain), ("store", VectorStore(folder / "read"))):
            began = time.perf_counter()
            total(X)
            times[name].append(time.perf_counter() - began)
    best = {name: min(taken) for name, taken in times.items()}
    return {
        "rows": rows,
        "dimension": dimension,
        "memmap_seconds": round(best["memmap"], 3),
        "store_seconds": round(best["store"], 3),
        "ratio": round(best["store"] / best["memmap"], 3),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", action="append", metavar="EMBEDDER")
    options = parser.parse_args()
    quick = options.quick
    texts, source = read_texts(1000 if quick else 4000)
    if options.only:
        record = json.loads((RESULTS / "embed_speed.json").read_text(encoding="utf-8"))
        made = {"commit": describe()["commit"]}  # the rest of the record is older
        rates = speed(texts, options.only)
        record["speed"] |= {name: rate | made for name, rate in rates.items()}
        write("embed_speed", record)
        return
    record = {
        "texts": source,
        "words": WORDS,
        "cores_used": cores(),
        "speed": speed(texts, [*ready_specs(), *JOINED]),
    }
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        overhead = {"wordllama": store_overhead("wordllama", texts, folder)}
        if "minilm" in ready_specs():
            overhead["minilm"] = store_overhead("minilm", texts[:100], folder, 3, block=25)
        record["store_over_bare"] = overhead
        print(overhead, flush=True)
        record["reading"] = reading(100_000 if quick else 1_000_000, folder)
        print(record["reading"], flush=True)
    write("embed_speed", record)


if __name__ == "__main__":
    main()
