"""All measurements of docs/scale.md that need many cores or a GPU, one part at a time.

    python bench/scripts/bench_machine.py                      parts without a record
    python bench/scripts/bench_machine.py threads-16 gpu-pass  these parts again
    python bench/scripts/bench_machine.py --list
    python bench/scripts/bench_machine.py --reduced -o try.json  tiny sizes, to try the script

Every part runs in a process of its own, for four minutes at most, and is written to
results/scale/machine.json as soon as it ends. A run that was stopped continues with the parts that
are missing; `--budget` says how many seconds may be spent in all. Needed are numpy, scikit-learn
and numba, for the parts of a GPU torch and Triton. A part that lacks a package or a GPU is recorded
as skipped, with the reason, and is tried again by the next run.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from machine import RESULTS, describe
from sampler import sampled

LIMIT = 240  # seconds of a part
WIDTH, TOPICS, LEAVES, SEEDS = 384, 11, 141, 4
FULL = {"rows": 1_000_000, "mid": 5_000_000, "large": 20_000_000, "texts": 20_000, "device": "cuda"}
REDUCED = {"rows": 20_000, "mid": 6_000, "large": 8_000, "texts": 300, "device": "cpu"}
HERE = Path(__file__).resolve().parent
METHODS = ("HierSeed", "AnchoredHierSeed")
PROFILES = Path(os.environ["PROFILES"]) if "PROFILES" in os.environ else None  # for sampled stacks


class SkippedError(Exception):
    """A part that can't run on this machine."""


# ------------------------------------------------------------------ vectors


def taxonomy():
    from hierseed import Taxonomy

    paths = [f"topic {leaf % TOPICS} > leaf {leaf}" for leaf in range(LEAVES)]
    made = Taxonomy.from_paths(paths)
    return made, np.array([made.index(path) for path in paths])


def vectors(folder, rows):
    """A file of unit vectors in half precision around the leaves of a tree, and the seeds."""
    file = folder / f"{rows}.npy"
    tree, leaves = taxonomy()
    rng = np.random.default_rng(0)
    centres = rng.standard_normal((TOPICS, WIDTH))[np.arange(LEAVES) % TOPICS]
    centres = (centres + 0.7 * rng.standard_normal(centres.shape)).astype(np.float32)
    truth = rng.integers(0, LEAVES, rows)
    if not file.exists():
        unfinished = file.with_suffix(".part")
        header = {"descr": "<f2", "fortran_order": False, "shape": (rows, WIDTH)}
        with unfinished.open("wb") as out:
            np.lib.format.write_array_header_1_0(out, header)
            for at in range(0, rows, 1 << 18):
                cloud(centres[truth[at : at + (1 << 18)]], at).astype(np.float16).tofile(out)
        unfinished.rename(file)
    y = np.full(rows, -1)
    for leaf, topic in enumerate(leaves):
        y[np.flatnonzero(truth[: 1 << 18] == leaf)[:SEEDS]] = topic
    return tree, file, y


def seeds_by_path(tree, y):
    return {
        tree.paths[topic]: np.flatnonzero(y == topic).tolist() for topic in np.unique(y[y >= 0])
    }


def cloud(centres, seed):
    """Documents around their centres; on the GPU where there is one, which is much faster."""
    try:
        import torch
    except ImportError:
        torch = None
    if torch is None or not torch.cuda.is_available():
        noise = np.random.default_rng(seed).standard_normal(centres.shape, dtype=np.float32)
        some = centres + 3.0 * noise
        return some / np.linalg.norm(some, axis=1, keepdims=True)
    torch.manual_seed(seed)
    there = torch.from_numpy(centres).cuda()
    there += 3.0 * torch.randn_like(there)
    return torch.nn.functional.normalize(there).half().cpu().numpy()


def timed(function, times=1):
    """Least seconds of several runs, and the last result."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        result = function()
        taken.append(time.perf_counter() - began)
    return round(min(taken), 3), result


# ------------------------------------------------------------------ parts


def threads(size, folder, count):
    """Whole fits and scikit-learn's KMeans in one process with so many threads."""
    from sklearn.cluster import KMeans

    import hierseed
    from hierseed.core.kernels import compiled

    if count > (os.cpu_count() or 1):
        raise SkippedError(f"{os.cpu_count()} cores")
    tree, file, y = vectors(folder, size["rows"])
    X = np.load(file)
    compiled.BREAK_EVEN = 0
    times, found = 1 if count < 8 else 3, {}
    for name in METHODS:
        make = getattr(hierseed, name)
        make(tree, n_jobs=count).fit(X[: 1 << 16], y[: 1 << 16])  # compiles the kernels
        seconds, model = timed(lambda make=make: make(tree, n_jobs=count).fit(X, y), times)
        found[name] = {"seconds": seconds, "rounds": model.n_iter_}
        if PROFILES and count > 8:
            with sampled(PROFILES / f"threads-{count}-{name}.txt"):
                make(tree, n_jobs=count).fit(X, y)
    leaves = np.unique(y[y >= 0])
    means = np.array([X[y == leaf].mean(axis=0, dtype=np.float32) for leaf in leaves])
    wide = X.astype(np.float32)
    peer = KMeans(len(leaves), init=means, n_init=1, max_iter=5)
    found["scikit-learn KMeans, 5 iterations"] = {
        "seconds": timed(lambda: peer.fit(wide), times)[0]
    }
    found["bare product"] = {"seconds": timed(lambda: wide @ means.T, 3)[0]}
    return {"rows": len(X), "dimensions": WIDTH, "leaves": len(leaves), "threads": count} | found


def workers(size, folder, *counts):
    """`embed` and `assign` by so many workers, beside one process."""
    small = size is REDUCED
    out = folder / "workers.json"
    command = [sys.executable, HERE / "bench_workers.py", "--out", out, "--workers", *counts,
               "--documents", str(size["texts"]), "--wide", "0", "--folder", folder,
               "--part", str(5_000 if small else 1 << 18), "--parts", "1" if small else "3",
               "--most", str(1 if small else 3 * max(counts))]  # fmt: skip
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise SkippedError(done.stderr.strip().split("\n")[-1])
    record = json.loads(out.read_text())
    return {name: record[name] for name in ("embed", "assign")}


def need_device(size):
    try:
        import torch
    except ImportError:
        raise SkippedError("torch is not installed") from None
    if size["device"] == "cuda" and not torch.cuda.is_available():
        raise SkippedError("no CUDA device")
    return size["device"]


def report(command):
    """Run a command: what it reports as JSON, the seconds until it does, and until it has ended."""
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as complaint:
        child = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=complaint,
                                 text=True)  # fmt: skip
        told = ""
        for line in child.stdout:
            told += line
            if line.strip() in ("}", "{}"):  # the last line: the rest is the process's end
                reported = time.perf_counter() - began
        if child.wait():
            complaint.seek(0)
            raise SkippedError(complaint.read().strip()[-600:])
    return told, round(reported, 2), round(time.perf_counter() - began, 2)


def hierseed(*words, profile=None):
    """Run a command of hierseed in a process of its own: what it reports, and its seconds."""
    start = [HERE / "sampler.py", profile] if profile else ["-m", "hierseed"]
    command = [sys.executable, "-W", "ignore", *start, *words, "--json", "--quiet"]
    told, reported, whole = report(command)
    return json.loads(told) | {"whole_command": whole, "until_reported": reported}


def inputs(size, folder, rows):
    """Files for a fit by the command line: vectors, taxonomy, seeds."""
    tree, file, y = vectors(folder, size[rows])
    (folder / "topics.txt").write_text("\n".join(tree.paths) + "\n")
    lines = [f"{row},{tree.paths[y[row]]}" for row in np.flatnonzero(y >= 0)]
    seeds = folder / f"seeds-{rows}.csv"
    seeds.write_text("\n".join(["id,topic", *lines]) + "\n")
    return file, "--taxonomy", folder / "topics.txt", "--seeds", seeds


def from_file(size, folder, rows):
    """File to saved model by the command line, twice: the first run compiles."""
    device = need_device(size)
    given = inputs(size, folder, rows)
    found = {"rows": size[rows], "dimensions": WIDTH, "device": device}
    for method in ("anchored", "hierseed"):
        runs, out = [], folder / f"model-{method}"
        words = ("fit", *given, "-o", out, "--overwrite", "--method", method, "--device", device)
        for _ in range(2):
            told = hierseed(*words)
            kept = ("whole_command", "until_reported", "seconds", "rounds")
            runs.append({name: told[name] for name in kept})
        found[method] = {"first": runs[0], "second": runs[1]}
        if PROFILES:
            hierseed(*words, profile=PROFILES / f"file-{rows}-{method}.txt")
    return found


TORCH_ALONE = """
import torch
torch.zeros(1, device="cuda").item()
print("{}", flush=True)
"""


def start_torch(size, folder):
    """What no fit on a GPU can do without: import torch, open the card, close it again."""
    need_device(size)
    runs = [report([sys.executable, "-c", TORCH_ALONE])[1:] for _ in range(3)]
    reported, whole = min(runs)
    return {"until_reported": reported, "whole_command": whole}


def assign_cores(size, folder):
    """`assign` of vectors by the command line, a process for each core, into a folder of parts."""
    file = inputs(size, folder, "large")[0]
    cores, found = os.cpu_count() or 1, {"rows": size["large"], "dimensions": WIDTH}
    for method in ("anchored", "hierseed"):
        model, out = folder / f"cores-{method}", folder / "placed"
        few = inputs(size, folder, "rows")
        hierseed("fit", *few, "-o", model, "--overwrite", "--method", method)
        told = hierseed("assign", model, file, "-o", out, "--overwrite", "--workers", cores)
        size_out = sum(part.stat().st_size for part in out.glob("part-*"))
        found[method] = {
            "workers": cores, "seconds": told["seconds"], "whole_command": told["whole_command"],
            "rows_per_second": round(size["large"] / told["seconds"]),
            "bytes_read": file.stat().st_size, "bytes_written": size_out,
        }  # fmt: skip
        shutil.rmtree(out)
    return found


def on_gpu(size, folder):
    """A pass and fits of vectors that are on the GPU: bench_gpu.py."""
    device = need_device(size)
    out = folder / "gpu.json"
    command = [sys.executable, HERE / "bench_gpu.py", "--rows", str(size["large"]), "-o", out,
               "--device", device, "--streamed-rows", str(size["rows"] * 2)]  # fmt: skip
    if device == "cpu":
        command += ["--repeats", "1", "--dimensions", "32", "--leaves", "12", "--topics", "3"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise SkippedError(done.stderr.strip().split("\n")[-1])
    return json.loads(out.read_text())


def assign(size, folder):
    """Place vectors on the GPU, into a folder of parts; the model is fitted on the first rows."""
    import hierseed
    from hierseed.engines.choose import Engine

    device = need_device(size)
    tree, file, y = vectors(folder, size["mid"])
    few = min(len(y), 1 << 18)
    X = np.load(file, mmap_mode="r")
    model = hierseed.fit(np.asarray(X[:few]), tree, seeds_by_path(tree, y[:few]))
    found = {"rows": len(X), "dimensions": WIDTH, "device": device}
    for name, engine in (("card", Engine(device=device)), ("processor", None)):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            out = Path(place) / "placed"
            seconds, _ = timed(lambda e=engine, o=out: model.write_table(str(file), o, engine=e))
        found[name] = {"seconds": seconds, "rows_per_second": round(len(X) / seconds)}
    return found


def equal(size, folder, name):
    """Labels and vectors of a whole fit on the GPU and on the processor."""
    import hierseed
    from hierseed.engines.torch import TorchBlocks

    device = need_device(size)
    tree, file, y = vectors(folder, size["large"])
    X, make = np.load(file, mmap_mode="r"), getattr(hierseed, name)
    here, one = timed(lambda: make(tree).fit(TorchBlocks(X, device), y))
    there, other = timed(lambda: make(tree).fit(X, y))
    return {
        "rows": len(X), "method": name, "seconds_on_card": here, "seconds_on_processor": there,
        "threads": os.cpu_count(), "labels_that_differ": int((one.labels_ != other.labels_).sum()),
        "vectors": "equal to the bit" if np.array_equal(one.vectors_, other.vectors_) else "differ",
    }  # fmt: skip


def embed(size, folder):
    """Transformers by `embed --device cuda`; the folder has the tokenizer of all-MiniLM-L6-v2."""
    need_device(size)
    tokenizer, out = folder / "tokenizer.json", folder / "embed.json"
    if not tokenizer.exists():
        raise SkippedError("no tokenizer.json of all-MiniLM-L6-v2 in the folder")
    command = [sys.executable, HERE / "embed_gpu.py", tokenizer, "-o", out]
    command += ["--reduced"] if size is REDUCED else []
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise SkippedError(done.stderr.strip().split("\n")[-1])
    return json.loads(out.read_text())


PARTS = {  # those that say most first, for a machine that is lent for a few minutes
    "gpu-start": (start_torch,),
    "gpu-file-20m": (from_file, "large"),
    "gpu-file-5m": (from_file, "mid"),
    "threads-16": (threads, 16),
    "threads-1": (threads, 1),
    "gpu-equal-anchored": (equal, "AnchoredHierSeed"),
    "gpu-equal-hierseed": (equal, "HierSeed"),
    "assign-cores": (assign_cores,),
    "workers": (workers, 1, 4),
    "gpu-embed": (embed,),
    **{f"threads-{n}": (threads, n) for n in (4, 8, 2)},
    "gpu-assign": (assign,),
    "gpu-pass": (on_gpu,),
}


# ------------------------------------------------------------------ running them


def measure(name, size, folder):
    """One part, in this process."""
    warnings.simplefilter("ignore")
    function, *rest = PARTS[name]
    try:
        return function(size, folder, *rest)
    except SkippedError as why:
        return {"skipped": str(why)}
    except ImportError as why:
        return {"skipped": f"{why.name} is not installed"}


def run(name, options, limit):
    """One part, in a process of its own."""
    command = [sys.executable, __file__, name, "--here", "--folder", str(options.folder)]
    command += ["--reduced"] if options.reduced else []
    kind, _, count = name.partition("-")
    cores = {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count} if kind == "threads" else {}
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, **cores}, start_new_session=True)  # fmt: skip
    try:
        said, complaint = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # with the processes that it started
        child.wait()
        return {"skipped": f"took more than {limit:.0f} s"}
    if child.returncode:
        return {"skipped": complaint.strip().split("\n")[-1]}
    found = json.loads(said.strip().split("\n")[-1])
    return found | {"seconds_of_part": round(time.perf_counter() - began, 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--reduced", action="store_true", help="tiny sizes, without a GPU")
    parser.add_argument("--folder", type=Path, help="for vectors, kept from run to run")
    parser.add_argument("--budget", type=float, default=3600, help="seconds in all")
    parser.add_argument("-o", "--output", type=Path, default=RESULTS / "scale" / "machine.json")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.list:
        print("\n".join(f"{name:20} {part[0].__doc__}" for name, part in PARTS.items()))
        return
    if unknown := set(options.parts) - set(PARTS):
        sys.exit(f"no part {', '.join(sorted(unknown))}; --list shows them")
    if options.here:
        size = REDUCED if options.reduced else FULL
        print(json.dumps(measure(options.parts[0], size, options.folder)))
        return
    if options.reduced and options.output.is_relative_to(RESULTS):
        sys.exit("--reduced only tries the script: name another file with -o")
    known = json.loads(options.output.read_text()) if options.output.exists() else {}
    missing = [name for name in PARTS if "skipped" in known.get(name, {"skipped": 1})]
    wanted = options.parts or missing
    end = time.monotonic() + options.budget
    with tempfile.TemporaryDirectory() as place:
        options.folder = options.folder or Path(place)
        options.folder.mkdir(parents=True, exist_ok=True)
        for name in wanted:
            if (left := end - time.monotonic()) < 1:
                print(f"no time left for {name}")
                continue
            found = run(name, options, min(4 * LIMIT if options.reduced else LIMIT, left))
            if "skipped" not in found or name in missing:
                known[name] = found | {"machine": describe() | found.get("machine", {})}
            print(name, found, flush=True)
            options.output.parent.mkdir(parents=True, exist_ok=True)
            ordered = {one: known[one] for one in PARTS if one in known}
            options.output.write_text(json.dumps(ordered, indent=1) + "\n")


if __name__ == "__main__":
    main()
