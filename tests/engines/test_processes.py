"""Worker processes of this machine: order, death, faults, and an end with the program itself."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing

import pytest
import worker_tasks

from hierseed.engines import ClusterError
from hierseed.engines.processes import ProcessWorkers
from hierseed.engines.workers import map_in_order
from hierseed.errors import CorpusError


@pytest.fixture(scope="module")
def workers():
    with closing(ProcessWorkers(2)) as workers:
        yield workers


def test_results_come_in_the_order_of_the_tasks(workers):
    found = list(map_in_order(workers, worker_tasks.square, range(20)))
    assert found == [number**2 for number in range(20)]
    assert len(set(workers.run(worker_tasks.process_id, None).values())) == 2


def test_few_tasks_are_taken_ahead(workers):
    taken = []
    results = map_in_order(
        workers, worker_tasks.square, (taken.append(n) or n for n in range(1000))
    )
    assert next(results) == 0
    assert len(taken) <= 10
    results.close()


def test_a_worker_that_dies_is_replaced_and_its_task_repeated(workers, tmp_path):
    markers = [str(tmp_path / name) for name in "abc"]
    found = list(map_in_order(workers, worker_tasks.die_once, markers))
    assert found == ["alive"] * 3


def test_a_task_that_kills_every_worker_ends_with_a_clear_error(workers):
    with pytest.raises(ClusterError, match="3 worker processes died one after the other"):
        list(map_in_order(workers, worker_tasks.die, [None]))
    assert list(map_in_order(workers, worker_tasks.square, [3])) == [9]  # and the next one works


def test_faults_arrive_as_they_were_raised(workers):
    with pytest.raises(CorpusError, match=r"docs\.csv is empty\. Name another with text='body'"):
        list(map_in_order(workers, worker_tasks.refuse, [None]))
    with pytest.raises(RuntimeError, match="UnpicklableError: a b"):
        list(map_in_order(workers, worker_tasks.raise_unpicklable, [None]))


PARENT = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import worker_tasks
from hierseed.engines.processes import ProcessWorkers
workers = ProcessWorkers(2)  # at the top level of a script, without a guard
print(*workers.run(worker_tasks.process_id, None).values(), flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_workers_end_when_the_program_is_killed(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(PARENT)
    done = subprocess.run(
        [sys.executable, script, os.path.dirname(__file__)], capture_output=True, text=True
    )
    assert done.returncode == -signal.SIGKILL, done.stderr
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2
    until = time.monotonic() + 60
    while any(map(_lives, pids)):
        assert time.monotonic() < until
        time.sleep(0.05)


def _lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
