"""Run the paper's comparison: its eight systems, HierSeed, Unfit-HierSeed and the plain methods.

    python bench/scripts/systems.py -o results --jobs 2
    python bench/scripts/systems.py seeds full --data cap --minutes 10

Without a part named, all of them: `plain` (HierSeed and the methods on vectors), `seeds` and `full`
(the four classifiers with four seeds a topic and with all labels), `unlabelled` (the other four),
`ablations`, `checks`. What is in the folder already is not run again, and several such commands
may run side by side. A training that is killed, or cut off by `--minutes`, goes on from where it
was. Records go to `runs`, where `hierseed bench table` finds them, those of ablations and checks to
`systems`. Small networks leave a GPU idle between their kernels: let several jobs share it.
"""

import argparse
import contextlib
import fcntl
import shutil
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from hierseed.embed.home import model_home
from hierseed_bench.competitors.systems.wordvectors import vector_source
from hierseed_bench.data.splits import train_test
from hierseed_bench.runs.config import Setting
from hierseed_bench.runs.plan import main as plain_plan
from hierseed_bench.runs.prepared import ready
from hierseed_bench.runs.records import Records
from hierseed_bench.runs.run import run_one

SYSTEMS = ("hdltex", "hft", "hiagm", "hilap")
DATA = ("arxiv", "20newsgroups", "us_code", "cap")
ABLATIONS = (
    ("hiagm", {"structure": False}, "without GCN"),
    ("hilap", {"rl_epochs": 0, "rl_seed_epochs": 0}, "before RL"),
    ("hft", {"fine_tune": False}, "without fine-tuning"),
)
# With all labels: shorter than published (HiAGM 250 epochs, patience 50; HiLAP 50 and 20-50),
# about 12,000 updates for HiAGM whatever the size of the data
SHORTER = {
    "hdltex": {"batch": 128},  # the paper's text; its code has 64
    "hiagm": {"patience": 12},
    "hilap": {"epochs": 12, "rl_epochs": 8, "patience": 2},
}
HIAGM = {
    "arxiv": {"epochs": 35},
    "20newsgroups": {"epochs": 80},
    "cap": {"epochs": 100},
    "us_code": {"epochs": 150},
}
ABLATED = ("arxiv", "20newsgroups")
PARTS = ("plain", "seeds", "full", "unlabelled", "ablations", "checks")


def setting(data, method, *, full, draw=0, tag="", **options):
    if full:
        options = {"full": True} | SHORTER.get(method, {}) | options
        if method == "hiagm":
            options |= HIAGM[data]
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
        if part == "checks" and "20newsgroups" in data:
            tag, options = "batches of 64, patience 8", {"batch": 64, "patience": 8}
            yield setting("20newsgroups", "hdltex", full=True, tag=tag, **options)
        if part == "seeds":
            for draw, name, method in product(draws, data, ("hiagm", "hilap", "hdltex", "hft")):
                yield setting(name, method, full=False, draw=draw)


def comparison(parts, data, draws):
    """Settings of all parts, those of the other four systems and the plain methods too."""
    import systems_unlabelled as unlabelled  # it reads from here

    yield from wanted(parts, data, draws)
    others = {"unlabelled": "seeds", "ablations": "ablations", "checks": "checks"}
    yield from unlabelled.wanted([others[p] for p in parts if p in others], data, draws)
    if "plain" in parts:
        yield from plain_plan(len(draws), data)


def make_vectors(data):
    """Word vectors of a data set into the cache, before several runs ask for them at once."""
    dataset = ready(Setting(data, "hft").shape).dataset
    train, _ = train_test(dataset)
    started = time.perf_counter()
    vector_source(None).fit(sorted({dataset.texts[row] for row in train}))
    return f"{data}: word vectors in {time.perf_counter() - started:.0f} s"


class OutOfTimeError(Exception):
    """The minutes that were given have passed; the checkpoint is on disk."""


@contextlib.contextmanager
def claimed(folder, key):
    """Whether a run is ours; False where another process is at it."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{key}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def attempt(each, deadline=float("inf")):
    """Run a setting, or go on with it; a text says why there is no record."""
    unfinished = model_home() / "unfinished"

    def watch(event):
        if time.time() > deadline:
            raise OutOfTimeError

    def prepare(method):
        if hasattr(method, "checkpoint"):
            method.checkpoint, method.progress = unfinished / each.key, watch

    with claimed(unfinished, each.key) as ours:
        if not ours:
            return "another process is at it"
        try:
            record = run_one(each, prepare=prepare)
        except OutOfTimeError:
            return "cut off, to go on"
        except Exception:  # told, and the other runs go on
            return traceback.format_exc()
        shutil.rmtree(unfinished / each.key, ignore_errors=True)
        return record


def keep(record, each, records, jobs):
    """Add a record, with what it was made on; give one line about it."""
    record["machine"] |= {"gpu": record["method_notes"].get("device", "").replace("cpu", "")}
    record["concurrent_jobs"] = jobs
    records["runs" if each.tag in ("", "full", "shorter") else "systems"].add(record)
    levels = record["scores"]["all"]["levels"]
    shown = [" ".join(f"{x[name] or 0:.3f}" for x in levels) for name in ("accuracy", "v_measure")]
    return f"accuracy {shown[0]} V {shown[1]} fit {record['seconds']['fit']:.0f} s"


def main(words=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("-o", "--output", type=Path, default=Path("results"))
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--methods", nargs="+", help="only these; all unless given")
    parser.add_argument("--draws", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"))
    arguments = parser.parse_args(words)
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    records = {name: Records(arguments.output / name) for name in ("runs", "systems")}
    started = time.time()
    deadline = started + 60 * arguments.minutes
    every = comparison(arguments.parts or PARTS, arguments.data, arguments.draws)
    done = records["runs"].keys() | records["systems"].keys()
    todo = {
        each.key: each
        for each in every
        if each.key not in done and (arguments.methods is None or each.method in arguments.methods)
    }
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as pool:
        waiting = {
            pool.submit(one, each, deadline, arguments.output): each for each in todo.values()
        }
        for number, future in enumerate(as_completed(waiting), 1):
            each, record = waiting[future], future.result()
            outcome = (
                record if isinstance(record, str) else keep(record, each, records, arguments.jobs)
            )
            passed = time.time() - started
            print(f"{passed:5.0f} s {number}/{len(todo)} {each} {each.tag}: {outcome}", flush=True)


def one(each, deadline, output):
    """Run a setting unless it was done meanwhile, or there is no time left."""
    if time.time() > deadline:
        return "not begun"
    done = set().union(*(Records(output / name).keys() for name in ("runs", "systems")))
    return "done by another process" if each.key in done else attempt(each, deadline)


if __name__ == "__main__":
    main()
