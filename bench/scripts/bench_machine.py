"""All measurements of docs/scale.md that need many cores or a GPU, one part at a time.

    python bench/scripts/bench_machine.py                      parts without a record
    python bench/scripts/bench_machine.py threads-16 gpu-pass  these parts again
    python bench/scripts/bench_machine.py --list
    python bench/scripts/bench_machine.py --reduced -o try.json  tiny sizes, to try the script

Every part runs in a process of its own, for four minutes at most, and is written to
results/scale/machine.json as soon as it ends; of one that time runs out for, what it has measured
so far is printed. A run that was stopped continues with the parts that
are missing; `--budget` says how many seconds may be spent in all. Needed are numpy, scikit-learn
and numba, for the parts of a GPU torch and Triton. A part that lacks a package or a GPU is recorded
as skipped, with the reason, and is tried again by the next run.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from machine import RESULTS, describe
from machine_commands import SkippedError
from machine_inputs import FULL, REDUCED

LIMIT = 240  # seconds of a part

PARTS = {  # module, function and arguments; those that say most first, as time is short
    **{f"threads-{n}": ("machine_cores", "threads", n) for n in (16, 8, 1)},
    "gpu-file-5m": ("machine_card", "from_file", "mid"),
    "gpu-pass": ("machine_card", "on_gpu"),
    "gpu-assign": ("machine_card", "assign"),
    "fit-workers": ("machine_cores", "fit_by_workers", 1, 4),
    "gpu-start": ("machine_card", "start_torch"),
    **{f"threads-{n}": ("machine_cores", "threads", n) for n in (4, 2)},
    "workers": ("machine_cores", "workers", 1, 4),
    "assign-cores": ("machine_cores", "assign_cores"),
    "gpu-embed": ("machine_card", "embed"),
    "assign-many": ("machine_cores", "assign_many", "hierseed"),
    "gpu-file-20m": ("machine_card", "from_file", "large"),
    "gpu-equal-anchored": ("machine_card", "equal", "AnchoredHierSeed"),
    "gpu-equal-hierseed": ("machine_card", "equal", "HierSeed"),
}


# ------------------------------------------------------------------ running them


def measure(name, size, folder):
    """One part, in this process."""
    warnings.simplefilter("ignore")
    module, function, *rest = PARTS[name]
    try:
        return getattr(import_module(module), function)(size, folder, *rest)
    except SkippedError as why:
        return {"skipped": str(why)}
    except ImportError as why:
        return {"skipped": f"{why.name} is not installed"}


def last_line(text):
    return text.strip().split("\n")[-1]


def run(name, options, limit):
    """One part, in a process of its own."""
    command = [sys.executable, __file__, name, "--here", "--folder", str(options.folder)]
    command += ["--reduced"] if options.reduced else []
    kind, _, count = name.partition("-")
    cores = {"OMP_NUM_THREADS": count, "OPENBLAS_NUM_THREADS": count} if kind == "threads" else {}
    began = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, **cores}, start_new_session=True)  # fmt: skip
    said = ""
    try:
        said, complaint = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # with the processes that it started
        with suppress(subprocess.TimeoutExpired):
            said = child.communicate(timeout=10)[0]
        return {"skipped": f"took more than {limit:.0f} s", "so_far": last_line(said)}
    try:
        found = json.loads(last_line(said))
    except ValueError:
        why = last_line(complaint) or f"ended with {child.returncode}"
        return {"skipped": why, "so_far": last_line(said)}
    if child.returncode:
        return {"skipped": last_line(complaint), "so_far": last_line(said)}
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
        for name, (module, function, *_) in PARTS.items():
            print(f"{name:20} {getattr(import_module(module), function).__doc__}")
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
