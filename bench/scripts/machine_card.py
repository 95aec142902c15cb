"""Parts of bench_machine.py that need a GPU: start, fits, placing, embedding."""

import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
from machine_commands import SkippedError, hierseed, report, script, so_far, timed
from machine_inputs import REDUCED, WIDTH, inputs, seeds_by_path, vectors


def need_device(size):
    try:
        import torch
    except ImportError:
        raise SkippedError("torch is not installed") from None
    if size["device"] == "cuda" and not torch.cuda.is_available():
        raise SkippedError("no CUDA device")
    return size["device"]


TORCH_ALONE = """
import time
began = time.perf_counter()
import torch
imported = time.perf_counter()
torch.zeros(1, device="cuda").item()
opened = time.perf_counter()
a = torch.ones(64, 64, device="cuda", dtype=torch.float64)
(a @ a).sum().item()
print("{", f'"import_torch": {imported - began:.2f}, "open_card": {opened - imported:.2f}, ',
      f'"first_product": {time.perf_counter() - opened:.2f}')
print("}", flush=True)
"""
DRIVER_ALONE = """
import ctypes, time
began = time.perf_counter()
cuda, card, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
assert not cuda.cuInit(0) and not cuda.cuDeviceGet(ctypes.byref(card), 0)
begun = time.perf_counter()
assert not cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), card)
print("{", f'"initialise": {begun - began:.2f}, "context": {time.perf_counter() - begun:.2f}')
print("}", flush=True)
"""


def start_torch(size, folder):
    """The least that a fit on a GPU does: import torch, open the GPU, close it."""
    if need_device(size) == "cpu":
        raise SkippedError("no CUDA device")
    runs = []
    for _ in range(2):
        told, reported, whole = report([sys.executable, "-c", TORCH_ALONE])
        steps = json.loads(told)
        runs.append({"until_reported": reported, "whole_command": whole, **steps})
    told, _, whole = report([sys.executable, "-c", DRIVER_ALONE])
    best = min(runs, key=lambda run: run["whole_command"])
    return best | {"driver_alone": json.loads(told) | {"whole_command": whole}}


def from_file(size, folder, rows):
    """File to saved model by the command line, twice (the first compiles); where time goes."""
    device = need_device(size)
    given = inputs(size, folder, rows)
    found = {"rows": size[rows], "dimensions": WIDTH, "device": device}
    for method in ("hierseed", "anchored"):
        runs, out = [], folder / f"model-{method}"
        words = ("fit", *given, "-o", out, "--overwrite", "--method", method, "--device", device)
        for _ in range(2):
            told = hierseed(*words)
            kept = ("whole_command", "until_reported", "seconds", "rounds")
            runs.append({name: told[name] for name in kept})
        found[method] = {"first": runs[0], "second": runs[1]}
        sampled = folder / "phases.json"
        hierseed(*words, profile=sampled)
        found[method]["phases"] = json.loads(sampled.read_text())["phases"]
        so_far(found)
    return found


def on_gpu(size, folder):
    """A pass and fits of vectors that are on the GPU: bench_gpu.py."""
    device = need_device(size)
    out = folder / "gpu.json"
    words = ["--rows", size["large"], "-o", out, "--device", device,
             "--streamed-rows", size["rows"] * 2, "--repeats", 5]  # fmt: skip
    if device == "cpu":
        words += ["--repeats", "1", "--dimensions", "32", "--leaves", "12", "--topics", "3"]
    script("bench_gpu.py", *words)
    return json.loads(out.read_text())


def assign(size, folder):
    """Place vectors on the GPU, into a folder of parts; the model is fitted on the first rows."""
    import hierseed as library
    from hierseed.engines.choose import Engine

    device = need_device(size)
    tree, file, y = vectors(folder, size["mid"])
    few = min(len(y), 1 << 18)
    X = np.load(file, mmap_mode="r")
    model = library.fit(np.asarray(X[:few]), tree, seeds_by_path(tree, y[:few]))
    found = {"rows": len(X), "dimensions": WIDTH, "device": device, "threads": os.cpu_count()}
    for name, engine in (("card", Engine(device=device)), ("processor", None)):
        with tempfile.TemporaryDirectory(dir=folder) as place:
            out = Path(place) / "placed"
            seconds, _ = timed(lambda e=engine, o=out: model.write_table(str(file), o, engine=e))
        found[name] = {"seconds": seconds, "rows_per_second": round(len(X) / seconds)}
        so_far(found)
    return found


def equal(size, folder, name):
    """Labels and vectors of a whole fit on the GPU and on the processor."""
    import hierseed as library
    from hierseed.engines.torch import TorchBlocks

    device = need_device(size)
    tree, file, y = vectors(folder, size["large"])
    X, make = np.load(file, mmap_mode="r"), getattr(library, name)
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
    words = ["--reduced"] if size is REDUCED else ["--documents", 100_000]
    script("embed_gpu.py", tokenizer, "-o", out, "--sizes", "minilm", *words)
    return json.loads(out.read_text())
