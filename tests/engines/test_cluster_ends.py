"""A cluster that can't answer any more is told as such, in the middle of a step too."""

import signal
import time

import numpy as np
import pytest

from hierseed.core.blocks import check_finite
from hierseed.engines import ClusterBlocks, ClusterError, MappedFile, connect, disconnect
from hierseed.engines import client as clients

distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")

from cluster_processes import Cluster  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


class OnArrival:
    """An argument that calls a function on the worker that receives it."""

    def __init__(self, function, *args):
        self.call = function, args

    def __reduce__(self):
        return self.call


@pytest.fixture
def blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(clients, "WORKER_TIMEOUT", 300.0)
    monkeypatch.setattr(clients, "SCHEDULER_TIMEOUT", 300.0)
    monkeypatch.setattr(clients, "POLL_INTERVAL", 0.2)
    np.save(tmp_path / "x.npy", np.eye(8, 4, dtype=np.float32))
    with Cluster(tmp_path, 1) as cluster:
        client = connect(cluster.address)
        client.wait_for_workers(1, timeout=60)
        blocks = ClusterBlocks(client, MappedFile(tmp_path / "x.npy"))
        blocks.cluster = cluster
        yield blocks
        cluster.kill_all()
        disconnect(client)


@pytest.fixture
def impatient(blocks, monkeypatch):
    """Blocks with short limits, for tests that expect the error."""
    monkeypatch.setattr(clients, "WORKER_TIMEOUT", 2.0)
    monkeypatch.setattr(clients, "SCHEDULER_TIMEOUT", 3.0)
    return blocks


def test_a_step_that_takes_its_time_is_waited_for(blocks, monkeypatch):
    monkeypatch.setattr(clients, "WORKER_TIMEOUT", 4.0)  # less than the step takes
    with pytest.raises(TypeError):  # of the step itself, which takes no second argument
        blocks.fold(check_finite, OnArrival(time.sleep, 5), None, None)


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (signal.SIGKILL, "the last worker of the cluster is gone"),
        (signal.SIGSTOP, "has given no sign for"),
    ],
)
def test_the_last_worker_ends_or_stalls_in_the_middle_of_a_step(impatient, sent, said):
    with pytest.raises(ClusterError, match=said) as caught:
        impatient.fold(check_finite, OnArrival(signal.raise_signal, sent))
    assert "run the same command again: what was finished is kept" in str(caught.value)
    impatient.close()  # does not wait for the worker either


def test_a_scheduler_that_the_network_hides(impatient):
    impatient.cluster.processes["scheduler"].send_signal(signal.SIGSTOP)
    with pytest.raises(ClusterError, match=r"the scheduler at .* is lost"):
        impatient.fold(check_finite)
