"""Run the paper's supervised systems over many settings at once on one GPU (or on the CPU).

    python benchmarks/systems.py full seeds ablations -o results/systems --jobs 10

Small networks leave a GPU idle between their kernels, so several processes share it. What is
already in the folder is not run again; the longest runs start first. Records go to `runs`, where
`hierseed bench table` finds them, those of ablations to `systems`. The data sets are found as
`hierseed bench` finds them.
"""

import argparse
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from multiprocessing import get_context
from pathlib import Path

from hierseed.baselines.systems.wordvectors import vector_source
from hierseed.bench.prepared import ready
from hierseed.bench.records import Records
from hierseed.bench.run import run_one
from hierseed.bench.setting import Setting
from hierseed.bench.splits import train_test

SYSTEMS = ("hdltex", "hft", "hiagm", "hilap")
DATA = ("arxiv", "20newsgroups", "us_code", "cap")
ABLATIONS = (
    ("hiagm", {"structure": False}, "without GCN"),
    ("hilap", {"rl_epochs": 0, "rl_seed_epochs": 0}, "before RL"),
    ("hft", {"fine_tune": False}, "without fine-tuning"),
)
TAGS = [tag for _, _, tag in ABLATIONS]
# With all labels: shorter than published (HiAGM 250 epochs, patience 50; HiLAP 50 and 20-50),
# about 12,000 updates for HiAGM whatever the size of the data
SHORTER = {
    "hdltex": {"batch": 128},  # the paper's text; its code has 64
    "hiagm": {"patience": 12},
    "hilap": {"epochs": 12, "rl_epochs": 8, "patience": 2},
}
HIAGM_EPOCHS = {"arxiv": 40, "20newsgroups": 80, "cap": 100, "us_code": 150}
ABLATED = ("arxiv", "20newsgroups")


def setting(data, method, *, full, draw=0, tag="", **options):
    if full:
        options = {"full": True} | SHORTER.get(method, {}) | options
        if method == "hiagm":
            options = {"epochs": HIAGM_EPOCHS[data]} | options
    return Setting(data, method, draw=draw, parameters=tuple(sorted(options.items())), tag=tag)


def wanted(parts, data, draws):
    """Settings of the parts asked for, the longest first."""
    for part in parts:
        if part == "full":
            for name, method in product(data, ("hilap", "hiagm", "hdltex", "hft")):
                yield setting(name, method, full=True, tag="full")
        if part == "ablations":
            for name, (method, options, tag) in product(
                [name for name in data if name in ABLATED], ABLATIONS
            ):
                yield setting(name, method, full=True, tag=tag, **options)
        if part == "seeds":
            for draw, name, method in product(draws, data, ("hiagm", "hilap", "hdltex", "hft")):
                yield setting(name, method, full=False, draw=draw)


def make_vectors(data):
    """Word vectors of a data set into the cache, before several runs ask for them at once."""
    dataset = ready(Setting(data, "hft").shape).dataset
    train, _ = train_test(dataset)
    started = time.perf_counter()
    vector_source(None).fit(sorted({dataset.texts[row] for row in train}))
    return f"{data}: word vectors in {time.perf_counter() - started:.0f} s"


def attempt(each):
    try:
        return run_one(each)
    except Exception:  # told, and the other runs go on
        return traceback.format_exc()


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="+", choices=["full", "ablations", "seeds"])
    parser.add_argument("-o", "--output", type=Path, default=Path("results"))
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--draws", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    kept = {name: Records(arguments.output / name) for name in ("runs", "systems")}
    done = kept["runs"].keys() | kept["systems"].keys()
    every = wanted(arguments.parts, arguments.data, arguments.draws)
    todo = [each for each in every if each.key not in done]
    started = time.perf_counter()
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as pool:
        for told in pool.map(make_vectors, arguments.data):
            print(told, flush=True)
        waiting = {pool.submit(attempt, each): each for each in todo}
        for number, future in enumerate(as_completed(waiting), 1):
            record = future.result()
            if isinstance(record, str):
                outcome = record
            else:
                record["machine"] |= {"gpu": record["method_notes"].get("device", "")}
                record["concurrent_jobs"] = arguments.jobs
                kept["systems" if waiting[future].tag in TAGS else "runs"].add(record)
                last = record["scores"]["all"]["levels"]
                accuracy = " ".join(f"{level['accuracy']:.3f}" for level in last)
                outcome = f"accuracy {accuracy} fit {record['seconds']['fit']:.0f} s"
            passed = time.perf_counter() - started
            print(f"{passed:5.0f} s {number}/{len(todo)} {waiting[future]}: {outcome}", flush=True)


if __name__ == "__main__":
    main()
