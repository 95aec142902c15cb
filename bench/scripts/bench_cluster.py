"""What a cluster costs and gives: bytes on the wire a round, time by workers, time of a step.

    python bench/scripts/bench_cluster.py                  all parts, then the figure
    python bench/scripts/bench_cluster.py bytes-200000     some parts
    python bench/scripts/bench_cluster.py figure  results/figure_cluster.svg from the record

Scheduler and workers are processes of their own on this machine, with one thread each, and talk
over TCP. Bytes are counted where every process writes to its sockets, heartbeats apart. Seconds are
the least of several runs; processor seconds are of all processes together, and hold though other
programs run beside. Workers beyond the number of cores can't be faster: they show the overhead.
A part replaces its entry in results/bench_cluster.json.
"""

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import psutil
from machine import RESULTS, ROOT, describe

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy
from hierseed.core.blocks import ArrayBlocks
from hierseed.core.checks import check_finite
from hierseed.engines import ClusterBlocks, MappedFile, connect, disconnect

sys.path.insert(0, str(ROOT / "tests" / "engines"))
from cluster_processes import Cluster

WIDTH, AREAS, TOPICS, SEEDS = 384, 10, 10, 4  # 10 topics below each of 10 areas
METHODS = {  # two rounds: every step of a round, and one that starts from an earlier round
    "hierseed": partial(HierSeed, max_iter=2, refine_max_iter=2, tol=0.0),
    "anchored": partial(AnchoredHierSeed, max_iter=2, tol=0.0),
}
SIZES = (50_000, 200_000, 800_000)
WORKERS = (1, 2, 4)


def make_world(folder, n, seed=0):
    """Unit vectors around overlapping topics, half precision, on disk; taxonomy and seeds."""
    rng = np.random.default_rng(seed)
    paths = [f"area {a} > topic {t}" for a in range(AREAS) for t in range(TOPICS)]
    taxonomy = Taxonomy.from_paths(paths)
    area = np.repeat(rng.normal(size=(AREAS, WIDTH)), TOPICS, axis=0)
    centres = (area + rng.normal(size=(len(paths), WIDTH))).astype(np.float32)
    file = folder / f"{n}.npy"
    X = np.lib.format.open_memmap(file, "w+", np.float16, (n, WIDTH))
    topic = rng.integers(0, len(paths), n)
    for at in range(0, n, 50_000):
        some = rng.standard_normal((min(50_000, n - at), WIDTH), dtype=np.float32) * 2
        some += centres[topic[at : at + len(some)]]
        X[at : at + len(some)] = some / np.linalg.norm(some, axis=1, keepdims=True)
    X.flush()
    y = np.full(n, -1)
    for number, path in enumerate(paths):
        y[np.flatnonzero(topic == number)[:SEEDS]] = taxonomy.index(path)
    return taxonomy, file, y


# ------------------------------------------------------------------ bytes


def count_writes():
    """In any process of the cluster: add up from now on what it writes to its sockets."""
    from distributed.comm import tcp

    if hasattr(tcp, "written"):
        return
    tcp.written, write = {"steps": 0, "heartbeats": 0}, tcp.TCP.write

    async def counted(self, msg, *args, **options):
        size = await write(self, msg, *args, **options)
        one = msg[0] if isinstance(msg, list | tuple) and msg else msg
        one = one if isinstance(one, dict) else {}
        beat = "heartbeat" in str(one.get("op")) or "heartbeat-interval" in one
        tcp.written["heartbeats" if beat else "steps"] += size
        return size

    tcp.TCP.write = counted


def written():
    from distributed.comm import tcp

    return dict(tcp.written)


def total_written(client):
    """Bytes that all processes have written so far."""
    found = [written(), client.run_on_scheduler(written), *client.run(written).values()]
    return np.array([[one["steps"], one["heartbeats"]] for one in found]).sum(axis=0)


def measure_bytes(n, folder):
    """Bytes of a round, by its second; and of the labels that come once at the end."""
    taxonomy, file, y = make_world(folder, n)
    record = {"documents": n, "topics": len(taxonomy), "dimensions": WIDTH, "workers": 2}
    with Cluster(folder, 2) as cluster:
        client = connect(cluster.address)
        client.wait_for_workers(2, timeout=60)
        count_writes()
        client.run(count_writes)
        client.run_on_scheduler(count_writes)
        for name, method in METHODS.items():
            blocks = Stepping(client, MappedFile(file))
            seen = [total_written(client)]
            steps = [0]

            def note(_, blocks=blocks, seen=seen, steps=steps):
                seen.append(total_written(client))
                steps.append(blocks.steps)

            began = time.perf_counter()
            model = method(taxonomy).fit(blocks, y, progress=note)
            seen.append(total_written(client))
            moved, beats = (seen[2] - seen[1]).tolist()
            record[name] = {
                "steps_in_round": steps[2] - steps[1],
                "bytes_in_round": moved,
                "heartbeat_bytes_in_round": beats,
                "bytes_after_rounds": int((seen[3] - seen[2])[0]),
                "model_bytes": int(model.vectors_.nbytes),
                "seconds": round(time.perf_counter() - began, 1),
            }
            print(name, record[name], flush=True)
        disconnect(client)
    file.unlink()
    return record


class Stepping(ClusterBlocks):
    """Counts its steps."""

    steps = 0

    def _submit(self, *args):
        self.steps += 1
        return super()._submit(*args)


# ------------------------------------------------------------------ time


def measure_growth(workers, n, folder, repeats):
    """Seconds of a fit on so many workers, 0: in one process; and a digest of its result."""
    taxonomy, file, y = make_world(folder, n)
    record = {"documents": n, "topics": len(taxonomy), "dimensions": WIDTH, "workers": workers}
    estimator = METHODS["hierseed"](taxonomy)
    if not workers:
        blocks = Passes(MappedFile(file), threads=1)
        record |= best_of(repeats, lambda: estimator.fit(blocks, y), [psutil.Process()])
        record["steps"] = Passes.steps // repeats
    else:
        with Cluster(folder, workers) as cluster:
            client = connect(cluster.address)
            client.wait_for_workers(workers, timeout=60)
            every = [os.getpid(), *(one.pid for one in cluster.processes.values())]
            blocks = Stepping(client, MappedFile(file))
            record |= best_of(
                repeats, lambda: estimator.fit(blocks, y), [psutil.Process(one) for one in every]
            )
            record["steps"] = blocks.steps // repeats
            disconnect(client)
    record["result"] = hashlib.sha256(estimator.vectors_.tobytes()).hexdigest()[:16]
    print(record, flush=True)
    return record


class Passes(ArrayBlocks):
    """Counts its passes."""

    steps = 0

    def map(self, *args):
        type(self).steps += 1
        return super().map(*args)


def best_of(repeats, run, processes):
    """Least seconds, and least processor seconds of some processes together."""
    taken = [timed(run, processes) for _ in range(repeats)]
    return {key: min(one[key] for one in taken) for key in taken[0]}


def timed(run, processes):
    """Seconds, and processor seconds of some processes together."""
    before, began = _processor_seconds(processes), time.perf_counter()
    run()
    seconds = time.perf_counter() - began
    return {
        "seconds": round(seconds, 2),
        "processor_seconds": round(_processor_seconds(processes) - before, 2),
    }


def _processor_seconds(processes):
    return sum(sum(process.cpu_times()[:2]) for process in processes)


def measure_steps(folder, repeats=30):
    """Milliseconds of a step with next to no work in it: what every pass pays on top."""
    file = folder / "small.npy"
    np.save(file, np.random.default_rng(0).normal(size=(4_000, 16)).astype(np.float16))
    record = {}
    with Cluster(folder, 1) as cluster:
        for workers in WORKERS:
            cluster.grow(workers)
            client = connect(cluster.address)
            client.wait_for_workers(workers, timeout=60)
            blocks = ClusterBlocks(client, MappedFile(file), block_rows=250)
            taken = []
            for _ in range(repeats):
                began = time.perf_counter()
                check_finite(blocks)
                taken.append(time.perf_counter() - began)
            record[workers] = {
                "least_ms": round(1e3 * min(taken), 1),
                "median_ms": round(1e3 * sorted(taken)[repeats // 2], 1),
            }
            disconnect(client)
    return record


# ------------------------------------------------------------------ the figure


def draw():
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "hierseed"
    from matplotlib import pyplot as plt

    record = json.loads((RESULTS / "bench_cluster.json").read_text())
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
    cells = [record[f"bytes-{n}"] for n in SIZES if f"bytes-{n}" in record]
    sizes = [cell["documents"] for cell in cells]
    for name, colour, mark in (("hierseed", "#0072b2", "o"), ("anchored", "#d55e00", "s")):
        moved = [cell[name]["bytes_in_round"] / 1e6 for cell in cells]
        left.plot(sizes, moved, color=colour, marker=mark, label=name)
    left.set(xscale="log", xlabel="documents", ylabel="MB on the wire in a round", ylim=(0, 30))
    left.set_xticks(sizes, [f"{size:,}" for size in sizes])
    left.set_xticks([], minor=True)
    left.legend(frameon=False)
    alone, *cluster = (record[f"growth-{workers}"] for workers in (0, *WORKERS))
    for key, colour, mark in (("seconds", "#0072b2", "o"), ("processor_seconds", "#555555", "^")):
        line = [run[key] for run in cluster]
        label = key.replace("_", " ")
        right.plot(
            [run["workers"] for run in cluster], line, color=colour, marker=mark, label=label
        )
        right.axhline(alone[key], color=colour, linestyle=":", linewidth=1)
    cores = record["machine"]["cores"]
    right.axvspan(cores, max(WORKERS), color="#eeeeee", zorder=0)
    right.set(xlabel=f"workers ({cores} cores)", ylim=(0, None), xticks=WORKERS)
    right.set_ylabel("of a fit; dotted: one process")
    right.legend(frameon=False)
    figure.savefig(RESULTS / "figure_cluster.svg", metadata={"Date": None})
    print("wrote results/figure_cluster.svg")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    every = [*(f"bytes-{n}" for n in SIZES), *(f"growth-{w}" for w in (0, *WORKERS)), "steps",
             "figure"]  # fmt: skip
    parser.add_argument("parts", nargs="*", default=every, metavar="PART", help=", ".join(every))
    parser.add_argument("--documents", type=int, default=200_000, help="of growth")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    for part in options.parts:
        if part == "figure":
            draw()
            continue
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if part == "steps":
                found = measure_steps(folder)
            elif part.startswith("growth-"):
                workers = int(part.removeprefix("growth-"))
                found = measure_growth(workers, options.documents, folder, options.repeats)
            else:
                found = measure_bytes(int(part.removeprefix("bytes-")), folder)
        path = RESULTS / "bench_cluster.json"
        record = json.loads(path.read_text()) if path.exists() else {"machine": describe()}
        record[part] = found | {"machine": describe()}  # parts may be measured at different times
        path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
