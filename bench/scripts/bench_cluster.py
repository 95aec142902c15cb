"""Bytes that a cluster sends in a round of a fit, by documents.

    python bench/scripts/bench_cluster.py           all sizes
    python bench/scripts/bench_cluster.py 200000    some

Scheduler and two workers are processes of their own on this machine, with one thread each, and talk
over TCP. Bytes are counted where every process writes to its sockets, heartbeats apart. A size
replaces its entry in results/bench_cluster.json.
"""

import argparse
import json
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
from machine import RESULTS, ROOT, describe, write_clouds

from hierseed import AnchoredHierSeed, HierSeed, Taxonomy
from hierseed.engines import ClusterBlocks, MappedFile, connect, disconnect

sys.path.insert(0, str(ROOT / "tests" / "engines"))
from cluster_processes import Cluster

WIDTH, AREAS, TOPICS, SEEDS = 384, 10, 10, 4  # 10 topics below each of 10 areas
METHODS = {  # two rounds: every step of a round, and one that starts from an earlier round
    "hierseed": partial(HierSeed, max_iter=2, refine_max_iter=2, tol=0.0),
    "anchored": partial(AnchoredHierSeed, max_iter=2, tol=0.0),
}
SIZES = (50_000, 200_000, 800_000)


def make_world(file, n):
    """Vectors around overlapping topics in a file; taxonomy and seeds."""
    rng = np.random.default_rng(0)
    paths = [f"area {a} > topic {t}" for a in range(AREAS) for t in range(TOPICS)]
    taxonomy = Taxonomy.from_paths(paths)
    area = np.repeat(rng.normal(size=(AREAS, WIDTH)), TOPICS, axis=0)
    centres = (area + rng.normal(size=(len(paths), WIDTH))).astype(np.float32)
    topic = rng.integers(0, len(paths), n)
    write_clouds(file, centres, topic, rng)
    y = np.full(n, -1)
    for number, path in enumerate(paths):
        y[np.flatnonzero(topic == number)[:SEEDS]] = taxonomy.index(path)
    return taxonomy, y


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
    file = folder / "X.npy"
    taxonomy, y = make_world(file, n)
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
    return record


class Stepping(ClusterBlocks):
    """Counts its steps."""

    steps = 0

    def _submit(self, *args):
        self.steps += 1
        return super()._submit(*args)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES, metavar="DOCUMENTS")
    path = RESULTS / "bench_cluster.json"
    for size in parser.parse_args().sizes:
        with tempfile.TemporaryDirectory() as folder:
            found = measure_bytes(size, Path(folder))
        record = json.loads(path.read_text()) if path.exists() else {"machine": describe()}
        record[f"bytes-{size}"] = found | {"machine": describe()}  # sizes at different times
        path.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
