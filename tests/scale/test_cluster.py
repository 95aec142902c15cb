"""A real cluster of processes gives the bits of one machine, also when a worker is killed."""

import os
import signal

import numpy as np
import pytest
from worlds import make_world

from hierseed import HierSeed
from hierseed.errors import CorpusError
from hierseed.scale import ClusterBlocks, MappedFile, connect

distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    taxonomy, X, y, _ = make_world("deep", per_leaf=200, width=16, spread=1.2)
    path = tmp_path_factory.mktemp("vectors") / "X.npy"
    np.save(path, X.astype(np.float16))
    return taxonomy, path, y, HierSeed(taxonomy).fit(np.load(path), y)


@pytest.fixture(scope="module")
def client():
    client = connect(workers=2)
    yield client
    client.close()
    client.cluster.close()


def same(one, two):
    assert one.vectors_.tobytes() == two.vectors_.tobytes()
    assert one.labels_.tobytes() == two.labels_.tobytes()
    told = ("objective", "coverage", "moved", "kept")
    assert [[e[k] for k in told] for e in one.history_] == [
        [e[k] for k in told] for e in two.history_
    ]


def test_two_workers_give_the_bits_of_one_machine(world, client):
    taxonomy, path, y, alone = world
    blocks = ClusterBlocks(client, MappedFile(path), block_rows=100)
    together = HierSeed(taxonomy).fit(blocks, y)
    same(alone, together)
    assert together.assign(blocks).to_frame().equals(alone.assign(np.load(path)).to_frame())


def test_a_killed_worker_costs_time_only(world, client):
    taxonomy, path, y, alone = world
    pids = list(client.run(os.getpid).values())

    def kill(entry):
        if entry["round"] == 1:
            os.kill(pids[0], signal.SIGKILL)

    blocks = ClusterBlocks(client, MappedFile(path), block_rows=100)
    same(alone, HierSeed(taxonomy).fit(blocks, y, progress=kill))
    assert pids[0] not in client.run(os.getpid).values()


def test_arrays_in_memory_are_refused(world, client):
    with pytest.raises(CorpusError, match="MappedFile"):
        ClusterBlocks(client, np.zeros((4, 2)))


def test_a_file_that_holds_no_vectors_is_refused(tmp_path):
    (tmp_path / "x.npy").write_bytes(b"not numpy")
    with pytest.raises(CorpusError, match=r"x\.npy"):
        MappedFile(tmp_path / "x.npy")
