"""A fit that is killed, or whose cluster is, goes on when the same command is run again."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from cli_project import FIT, Project
from typer.testing import Result

from hierseed.io import model_bundle
from hierseed.io.model_bundle import Checkpoint

Run = Callable[..., Result]

pytestmark = [  # dask's own, when a connection is cut
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

DIES = """
import os, signal
from hierseed.io import model_bundle
write, seal = model_bundle.Checkpoint.write, model_bundle.write_sealed

def die_after(self, state):
    write(self, state)
    if self.rounds == {rounds}:
        os.kill(os.getpid(), signal.SIGKILL)

def die_in(file, **content):
    seal(file, **content)
    if content["content"].get("rounds") == {rounds} + 1:
        os.kill(os.getpid(), signal.SIGKILL)

{where}
from hierseed.cli import main
main()
"""
WHERE = {
    "between rounds": "model_bundle.Checkpoint.write = die_after",
    "while a round is written": "model_bundle.write_sealed = die_in",
}


@pytest.fixture
def fitted(project: Project, hierseed: Run) -> Project:
    """The project with vectors in it, and the model of a fit that nobody stopped."""
    done = hierseed("fit", "docs.csv", *FIT, "-o", "whole", "--vectors", "v")
    assert done.exit_code == 0, done.stderr
    return project


def learned(folder: Path) -> tuple[dict[str, bytes], list[dict[str, object]]]:
    """All that a fit leaves, but for the time it took."""
    header = json.loads((folder / "model.json").read_text())["header"]
    rounds = [{k: v for k, v in entry.items() if k != "seconds"} for entry in header["history"]]
    return {path.name: path.read_bytes() for path in folder.glob("*.npy")}, rounds


@pytest.mark.parametrize("where", WHERE)
def test_a_killed_fit_resumes_and_ends_with_the_same_model(
    fitted: Project, hierseed: Run, where: str
) -> None:
    command = ("v", *FIT[:4], "-o", "model")
    script = DIES.format(rounds=1, where=WHERE[where])
    killed = subprocess.run(
        [sys.executable, "-c", script, "fit", *command], capture_output=True, text=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert (fitted / "model.checkpoint").is_dir()
    assert not (fitted / "model").exists()
    done = hierseed("fit", *command)
    assert done.exit_code == 0, done.stderr
    assert "stopped after round 1; it resumes from there" in done.stderr
    assert learned(fitted / "model") == learned(fitted / "whole")
    left = [name for name in os.listdir(fitted.folder) if name.startswith((".", "model"))]
    assert left == ["model"]  # nothing half-written, nothing left over


def test_a_checkpoint_of_other_seeds_is_not_used(
    fitted: Project, hierseed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Checkpoint.write

    def stop(self: Checkpoint, state: object) -> None:
        write(self, state)
        raise KeyboardInterrupt

    command = ("v", *FIT[:4], "-o", "model")
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", stop)
        assert hierseed("fit", *command).exit_code == 130
    seeds = (fitted / "seeds.csv").read_text().splitlines()
    (fitted / "seeds.csv").write_text("\n".join(seeds[:-1]) + "\n")
    done = hierseed("fit", *command)
    assert done.exit_code == 0
    assert "model.checkpoint belongs to another fit (seeds differ): it is not used" in done.stderr
    assert "Resumed" not in done.stderr


def test_workers_of_this_machine_make_the_same_model(fitted: Project, hierseed: Run) -> None:
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model", "--vectors", "v", "--workers", 2)
    assert done.exit_code == 0, done.stderr
    assert "Workers    2 workers on this machine" in done.stderr
    assert learned(fitted / "model") == learned(fitted / "whole")
    done = hierseed("fit", "v", *FIT[:4], "-o", "m", "--workers", 2, "--dask", "tcp://there:1")
    assert done.exit_code == 2
    assert "leave --workers out" in done.stderr


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    from cluster_processes import Cluster

    with Cluster(tmp_path_factory.mktemp("cluster"), 2) as cluster:
        yield cluster


def test_a_lost_scheduler_ends_the_fit_in_one_line_and_it_resumes(
    fitted: Project, hierseed: Run, monkeypatch: pytest.MonkeyPatch, cluster: Any
) -> None:
    from hierseed.engines import client

    monkeypatch.setattr(client, "SCHEDULER_TIMEOUT", 2)  # seconds in which it might have come back
    write = Checkpoint.write

    def kill(self: Checkpoint, state: object) -> None:
        write(self, state)
        if self.rounds == 2:
            cluster.kill("scheduler")

    command = ("v", *FIT[:4], "-o", "model", "--dask", cluster.address)
    with monkeypatch.context() as patch:
        patch.setattr(model_bundle.Checkpoint, "write", kill)
        done = hierseed("fit", *command)
    assert done.exit_code == 1
    said = done.stderr.splitlines()[-1]
    assert f"the scheduler at {cluster.address} is lost. Start it and its workers again" in said
    assert said.endswith(
        "The same command resumes after round 2, which is kept in model.checkpoint"
    )
    done = hierseed("fit", *command)
    assert done.exit_code == 1
    assert f"no scheduler answers at {cluster.address}" in done.stderr.splitlines()[-1]
    cluster.kill_all()
    monkeypatch.setattr(client, "SCHEDULER_TIMEOUT", 30)
    cluster.start(2)
    done = hierseed("fit", *command)
    assert done.exit_code == 0, done.stderr
    assert "; it resumes from there" in done.stderr
    assert learned(fitted / "model") == learned(fitted / "whole")
