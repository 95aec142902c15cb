"""Time functions, commands of hierseed, and other scripts: for the parts of bench_machine.py."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


class SkippedError(Exception):
    """A part that can't run on this machine."""


def timed(function, times=1):
    """Least seconds of several runs, and the last result."""
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        result = function()
        taken.append(time.perf_counter() - began)
    return round(min(taken), 3), result


def best_in(limit, function, times=3):
    """`timed`, with fewer runs where these take longer; also how many there were."""
    began, done, best = time.perf_counter(), 0, None
    while not done or (done < times and time.perf_counter() - began < limit):
        seconds, result = timed(function)
        best, done = min(seconds, best or seconds), done + 1
    return best, result, done


def so_far(found):
    """Print what a part has measured: all that is left of it where time runs out."""
    print(json.dumps(found), flush=True)


def report(command):
    """Run a command: what it reports as JSON, the seconds until it does, and until it has ended."""
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as complaint:
        child = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=complaint,
                                 text=True)  # fmt: skip
        told, reported = "", 0.0
        for line in child.stdout:
            told += line
            if line.startswith("}") or line.strip() == "{}":  # the last: the rest is the end
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


def script(name, *words):
    """Run another script of this folder."""
    command = [sys.executable, HERE / name, *words]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise SkippedError(done.stderr.strip().split("\n")[-1])
