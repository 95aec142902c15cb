"""Kill commands with -9 at random moments, run them again, compare with a run that nobody killed.

    python tests/kill/kill.py --kills 200 --seed 1 --record kills

Each case works in a folder of its own. The moment is drawn between the start of the command and a
little after its usual end: kills fall into imports, reading, embedding, fitting and writing. After
the kill every file that was there before is as it was; after the second run all files are, byte for
byte, those of the run without a kill.

Every fourth kill hits the workbench. Its folder is used again after a kill, so that one project
survives several kills until all its steps are done; after each, everything that the workbench had
acknowledged must be there.

`--record` writes the counts into results/ after each kill. A run with the same seed resumes after
the last kill of the record.
"""

from __future__ import annotations

import argparse
import json
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
# The journal records interruptions too.
SKIPPED = {"journal.jsonl", "lock"}
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
    ended_well(process, process.communicate()[1])
    return time.monotonic() - began


def ended_well(process: subprocess.Popen[bytes], errors: bytes) -> None:
    if process.returncode:
        raise AssertionError(f"exit {process.returncode}: {errors.decode()[-2000:]}")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file that counts: no journal, no lock, nothing that a killed process had to leave."""
    found = {}
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_file() and file.name not in SKIPPED and ".partial" not in name:
            found[name] = file.read_bytes()
    return found


def kill_after(folder: Path, command: list[str], seconds: float) -> bool:
    """Start a command and kill it after so many seconds; False if it ended before by itself."""
    process = start(folder, command)
    try:
        ended_well(process, process.communicate(timeout=seconds)[1])
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return True


@dataclass
class Harness:
    """A small job, what each command makes of it, and how long that takes."""

    place: Path
    names: list[str]
    whole: dict[str, tuple[dict[str, bytes], float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.base = self.place / "base"
        self.base.mkdir()
        prepare(self.base)
        for name in self.names:
            folder = self.copy(f"whole {name}")
            seconds = run(folder, COMMANDS[name])
            self.whole[name] = contents(folder), seconds

    def copy(self, name: str) -> Path:
        return Path(shutil.copytree(self.base, self.place / name))

    def kill(self, name: str, at: float) -> str:
        """Kill a command at this share of its time; returns what was wrong, "" for nothing."""
        try:
            return self.kill_workbench(at) if name == "workbench" else self.kill_command(name, at)
        except AssertionError as fault:
            return str(fault)

    def kill_command(self, name: str, at: float) -> str:
        """A command leaves old files alone, and gives the same bytes when it is run again."""
        whole, seconds = self.whole[name]
        folder = self.copy("work")
        try:
            before = contents(folder)
            kill_after(folder, COMMANDS[name], at * seconds)
            after = contents(folder)
            for file, content in before.items():
                if file in BEFORE and after.get(file) != content:
                    return f"{file} was changed"
                replaced = whole.get(file) == after.get(file)
                if after.get(file) != content and not replaced:
                    return f"{file} is neither as before nor as after a whole run"
            run(folder, COMMANDS[name])
            final = contents(folder)
            wrong = [f for f in {**whole, **final} if whole.get(f) != final.get(f)]
            left = [file.name for file in folder.iterdir() if ".partial" in file.name]
            if wrong:
                return f"differ after the second run: {wrong[:5]}"
            return f"left behind: {left}" if left else ""
        finally:
            shutil.rmtree(folder)

    def kill_workbench(self, at: float) -> str:
        """Everything that the workbench acknowledged is there after a kill; it then resumes."""
        folder = self.place / "project"
        if not folder.exists():
            self.copy("project")
        kept = False
        try:
            kept = kill_after(folder, COMMANDS["workbench"], at * self.whole["workbench"][1] / 2)
            missing = workbench.lost(folder)
            kept = kept and not missing
            return f"acknowledged and lost: {missing[:5]}" if missing else ""
        finally:
            if not kept:
                shutil.rmtree(folder)


def choose(names: list[str], number: int) -> str:
    """Which command the kill of this number hits: the workbench is every fourth."""
    others = [name for name in names if name != "workbench"]
    if not others or ("workbench" in names and number % 4 == 3):
        return "workbench"
    return others[(number - number // 4 if "workbench" in names else number) % len(others)]


def kill_many(
    kills: int,
    seed: int,
    only: str | None = None,
    first: int = 0,
    after: Callable[[str, str], object] = lambda name, wrong: None,
) -> list[str]:
    """Kill so many times; return what was wrong.

    `first` kills were done by an earlier run. `after` is called after each kill with the command
    and what was wrong.
    """
    names = [name for name in COMMANDS if only in (None, name)]
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        harness = Harness(Path(place), names)
        rng = random.Random(seed)
        for number in range(kills):
            name, at = choose(names, number), rng.uniform(0.02, 1.1)
            if number < first:
                continue
            if wrong := harness.kill(name, at):
                wrong = f"{name}, killed at {at:.2f} of its time: {wrong}"
                faults.append(wrong)
            after(name, wrong)
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=list(COMMANDS))
    parser.add_argument("--record", help="name of a file of results/ for the counts")
    options = parser.parse_args()
    sys.path.insert(0, str(SCRIPTS))
    from machine import RESULTS, write

    record: dict[str, Any] = {"kills": 0, "seed": options.seed, "commands": {}, "faults": []}
    if options.record and (RESULTS / f"{options.record}.json").exists():
        earlier = json.loads((RESULTS / f"{options.record}.json").read_text())
        if earlier["seed"] == options.seed and earlier["kills"] < options.kills:
            record = {name: earlier[name] for name in record}
    commands = Counter(record["commands"])

    def after(name: str, wrong: str) -> None:
        commands[name] += 1
        record.update(kills=commands.total(), commands=dict(commands))
        record["faults"] += [wrong] if wrong else []
        print(f"{record['kills']} kills, {len(record['faults'])} faults", flush=True)
        if options.record:  # after each: a run that is stopped leaves its record
            write(options.record, record)

    kill_many(options.kills, options.seed, options.only, record["kills"], after)
    print("\n".join(record["faults"]))
    return 1 if record["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
