"""Time `hierseed embed` and `hierseed assign` by the number of workers: docs/scale.md.

    python bench/scripts/bench_workers.py --out results/scale/workers.json

All times are of whole commands by the clock, the start of the processes included. Embedding takes
the same corpus each time. Placing takes the same number of documents for each worker, so that no
run is over before it has begun; its rates are compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from machine import describe

import hierseed
from hierseed import Taxonomy

TOP, BELOW = 12, 10  # topics of level 1, and of level 2 in each


def main() -> None:
    """Run what was asked for, and write the JSON after every measurement."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4, 8, 16])
    parser.add_argument("--embedder", default="wordllama")
    parser.add_argument("--documents", type=int, default=40_000, help="to embed")
    parser.add_argument("--words", type=int, default=200)
    parser.add_argument("--part", type=int, default=1 << 18, help="documents of a part")
    parser.add_argument("--parts", type=int, default=3, help="of documents placed by each worker")
    parser.add_argument("--most", type=int, default=80, help="parts for the largest run")
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("--wide", type=int, default=384, help="dimensions of one more run")
    parser.add_argument("--folder", type=Path, default=None)
    given = parser.parse_args()
    result: dict[str, Any] = {"machine": describe(), "settings": {}, "embed": [], "assign": []}
    result["settings"] = {k: v for k, v in vars(given).items() if k not in ("out", "folder")}

    def keep(kind: str, row: dict[str, Any]) -> None:
        result[kind].append(row)
        given.out.write_text(json.dumps(result, indent=1) + "\n")
        print(kind, row, flush=True)

    with tempfile.TemporaryDirectory(dir=given.folder) as place:
        folder = Path(place)
        for row in embed(folder, given):
            keep("embed", row)
        for row in assign(folder, given):
            keep("assign", row)


def embed(folder: Path, given: argparse.Namespace) -> Any:
    """Embed one corpus with every number of workers; 0 is this process alone."""
    draw = random.Random(0)
    letters = "abcdefghijklmnopqrstuvwxyz"
    vocabulary = ["".join(draw.choices(letters, k=draw.randint(2, 9))) for _ in range(20_000)]
    with (folder / "docs.csv").open("w") as file:
        file.write("id,text\n")
        for i in range(given.documents):
            file.write(f"d{i},{' '.join(draw.choices(vocabulary, k=given.words))}\n")
    digests = set()
    for workers in [0, *given.workers]:
        out = folder / f"v{workers}"
        told, seconds, cpu = run("embed", folder / "docs.csv", "-o", out,
                            "--embedder", given.embedder, *asked(workers))  # fmt: skip
        digests.add(digest(out))
        yield {
            "workers": workers, "documents": given.documents, "seconds": told["seconds"],
            "whole_command": seconds, "processor_seconds": cpu,
            "rate": given.documents / told["seconds"], "same_bytes": len(digests) == 1,
        }  # fmt: skip


def assign(folder: Path, given: argparse.Namespace) -> Any:
    """Place vectors with every number of workers, into a folder of parts."""
    for method, dimensions, several in (
        ("anchored", given.dimensions, given.workers),
        ("hierseed", given.dimensions, [max(given.workers)]),
        ("anchored", given.wide, [max(given.workers)]),
    ):
        if not dimensions:
            continue
        X = model(folder, method, dimensions, given.part)
        first = {}
        for workers in several:
            parts = given.most if workers == max(given.workers) else workers * given.parts
            if dimensions == given.wide:
                parts = given.most // 2
            vectors = folder / "x.npy"
            fill(vectors, X, parts * len(X))
            out = folder / f"placed-{method}-{dimensions}-{workers}"
            told, seconds, cpu = run(
                "assign", folder / "model", vectors, "-o", out, *asked(workers)
            )
            parts_found = sorted(out.glob("part-*"))
            first[workers] = hashlib.sha256(parts_found[0].read_bytes()).hexdigest()
            yield {
                "method": method, "dimensions": dimensions, "topics": TOP * (BELOW + 1),
                "workers": workers, "documents": parts * len(X), "seconds": told["seconds"],
                "whole_command": seconds, "processor_seconds": cpu,
                "rate": parts * len(X) / told["seconds"],
                "bytes_read": vectors.stat().st_size, "peak_of_command_mib": peak(),
                "bytes_written": sum(part.stat().st_size for part in parts_found),
                "same_first_part": len(set(first.values())) == 1,
            }  # fmt: skip
            vectors.unlink()
            for part in parts_found:
                part.unlink()


def model(folder: Path, method: str, dimensions: int, part: int) -> Any:
    """Fit and save a model; return documents like those it was fitted on."""
    rng = np.random.default_rng(0)
    taxonomy = Taxonomy.from_paths([f"A{i} > B{j}" for i in range(TOP) for j in range(BELOW)])
    leaves = np.flatnonzero(taxonomy.tree.is_leaf)
    centres = rng.normal(size=(len(leaves), dimensions)).astype(np.float32)
    labels = rng.integers(0, len(leaves), part)
    X = rng.standard_normal((part, dimensions), dtype=np.float32)
    X = (1.2 * X + centres[labels]).astype(np.float16)
    seeds = {taxonomy.paths[leaf]: np.flatnonzero(labels[:50_000] == k)[:4].tolist()
             for k, leaf in enumerate(leaves)}  # fmt: skip
    fitted = hierseed.fit(X[:50_000], taxonomy, seeds, method=method)
    fitted.save(folder / "model")
    return X


def fill(file: Path, X: Any, rows: int) -> None:
    """Write a matrix that repeats some rows."""
    whole = np.lib.format.open_memmap(file, "w+", X.dtype, (rows, X.shape[1]))
    for at in range(0, rows, len(X)):
        whole[at : at + len(X)] = X
    whole.flush()


def run(*command: Any) -> tuple[dict[str, Any], float, float]:
    """Run a command of hierseed; return what it says, its seconds, and those of all its cores."""
    started, before = time.perf_counter(), os.times()
    done = subprocess.run(
        [sys.executable, "-m", "hierseed", *map(str, command), "--json", "--quiet"],
        stdout=subprocess.PIPE,
        check=True,
    )
    seconds, after = time.perf_counter() - started, os.times()
    cpu = sum(after[2:4]) - sum(before[2:4])
    return json.loads(done.stdout), seconds, cpu


def peak() -> float:
    """Largest resident memory of any process so far, in MiB; pages of mapped files included."""
    import resource

    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def asked(workers: int) -> list[str]:
    """The option for a number of workers."""
    return ["--workers", str(workers)] if workers else []


def digest(folder: Path) -> str:
    """Digest of all files of a folder."""
    found = hashlib.sha256()
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            found.update(file.name.encode() + file.read_bytes())
    return found.hexdigest()


if __name__ == "__main__":
    main()
