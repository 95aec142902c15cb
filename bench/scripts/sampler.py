"""Where a program spends its time: stacks of all threads, sampled.

    python bench/scripts/sampler.py stacks.txt fit x.npy --taxonomy t.txt --seeds s.csv -o model

runs a command of hierseed and writes, for each line of code that was met, the share of samples in
which some thread stood there. Only frames of this package are shown, innermost last.
"""

import sys
import threading
from collections import Counter
from contextlib import contextmanager
from pathlib import Path

INTERVAL = 0.005  # seconds
DEPTH = 5  # frames of the package that are shown


@contextmanager
def sampled(file):
    """Sample all other threads while the block runs; write the stacks to a file."""
    stacks, done = Counter(), threading.Event()

    def watch():
        me = threading.get_ident()
        while not done.wait(INTERVAL):
            for thread, frame in sys._current_frames().items():
                if thread != me:
                    stacks[describe(frame)] += 1

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        write(Path(file), stacks)


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


def write(file, stacks):
    lines = [f"{count:7} {stack}" for stack, count in stacks.most_common(60)]
    file.write_text(f"{sum(stacks.values()):7} samples\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    output, sys.argv = sys.argv[1], ["hierseed", *sys.argv[2:]]
    with sampled(output):
        from hierseed.cli import main

        main()
