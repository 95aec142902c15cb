"""A scheduler and workers as processes of their own, started as one does by hand."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

DEADLINE = 60  # seconds for a process to come up; a test fails after that


class Cluster:
    """`dask scheduler` and `dask worker`, which can be killed one by one."""

    def __init__(self, folder: Path, workers: int) -> None:
        self.folder, self.file = folder, folder / "scheduler.json"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self._numbers = count()
        self.address = ""
        self.start(workers)

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_all()

    def start(self, workers: int) -> None:
        """Start a scheduler, where it was before if it was, and its workers."""
        self.file.unlink(missing_ok=True)
        port = self.address.rpartition(":")[2] or "0"
        self._start(
            "scheduler", "--host", "127.0.0.1", "--port", port, "--scheduler-file", self.file
        )
        self.address = self._read_address()
        self.grow(workers)

    @property
    def workers(self) -> list[str]:
        """Names of those that live."""
        return [name for name in self.processes if name != "scheduler"]

    def grow(self, workers: int) -> None:
        """Add workers until there are so many."""
        while len(self.workers) < workers:
            self._start(
                "worker", self.address, "--nthreads", "1", "--no-nanny", "--memory-limit", "0",
                "--death-timeout", str(DEADLINE),  # none outlives a test run that was killed
                name=f"worker {next(self._numbers)}",
            )  # fmt: skip

    def kill(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGKILL)
        self.processes.pop(name).wait()

    def kill_all(self) -> None:
        for name in list(self.processes):
            self.kill(name)

    def _read_address(self) -> str:
        until = time.monotonic() + DEADLINE
        while True:
            try:
                return str(json.loads(self.file.read_text())["address"])
            except (FileNotFoundError, json.JSONDecodeError):  # not there, or not whole yet
                assert time.monotonic() < until, (self.folder / "log.txt").read_text()
                time.sleep(0.05)

    def _start(self, kind: str, *options: object, name: str = "") -> None:
        command = [sys.executable, "-W", "ignore", "-m", f"distributed.cli.dask_{kind}"]
        command += [str(option) for option in options] + ["--no-dashboard"]
        with (self.folder / "log.txt").open("ab") as log:
            self.processes[name or kind] = subprocess.Popen(
                command, cwd=self.folder, stdout=log, stderr=log
            )
