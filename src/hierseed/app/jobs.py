"""Long work in a process of its own: the page stays alive, and cancel ends it at once.

The worker writes its progress to the project file. It ends when its server ends, and it holds a
lock for as long as it lives, so that a job that died is never taken for one that runs.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from hierseed.app.project import Project, now
from hierseed.errors import ProjectError
from hierseed.files import lock

GRACE = 2.0  # seconds between asking a worker to end and ending it


class Job(NamedTuple):
    """One piece of work."""

    id: int
    kind: str
    state: str
    progress: dict[str, Any]
    message: str
    pid: int | None


_running: dict[tuple[Path, int], subprocess.Popen[bytes]] = {}  # of this process


def start(project: Project, kind: str, **arguments: Any) -> int:
    """Start a worker; refused while another one runs."""
    mark_lost(project)
    refuse_busy(project)
    with project.write() as db:
        cursor = db.execute(
            "INSERT INTO job (kind, arguments, state, started) VALUES (?, ?, 'running', ?)",
            (kind, json.dumps(arguments), now()),
        )
        id = int(cursor.lastrowid or 0)
    try:
        worker = subprocess.Popen(
            [sys.executable, "-m", "hierseed.app.worker", str(project.path.resolve()), str(id)],
            stdin=subprocess.PIPE,  # closes when this process ends, however it ends
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as fault:
        finish(project, id, "failed", f"the worker could not be started: {fault}")
        raise
    _running[project.path, id] = worker
    with project.write() as db:
        db.execute("UPDATE job SET pid = ? WHERE id = ?", (worker.pid, id))
    threading.Thread(target=_watch, args=(project.path, id, worker), daemon=True).start()
    return id


def refuse_busy(project: Project) -> None:
    """Refuse what can't be done while a job runs."""
    if active(project):
        raise ProjectError("something is running already. Wait for it, or cancel it first")


def _watch(path: Path, id: int, worker: subprocess.Popen[bytes]) -> None:
    """Record the end of a worker that died without one, through a connection of its own."""
    code = worker.wait()
    _running.pop((path, id), None)
    if worker.stdin:
        worker.stdin.close()
    if not path.exists():
        return
    with contextlib.suppress(Exception):  # of a full disk; `mark_lost` will do it
        project = Project(path)
        finish(project, id, "died", f"the work stopped unexpectedly (exit {code}). Try again")
        project.close()


def cancel(project: Project) -> bool:
    """End the running job now; what it had finished before stays."""
    job = active(project)
    if job is None:
        return False
    worker = _running.get((project.path, job.id))
    finish(project, job.id, "cancelled", "stopped by you")
    if worker is not None:
        _end(worker)
    elif job.pid:  # started by another server on the same project
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(job.pid, signal.SIGTERM)
    return True


def _end(worker: subprocess.Popen[bytes]) -> None:
    worker.terminate()
    try:
        worker.wait(GRACE)
    except subprocess.TimeoutExpired:
        worker.kill()
        worker.wait()


def end_all() -> None:
    """End every worker of this process, when the server is shut down."""
    for worker in list(_running.values()):
        _end(worker)


def active(project: Project) -> Job | None:
    """The job that runs now."""
    return _read(project, "WHERE state = 'running'")


def latest(project: Project) -> Job | None:
    """The job that was started last, in whatever state."""
    return _read(project, "ORDER BY id DESC LIMIT 1")


def get(project: Project, id: int) -> Job | None:
    """One job."""
    return _read(project, f"WHERE id = {int(id)}")


def wait(project: Project, id: int, timeout: float = 300.0) -> Job:
    """Wait until a job has ended."""
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        job = get(project, id)
        if job is not None and job.state != "running":
            return job
        time.sleep(0.05)
    raise ProjectError(f"the job {id} has not ended after {timeout:.0f} seconds")


def finish(project: Project, id: int, state: str, message: str) -> None:
    """Write how a job ended, unless that is written already."""
    with project.write() as db:
        db.execute(
            "UPDATE job SET state = ?, message = ?, ended = ? WHERE id = ? AND state = 'running'",
            (state, message, now(), id),
        )


def mark_lost(project: Project) -> None:
    """Mark jobs whose worker is gone: the server was killed, or the machine went down."""
    job = active(project)
    if job is None or (project.path, job.id) in _running:
        return
    if _alive(project):
        return
    finish(project, job.id, "died", "it was interrupted when the workbench stopped. Start it again")


def _alive(project: Project) -> bool:
    try:
        with worker_lock(project):
            return False
    except BlockingIOError:
        return True


@contextlib.contextmanager
def worker_lock(project: Project) -> Iterator[None]:
    """Held by a worker as long as it lives; the system lets go of it, however the worker ends."""
    with (project.folder / "worker.lock").open("wb") as file:
        lock(file.fileno())
        yield


def _read(project: Project, where: str) -> Job | None:
    row = project.db.execute(
        f"SELECT id, kind, state, progress, message, pid FROM job {where}"
    ).fetchone()
    if row is None:
        return None
    id, kind, state, progress, message, pid = row
    return Job(id, kind, state, json.loads(progress), message, pid)


# ------------------------------------------------------------------ progress


KEY = "seconds_per_document"
# Seconds per document of a first fit on two cores; later ones use what the last one took.
FIRST = {
    "Turning texts into vectors": 7e-4,  # replaced by the speed of the embedder
    "Fitting": 3e-4,
    "Placing the documents": 1e-4,
    "Finding words and drawing the map": 6e-4,
    "Looking for missing topics": 3e-4,
    "Saving the fit": 1e-4,
}
SETTLED = 3.0  # seconds after which the pace of a phase replaces its estimate
LEAST = 0.3  # seconds that every phase takes, however small the corpus

OnProgress = Callable[[dict[str, Any]], None]


class JobProgress:
    """Adds the share of the whole job, and the time left, to the progress of its phases.

    Parameters
    ----------
    seconds : phases whose duration is known better than from the last fit, 0 for none at all
    """

    def __init__(
        self,
        project: Project,
        n: int,
        on_progress: OnProgress,
        *,
        seconds: Mapping[str, float] | None = None,
    ) -> None:
        known = {**FIRST, **project.get(KEY, {})}
        self.project, self.n, self.pass_on = project, max(n, 1), on_progress
        self.expected = {phase: known[phase] * self.n + LEAST for phase in FIRST}
        self.given = dict(seconds or {})
        self.expected |= self.given
        self.began: dict[str, float] = {}
        self.first: dict[str, float] = {}  # the share of a phase at its first event
        self.share = 0.0

    def update(self, event: dict[str, Any]) -> None:
        """Pass an event of a phase on, with the share of the whole."""
        phase, at = str(event.get("phase", "")), time.perf_counter()
        if phase not in self.expected:
            return self.pass_on(event)
        total = event.get("total") or 0
        inside = min(float(event.get("done") or 0) / total, 1.0) if total else 0.0
        began = self.began.setdefault(phase, at)
        first = self.first.setdefault(phase, inside)  # above 0 where an earlier run is resumed
        if at - began > SETTLED and inside > first:
            self.expected[phase] = (at - began) / (inside - first)
        phases = list(self.expected)
        here = phases.index(phase)
        before = sum(self.expected[name] for name in phases[:here])
        after = sum(self.expected[name] for name in phases[here + 1 :])
        whole = before + self.expected[phase] + after
        done = before + inside * self.expected[phase]
        spent = at - min(self.began.values())
        worked = done - sum(self.first[name] * self.expected[name] for name in self.first)
        pace = spent / worked if worked > 0.1 * whole else 1.0
        self.share = max(self.share, min(done / whole, 0.99))
        self.pass_on(
            {**event, "share": self.share, "left": (whole - done) * pace, "at_most": False}
        )

    def finish(self) -> None:
        """Remember how long each phase took, for the bar of the next fit."""
        at = time.perf_counter()
        starts = [*self.began.items(), ("", at)]
        took = {
            phase: (next_start - start) / self.n
            for (phase, start), (_, next_start) in itertools.pairwise(starts)
            if phase not in self.given
        }
        self.project.put(KEY, {**self.project.get(KEY, {}), **took})
