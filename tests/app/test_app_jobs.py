"""Work in a process of its own: progress, cancel, and that a death costs nothing."""

import os
import signal
import subprocess
import sys
import time

import pytest

from hierseed.app import fits, fitting, jobs
from hierseed.app.jobs import JobProgress
from hierseed.app.project import Project
from hierseed.app.store import documents
from hierseed.errors import ProjectError


def wait_for(found, seconds: float = 60.0):  # type: ignore[no-untyped-def]
    """Look until something is there; the limit only ends a test that has failed."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := found():
            return value
        time.sleep(0.02)
    raise AssertionError("it never came")


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def refit(project: Project) -> int:
    """Forget the vectors, so that the fit has something to do for a while."""
    import shutil

    shutil.rmtree(project.vectors)
    texts = [(f"more-{i}", f"words {i} " * 80) for i in range(3_000)]
    documents.add(project, texts)
    return jobs.start(project, "fit")


def test_cancel_ends_the_worker_and_keeps_the_last_fit(project: Project) -> None:
    before = fits.last(project)
    id = refit(project)
    told = wait_for(lambda: (jobs.get(project, id) or 0).progress.get("done"))  # type: ignore[union-attr]
    assert told > 0
    job = jobs.active(project)
    assert job is not None
    assert job.pid is not None
    with pytest.raises(ProjectError, match="running already"):
        jobs.start(project, "fit")
    assert jobs.cancel(project)
    assert not alive(job.pid)
    ended = jobs.get(project, id)
    assert ended is not None
    assert ended.state == "cancelled"
    assert [line.id for line in fits.every(project)] == [before.id]  # type: ignore[union-attr]
    assert fits.last(project) is before
    assert not jobs.cancel(project)


def test_a_worker_that_is_killed_leaves_the_last_good_fit(project: Project) -> None:
    id = refit(project)
    wait_for(lambda: (jobs.get(project, id) or 0).progress)  # type: ignore[union-attr]
    job = jobs.active(project)
    assert job is not None
    os.kill(job.pid or 0, signal.SIGKILL)
    ended = jobs.wait(project, id)
    assert ended.state == "died"
    assert [line.id for line in fits.every(project)] == [1]
    assert fits.get(project, 1).n > 0
    id = jobs.start(project, "embed")  # resumes where it stopped
    assert jobs.wait(project, id).state == "done"


SERVER = """
import sys, time
from hierseed.app import jobs
from hierseed.app.project import Project
project = Project(sys.argv[1])
jobs.start(project, "fit")
print(jobs.active(project).pid, flush=True)
time.sleep(600)
"""


def test_when_the_server_is_killed_the_worker_ends_and_is_buried(project: Project) -> None:
    documents.add(project, [(f"more-{i}", f"words {i} " * 80) for i in range(3_000)])
    server = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(project.path)], stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    pid = int(server.stdout.readline())
    wait_for(lambda: (jobs.active(project) or 0).progress)  # type: ignore[union-attr]
    server.kill()
    server.wait()
    server.stdout.close()
    wait_for(lambda: not alive(pid))
    assert jobs.active(project) is not None  # nobody has looked yet
    wait_for(lambda: (jobs.mark_lost(project), jobs.active(project) is None)[1])
    latest = jobs.latest(project)
    assert latest is not None
    assert latest.state == "died"
    assert fits.last(project) is not None


def test_a_job_that_fails_says_why(empty: Project) -> None:
    job = jobs.wait(empty, jobs.start(empty, "fit"))
    assert job.state == "failed"
    assert "no taxonomy" in job.message


def test_a_slow_embedder_is_seen_in_the_time_that_is_left(
    empty: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bar follows the pace of a phase where its estimate was wrong; resumed, too."""
    clock = 100.0
    monkeypatch.setattr("hierseed.app.jobs.time.perf_counter", lambda: clock)
    phase = "Turning texts into vectors"
    for already in (0, 400):
        events: list[dict[str, float]] = []
        bar = JobProgress(empty, 1_000, events.append, seconds={phase: 10.0})  # type: ignore[arg-type]
        rest = sum(bar.expected.values()) - 10.0
        for done in range(already, 1_000, 100):
            bar.update({"phase": phase, "done": done, "total": 1_000})
            clock += 30.0  # 0.3 seconds per document
        assert events[-1]["left"] == pytest.approx(30.0 + rest, rel=0.2)
        assert events[-1]["share"] <= 0.9
        shares = [event["share"] for event in events]
        assert shares == sorted(shares)


def test_the_bar_tells_the_whole_of_a_fit(project: Project) -> None:
    """It never goes back, and the phases after the fitting have their share of it."""
    told: list[tuple[str, float]] = []
    for _ in range(2):  # the second one knows how long each phase took
        told.clear()
        fitting.fit(
            project, fitting.Dials(), lambda event: told.append((event["phase"], event["share"]))
        )
    shares = [share for _, share in told]
    assert shares == sorted(shares)
    starts = dict(reversed(told))
    took = project.get("seconds_per_document")
    phases = [phase for phase in took if phase in starts]
    assert phases[-2:] == ["Looking for missing topics", "Saving the fit"]
    assert [starts[phase] for phase in phases] == sorted(starts[phase] for phase in phases)
    assert starts["Fitting"] < 0.1
    assert starts["Finding words and drawing the map"] < 0.9
    assert starts["Saving the fit"] < 0.99
