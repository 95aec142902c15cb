"""Fit and assign vectors that do not fit in memory: under a hard limit, and beside an array.

    python bench/scripts/bench_out_of_core.py                       a million documents, all parts
    python bench/scripts/bench_out_of_core.py 10000000 --folder D   ten million (7.7 GB), kept in D
    python bench/scripts/bench_out_of_core.py 10000000 --folder D HierSeed-fit-mapped …   some parts

A part is a method, `fit` or `assign`, and `mapped` or `memory`; each runs in a process of its own,
so a long benchmark can be made in pieces over the same folder, which the caller removes.
`mapped` reads a memory map and may hold 2 GiB of its own (RLIMIT_DATA: heap and private maps; an
allocation beyond fails). `memory` holds the same rows as an array. Both read the file once before
the clock starts. Of memory two peaks are shown: what the process itself held, and with the pages
of the file that the system let it keep mapped, which it takes back when it needs them.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from machine import RESULTS, describe, least, write

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy

WIDTH, BRANCHES, LEAVES = 384, 10, 116
LIMIT = 2 * 2**30
METHODS = {"HierSeed": HierSeed, "AnchoredHierSeed": AnchoredHierSeed}
PARTS = [f"{method}-{step}-{how}" for method in METHODS for step in ("fit", "assign")
         for how in ("mapped", "memory")]  # fmt: skip

# ------------------------------------------------------------------ the corpus


def topics():
    return Taxonomy.from_paths([(f"t{leaf % BRANCHES}", f"s{leaf}") for leaf in range(LEAVES)])


def make(path, n):
    """Clustered unit vectors in half precision, piece by piece; goes on where it was stopped."""
    rng = np.random.default_rng(0)
    tops = rng.normal(size=(BRANCHES, WIDTH)).astype(np.float32)
    leaves = tops[np.arange(LEAVES) % BRANCHES] + rng.normal(size=(LEAVES, WIDTH)) * 0.8
    leaves = leaves.astype(np.float32)
    noise = rng.standard_normal((100_000, WIDTH), dtype=np.float32)  # each with any leaf
    part, mark = path.with_suffix(".part"), path.with_suffix(".rows")
    done = int(mark.read_text()) if mark.exists() and part.exists() else 0
    rows = np.lib.format.open_memmap(part, "r+" if done else "w+", np.float16, (n, WIDTH))
    for at in range(done, n, 20_000):
        rng, size = np.random.default_rng([1, at]), min(20_000, n - at)
        which = rng.integers(0, LEAVES, size)
        if at == 0:
            which[:LEAVES] = np.arange(LEAVES)
        some = leaves[which] + noise[rng.integers(0, len(noise), size)]
        rows[at : at + size] = some / np.linalg.norm(some, axis=1, keepdims=True)
        mark.write_text(str(at + size))
    rows.flush()
    part.rename(path)
    mark.unlink()


def seeds(X, taxonomy):
    """One seed a leaf is written first; three more are the nearest to it in the first rows."""
    y = np.full(len(X), -1, dtype=np.int32)
    first = np.asarray(X[:20_000], dtype=np.float32)
    for leaf in range(LEAVES):
        near = np.argsort(first @ first[leaf])[::-1]
        topic = taxonomy.index((f"t{leaf % BRANCHES}", f"s{leaf}"))
        y[near[(y[near] < 0)][:4]] = topic
    return y


# ------------------------------------------------------------------ one part, in its own process


class Peak(threading.Thread):
    """The most anonymous memory that this process holds, looked at again and again."""

    def __init__(self):
        super().__init__(daemon=True)
        self.anonymous = 0

    def run(self):
        while True:
            self.look()
            time.sleep(0.05)

    def look(self):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("RssAnon"):
                self.anonymous = max(self.anonymous, int(line.split()[1]) * 1024)


def child(folder, part, rounds):
    method, step, how = part.split("-")
    path = folder / "vectors.npy"
    with path.open("rb") as file:  # the cache of the system, warm for both
        while file.read(2**24):
            pass
    if how == "mapped":
        resource.setrlimit(resource.RLIMIT_DATA, (LIMIT, LIMIT))
    peak = Peak()
    peak.start()
    X = np.load(path, mmap_mode="r" if how == "mapped" else None)
    taxonomy, kept = topics(), folder / f"{method}-{how}"
    kind = METHODS[method]
    if step == "fit":
        y = seeds(X, taxonomy)
        clock, processor, model = least(
            1, lambda: kind(taxonomy, max_iter=rounds, tol=0.0).fit(X, y)
        )
        model.save(kept)
        found = {"rounds": model.n_iter_, "objective": model.objective_}
    else:
        model = kind.load(kept)
        clock, processor, placed = least(1, lambda: model.assign(X))
        found = {"coverage": placed.coverage}
    peak.look()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "seconds": clock, "documents_a_second": len(X) / clock, **found,
        "cpu_seconds": processor, "commit": describe()["commit"],
        "peak_own_mib": round(peak.anonymous / 2**20),
        "peak_with_file_pages_mib": round(usage.ru_maxrss / 2**10),
        "limit_mib": LIMIT / 2**20 if how == "mapped" else None,
    }))  # fmt: skip


# ------------------------------------------------------------------ all parts


def shares(parts):
    """Rate of the mapped run as a share of that in memory, by the processor's time."""
    found = {}
    for name in parts:
        other = name.replace("-mapped", "-memory")
        if name.endswith("-mapped") and other in parts:
            rate = parts[other]["cpu_seconds"] / parts[name]["cpu_seconds"]
            found[name.removesuffix("-mapped")] = rate
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("documents", nargs="?", type=int, default=1_000_000)
    parser.add_argument("parts", nargs="*", default=PARTS)
    parser.add_argument("--folder", type=Path, help="keep vectors and models here between pieces")
    parser.add_argument("--rounds", type=int, default=2, help="of each fit")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args()
    if options.child:
        child(options.folder, options.child, options.rounds)
        return
    with tempfile.TemporaryDirectory() as own:
        folder = options.folder or Path(own)
        folder.mkdir(parents=True, exist_ok=True)
        vectors = folder / "vectors.npy"
        if not vectors.exists():
            make(vectors, options.documents)
        old = RESULTS / "bench_out_of_core.json"
        record = json.loads(old.read_text()) if old.exists() else {}
        record.pop("machine", None)
        mine = record.setdefault(f"{options.documents:,}", {})
        for part in options.parts:
            said = subprocess.run(
                [sys.executable, __file__, "--folder", str(folder), "--child", part,
                 "--rounds", str(options.rounds)],
                stdout=subprocess.PIPE, check=True, text=True, env=os.environ,
            ).stdout  # fmt: skip
            mine.setdefault("parts", {})[part] = json.loads(said)
            mine["vectors_mib"] = round(vectors.stat().st_size / 2**20)
            mine["mapped_as_share_of_memory"] = shares(mine["parts"])
            print(part, mine["parts"][part], flush=True)
            write("bench_out_of_core", record)


if __name__ == "__main__":
    main()
