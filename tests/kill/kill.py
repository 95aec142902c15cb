"""Kill commands with -9 at random moments, run them again, compare with a run that nobody killed.

    python tests/kill/kill.py --kills 200 --seed 1 --record kills

Each case works in a folder of its own. The moment is drawn between the start of the command and a
little after its usual end: kills fall into imports, reading, embedding, fitting and writing. After
the kill every file that was there before is as it was; after the second run all files are, byte for
byte, those of the run without a kill. `--record` writes the counts into results/.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import workbench

SCRIPTS = Path(__file__).resolve().parents[2] / "bench" / "scripts"

WORDS = {
    "Animals > Cats": "cat kitten purr whiskers meow claws",
    "Animals > Dogs": "dog puppy bark leash kennel paws",
    "Food > Bread": "bread flour oven crust loaf yeast",
    "Food > Soup": "soup bowl broth spoon salt pot",
}
FIT = ["--taxonomy", "topics.txt", "--seeds", "seeds.csv", "--embedder", "wordllama:64"]
COMMANDS: dict[str, list[str]] = {
    "embed": ["embed", "docs.csv", "-o", "v", "--embedder", "wordllama:64"],
    "embed with workers": [
        "embed", "docs.csv", "-o", "v", "--embedder", "wordllama:64", "--workers", "2",
    ],
    "fit": ["fit", "docs.csv", *FIT, "-o", "new"],
    "fit over a model": ["fit", "docs.csv", *FIT, "-o", "model"],
    "fit with workers": ["fit", "docs.csv", *FIT, "-o", "new", "--workers", "2"],
    "assign": ["assign", "model", "docs.csv", "-o", "placed.csv"],
    "assign over a table": ["assign", "model", "docs.csv", "-o", "old.csv", "--overwrite"],
    "assign with workers": ["assign", "model", "docs.csv", "-o", "placed.csv", "--workers", "2"],
    "report": ["report", "model", "docs.csv", "-o", "report.html"],
    "convert": ["convert", "topics.txt", "topics.json", "--overwrite"],
    "workbench": ["workbench"],
}  # fmt: skip
# The journal tells of interruptions too; what the workbench acknowledged is checked by itself.
SKIPPED = {"journal.jsonl", "lock", "acknowledged.txt", "upload.csv"}
BEFORE = {"docs.csv", "topics.txt", "seeds.csv"}


def prepare(folder: Path) -> None:
    """The files of a small job, with a model and a table."""
    rng = random.Random(0)
    rows, seeds = ["id,text"], ["id,topic"]
    for topic, words in WORDS.items():
        for i in range(120):
            name = f"{topic[-4:].strip().lower()}{i}"
            rows.append(f"{name},{' '.join(rng.choices(words.split(), k=8))}")
            if i < 4:
                seeds.append(f"{name},{topic}")
    (folder / "docs.csv").write_text("\n".join(rows) + "\n")
    (folder / "topics.txt").write_text("\n".join(WORDS) + "\n")
    (folder / "seeds.csv").write_text("\n".join(seeds) + "\n")
    run(folder, ["fit", "docs.csv", *FIT, "-o", "model"])
    run(folder, ["assign", "model", "docs.csv", "-o", "old.csv"])


def start(folder: Path, command: list[str]) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own, so that its workers die with it."""
    environment = os.environ | {"HIERSEED_HOME": str(folder.parent / "home")}
    line = [sys.executable, "-c", "from hierseed.cli import main; main()", *command, "--quiet"]
    if command == ["workbench"]:
        line = [sys.executable, str(Path(__file__).with_name("workbench.py"))]
    return subprocess.Popen(
        line, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        start_new_session=True,
    )  # fmt: skip


def run(folder: Path, command: list[str]) -> float:
    """Run a command to its end; returns its seconds."""
    began = time.monotonic()
    process = start(folder, command)
    _, said = process.communicate()
    if process.returncode:
        raise AssertionError(f"{command} ended with {process.returncode}: {said.decode()}")
    return time.monotonic() - began


def contents(folder: Path) -> dict[str, bytes]:
    """Every file that counts: no journal, no lock, nothing that a killed process had to leave."""
    found = {}
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        skipped = file.name in SKIPPED or ".partial" in name or name.startswith("work.")
        if file.is_file() and not skipped:
            found[name] = file.read_bytes()
    return found


def kill_at(base: Path, whole: dict[str, bytes], name: str, seconds: float, at: float) -> str:
    """One kill; returns what was wrong, "" for nothing."""
    with tempfile.TemporaryDirectory(dir=base.parent) as place:
        folder = Path(place) / "work"
        shutil.copytree(base, folder)
        before = contents(folder)
        process = start(folder, COMMANDS[name])
        try:
            process.communicate(timeout=at * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
        after = contents(folder)
        if name == "workbench" and (missing := workbench.lost(folder)):
            return f"shown as done and lost: {missing[:5]}"
        for file, content in before.items():
            if file in BEFORE and after.get(file) != content:
                return f"{file} was changed"
            replaced = whole.get(file) == after.get(file)
            if after.get(file) != content and not replaced:
                return f"{file} is neither as before nor as after a whole run"
        run(folder, COMMANDS[name])
        if name == "workbench" and (missing := workbench.lost(folder)):
            return f"lost after the second run: {missing[:5]}"
        final = contents(folder)
        wrong = [f for f in {**whole, **final} if whole.get(f) != final.get(f)]
        left = [file.name for file in folder.iterdir() if ".partial" in file.name]
        if wrong:
            return f"differ after the second run: {wrong[:5]}"
        return f"left behind: {left}" if left else ""


def kill_many(
    kills: int,
    seed: int,
    only: str | None = None,
    after: Callable[[str, list[str]], object] = lambda name, faults: None,
) -> list[str]:
    """Kill so many times, all commands in turn; return what was wrong.

    `after` is called after each kill with the command and all faults so far.
    """
    names = [name for name in COMMANDS if only in (None, name)]
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        base = Path(place) / "base"
        base.mkdir()
        prepare(base)
        whole: dict[str, tuple[dict[str, bytes], float]] = {}
        for name in names:
            folder = Path(place) / f"whole {name}"
            shutil.copytree(base, folder)
            seconds = run(folder, COMMANDS[name])
            whole[name] = contents(folder), seconds
        rng = random.Random(seed)
        for number in range(kills):
            name, at = names[number % len(names)], rng.uniform(0.02, 1.1)
            if wrong := kill_at(base, *whole[name][:1], name, whole[name][1], at):
                faults.append(f"{name}, killed at {at:.2f} of its time: {wrong}")
            after(name, faults)
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(COMMANDS))
    parser.add_argument("--record", help="name of a file of results/ for the counts")
    options = parser.parse_args()
    sys.path.insert(0, str(SCRIPTS))
    from machine import write

    commands: Counter[str] = Counter()

    def after(name: str, faults: list[str]) -> None:
        commands[name] += 1
        done = commands.total()
        print(f"{done} kills, {len(faults)} faults", flush=True)
        if options.record:  # after each: a run that is stopped leaves its record
            record = {"kills": done, "seed": options.seed, "commands": dict(commands)}
            write(options.record, record | {"faults": faults})

    faults = kill_many(options.kills, options.seed, options.only, after)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
