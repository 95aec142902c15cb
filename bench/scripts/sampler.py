"""A sampling profiler: stacks of all threads.

    python bench/scripts/sampler.py stacks.txt fit x.npy --taxonomy t.txt --seeds s.csv -o model

runs a command of hierseed and writes the stacks that were met, the most frequent first, with the
number of samples. Only frames of this package are shown, innermost last. With a name that ends in
.json it writes how much of the main thread's time was spent in passes over the corpus, and seconds
by phase of the command.
"""

import json
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

from machine import describe as describe_machine

INTERVAL = 0.005  # seconds
DEPTH = 5  # frames of the package that are shown
PHASES = {  # by a part of a frame's file and its function, None for any; the first that is found
    "importing torch": ("torch/__init__.py", "<module>"),
    "importing": ("importlib._bootstrap", None),
    "opening the card": ("torch/cuda/", None),
    "waiting for the card": ("open_gpu.py", "wait_until_open"),
    "bringing rows to the card": ("engines/torch/rows.py", None),
    "preparing": ("hierseed/embed/prepare.py", "fit"),
    "passes": ("core/blocks.py", "map"),
    "passes of a card": ("engines/torch/blocks.py", None),
    "the rest of the fit": ("hierseed/estimators/", "fit"),
    "saving": ("hierseed/text_model.py", "save"),
    "reading inputs": ("hierseed/io/inputs.py", None),
}


@contextmanager
def sampled(file):
    """Sample all other threads while the block runs; write the stacks to a file."""
    stacks, passes, phases, done = Counter(), Counter(), Counter(), threading.Event()

    def watch():
        me, last = threading.get_ident(), time.perf_counter()
        while not done.wait(INTERVAL):
            now = time.perf_counter()
            for thread, frame in sys._current_frames().items():
                if thread == threading.main_thread().ident:
                    passes[in_pass(frame)] += 1
                    phases[phase(frame)] += now - last  # long where a library held the lock
                if thread != me:
                    stacks[describe(frame)] += 1
            last = now

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        write(Path(file), stacks, passes, phases)


def phase(frame):
    """The stack of the main thread."""
    seen = []
    while frame is not None:
        seen.append((frame.f_code.co_filename, frame.f_code.co_name))
        frame = frame.f_back
    for name, (file, function) in PHASES.items():
        if any(file in where and function in (None, called) for where, called in seen):
            return name
    return "the rest"


def describe(frame):
    """The innermost frames of the package, and the innermost frame of all."""
    last, ours = f"{short(frame.f_code.co_filename)}:{frame.f_lineno} {frame.f_code.co_name}", []
    while frame is not None:
        name = frame.f_code.co_filename
        if "hierseed/" in name:
            ours.append(f"{short(name)}:{frame.f_lineno} {frame.f_code.co_name}")
        frame = frame.f_back
    return " > ".join(ours[:DEPTH][::-1]) + (f" | {last}" if ours[:1] != [last] else "")


def short(name):
    return "/".join(Path(name).parts[-2:])


def in_pass(frame):
    """Whether a thread is in `Blocks.map`, or waits for the threads that it started."""
    while frame is not None:
        if frame.f_code.co_name == "map" and frame.f_code.co_filename.endswith("core/blocks.py"):
            return True
        frame = frame.f_back
    return False


def write(file, stacks, passes, phases):
    if file.suffix == ".json":
        share = passes[True] / max(passes.total(), 1)
        record = {
            "command": sys.argv[1:], "samples": passes.total(), "in_passes": round(share, 3),
            "phases": {name: round(seconds, 2) for name, seconds in phases.most_common()},
            "machine": describe_machine(),
        }  # fmt: skip
        file.write_text(json.dumps(record, indent=1) + "\n")
        return
    lines = [f"{count:7} {stack}" for stack, count in stacks.most_common(60)]
    file.write_text(f"{stacks.total():7} samples\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    output, sys.argv = sys.argv[1], ["hierseed", *sys.argv[2:]]
    with sampled(output):
        from hierseed.cli import main

        main()
