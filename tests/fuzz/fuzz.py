"""Damage files at random and read them: whatever happens, it is one of our errors.

    python tests/fuzz/fuzz.py --mutations 100000 --seed 1 --record fuzz

Every mutation is given by its number and the seed, so that a finding can be repeated with
`--only NAME --first NUMBER --mutations 1`. `--record` writes the counts into results/.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

from mutate import damage, damage_json
from targets import Target, targets

from hierseed.errors import HierSeedError

EVERY = 1_000  # mutations between two looks at the result
LIMIT = 8 << 30  # bytes of memory that a damaged file may ask for


class Finding(Exception):  # noqa: N818 - a finding of the fuzzer is no error of its own
    """A mutation that was neither read as before nor refused."""


class Bench:
    """One target in a folder of its own; each mutation is undone after it was read."""

    def __init__(self, target: Target, folder: Path) -> None:
        self.target, self.folder = target, folder / "work"
        self.folder.mkdir(parents=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a fit of a few texts has its notes
            self.files = target.make(self.folder)
        self.original = {file: file.read_bytes() for file in self.files}
        self.copy = folder / "whole-store"
        shutil.copytree(self.folder, self.copy)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.before = target.read(self.folder)
        self.restore()

    def restore(self) -> None:
        """Put the folder back as it was made."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.copy, self.folder)

    def run(self, number: int, seed: int) -> str:
        """One mutation; returns how it ended."""
        rng = random.Random(f"{seed} {self.target.name} {number}")
        file = rng.choice(self.files)
        resealed = file.name in self.target.resealed and rng.random() < 0.5
        change = damage_json if resealed else damage
        content = change(self.original[file], rng)
        file.write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = self.target.read(self.folder)
        except (HierSeedError, OSError, MemoryError):
            return "refused"
        except Exception as fault:
            raise Finding(f"{type(fault).__name__}: {fault}\n{traceback.format_exc()}") from fault
        finally:
            self.undo(file)
        if found == self.before or found == "whole" or content == self.original[file]:
            return "as before"
        if self.target.sealed and not resealed:
            raise Finding(f"{file.name} was changed, and the result with it")
        return "read"

    def undo(self, file: Path) -> None:
        """Undo one mutation; a reader that also writes may have changed other files."""
        if self.target.name in ("store, resumed", "checkpoint", "project"):
            self.restore()
        else:
            file.write_bytes(self.original[file])


@contextlib.contextmanager
def benches(only: str | None = None) -> Iterator[list[Bench]]:
    """The targets, each in a folder of its own, until the block ends."""
    with tempfile.TemporaryDirectory() as folder:
        chosen = [target for target in targets() if only in (None, target.name)]
        yield [Bench(target, Path(folder) / str(i)) for i, target in enumerate(chosen)]


def fuzz(
    mutations: int,
    seed: int,
    only: str | None = None,
    first: int = 0,
    after: Callable[[dict[str, Any]], object] = lambda result: None,
) -> dict[str, Any]:
    """Run so many mutations over all targets in turn; gives counts and findings.

    `after` gets the result so far, every EVERY mutations.
    """
    ended: Counter[str] = Counter()
    by_target: dict[str, Counter[str]] = {}
    result: dict[str, Any] = {"mutations": 0, "seed": seed, "ended": ended, "findings": []}
    result["targets"] = by_target
    with benches(only) as ready:
        for number in range(first, first + mutations):
            bench = ready[number % len(ready)]
            try:
                how = bench.run(number, seed)
            except Finding as finding:
                how = "finding"
                result["findings"].append((bench.target.name, number, str(finding)))
            ended[how] += 1
            by_target.setdefault(bench.target.name, Counter())[how] += 1
            result["mutations"] += 1
            if result["mutations"] % EVERY == 0:
                after(result)
    return result


def _limit_memory() -> None:
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (LIMIT, LIMIT))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mutations", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", help="name of one target")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--record", help="name of a file of results/ for the counts")
    options = parser.parse_args()
    _limit_memory()
    started = time.perf_counter()
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench" / "scripts"))
    from machine import write

    def after(result: dict[str, Any]) -> None:
        counts = ", ".join(f"{count:,} {how}" for how, count in sorted(result["ended"].items()))
        seconds = time.perf_counter() - started
        print(f"{result['mutations']:,} mutations in {seconds:,.0f} s: {counts}", flush=True)
        if options.record:  # a run that is stopped leaves its record, without paths of this machine
            short = [(name, i, text.split("\n")[0]) for name, i, text in result["findings"]]
            write(options.record, result | {"findings": short})

    result = fuzz(options.mutations, options.seed, options.only, options.first, after)
    for name, number, finding in result["findings"][:20]:
        print(f"\n--only {name!r} --first {number} --mutations 1\n{finding}")
    after(result)
    return 1 if result["findings"] else 0


if __name__ == "__main__":
    sys.exit(main())
