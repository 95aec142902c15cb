"""A real cluster of processes gives the bits of one machine, also when a worker is killed."""

import pickle
from functools import partial

import numpy as np
import pytest
from worlds import make_world

from hierseed import AnchoredHierSeed, HierSeed
from hierseed.core.mixture import sample
from hierseed.embed.prepare import Preparation, Prepared
from hierseed.engines import ClusterBlocks, ClusterError, MappedFile, connect, disconnect
from hierseed.engines import client as clients
from hierseed.engines.worker import Source, fingerprint
from hierseed.errors import CorpusError, MissingDependency

distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")

from cluster_processes import Cluster  # noqa: E402

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

METHODS = {  # few rounds: every step of the method runs, and a step on a cluster takes a while
    "hierseed": partial(HierSeed, max_iter=2, refine_max_iter=2, tol=0.0),
    "anchored": partial(AnchoredHierSeed, max_iter=3),
}
ROWS = 100  # in a block: many blocks for every worker


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """Documents in a file, prepared as for the command line, and the fits of one machine."""
    taxonomy, X, y, _ = make_world("deep", per_leaf=150, width=16, spread=2.5)
    path = tmp_path_factory.mktemp("vectors") / "X.npy"
    np.save(path, X.astype(np.float16))
    vectors = Prepared(MappedFile(path), Preparation().fit(np.load(path)))
    alone = {name: method(taxonomy).fit(vectors, y) for name, method in METHODS.items()}
    return taxonomy, vectors, y, alone


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("cluster"), 1) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    client = connect(cluster.address)
    client.wait_for_workers(len(cluster.workers), timeout=60)
    yield client
    disconnect(client)


def learned(model):
    _, arrays = model._pack()
    told = [{k: v for k, v in entry.items() if k != "seconds"} for entry in model.history_]
    return told, {name: array.tobytes() for name, array in arrays.items()}


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_any_number_of_workers_gives_the_bits_of_one_machine(
    world, cluster, client, workers, monkeypatch
):
    taxonomy, vectors, y, alone = world
    cluster.grow(workers)
    client.wait_for_workers(workers, timeout=60)
    blocks = ClusterBlocks(client, vectors, block_rows=ROWS)
    for name, method in METHODS.items():
        together = method(taxonomy).fit(blocks, y)
        assert learned(together) == learned(alone[name])
        assert together.assign(blocks).to_frame().equals(alone[name].assign(vectors).to_frame())
    assert len(set(blocks._homes().values())) == workers  # all of them had something to do
    monkeypatch.setattr(sample, "SAMPLE", 300)  # begins on some of the documents
    sampled = METHODS["anchored"](taxonomy).fit(blocks, y)
    assert learned(sampled) == learned(METHODS["anchored"](taxonomy).fit(vectors, y))


def test_the_mean_is_learned_on_the_workers_too(world, client):
    _, vectors, _, _ = world
    blocks = ClusterBlocks(client, vectors.X, block_rows=ROWS)
    mean = Preparation().fit(blocks).mean_
    assert mean.tobytes() == vectors.preparation.mean_.tobytes()


@pytest.mark.parametrize("name", METHODS)
def test_a_killed_worker_costs_time_only(world, cluster, client, name):
    taxonomy, vectors, y, alone = world
    cluster.grow(2)
    client.wait_for_workers(len(cluster.workers), timeout=60)
    doomed = cluster.workers[-1]
    blocks = ClusterBlocks(client, vectors, block_rows=ROWS)
    before = set(blocks._homes().values())

    def kill(entry):
        if entry["round"] == 1:
            cluster.kill(doomed)

    assert learned(METHODS[name](taxonomy).fit(blocks, y, progress=kill)) == learned(alone[name])
    after = set(blocks._homes().values())
    assert len(after) == len(before) - 1
    assert after < before  # the others kept their parts and took those of the dead


def test_what_travels_in_a_round_does_not_grow_with_the_corpus(world, client, tmp_path):
    taxonomy, vectors, y, _ = world
    X = np.asarray(vectors)
    sizes = []
    for copies in (2, 8):  # both have more documents than a model keeps as references
        path = tmp_path / f"{copies}.npy"
        np.save(path, np.tile(X, (copies, 1)))
        seeds = np.concatenate([y, np.full((copies - 1) * len(y), -1)])
        blocks = Counted(client, MappedFile(path), block_rows=ROWS)
        rounds = []
        for method in METHODS.values():
            method(taxonomy).fit(
                blocks, seeds, progress=lambda _, b=blocks, r=rounds: r.append(b.bytes)
            )
        sizes.append((rounds[1] - rounds[0], rounds[-1] - rounds[-2]))  # a round of either method
    np.testing.assert_allclose(*sizes, rtol=0.1)


class Counted(ClusterBlocks):
    """Adds up what steps and their answers take as bytes."""

    bytes = 0

    def _submit(self, job, shares, step, model):
        self.bytes += len(shares) * len(pickle.dumps((step, model)))
        return super()._submit(job, shares, step, model)

    def _gather(self, futures):
        answers = super()._gather(futures)
        self.bytes += sum(len(pickle.dumps(answer)) for answer in answers)
        return answers


# what goes wrong, and what is said then


def test_arrays_in_memory_are_refused(world, client):
    array = np.zeros((4, 2))
    for vectors in (array, Prepared(array, Preparation().fit(array + np.eye(4, 2)))):
        with pytest.raises(CorpusError, match="MappedFile"):
            ClusterBlocks(client, vectors)


def test_a_file_that_holds_no_vectors_is_refused(tmp_path):
    (tmp_path / "x.npy").write_bytes(b"not numpy")
    with pytest.raises(CorpusError, match=r"x\.npy"):
        MappedFile(tmp_path / "x.npy")


class Elsewhere(MappedFile):
    """A file that this machine sees and the workers do not."""

    def __reduce__(self):
        return MappedFile, (self.path.with_name("absent.npy"),)


class Another(MappedFile):
    """A path under which workers see another file."""

    def __reduce__(self):
        return MappedFile, (self.path.with_name("other.npy"),)


def test_workers_that_can_not_read_the_vectors_are_named(client, tmp_path):
    np.save(tmp_path / "x.npy", np.eye(8, 4))
    np.save(tmp_path / "other.npy", np.eye(8, 4)[::-1])
    with pytest.raises(CorpusError, match=r"can't open .*x\.npy: .*absent.* all workers .*tcp://"):
        ClusterBlocks(client, Elsewhere(tmp_path / "x.npy"))
    with pytest.raises(CorpusError, match=r"sees other vectors at .*x\.npy"):
        ClusterBlocks(client, Another(tmp_path / "x.npy"))


def test_a_file_that_goes_away_under_a_fit_is_reported_as_such(world, client, tmp_path):
    np.save(tmp_path / "x.npy", np.eye(8, 4))
    vectors = MappedFile(tmp_path / "x.npy")
    blocks = ClusterBlocks(client, vectors)
    blocks._source = Source("new", pickle.dumps(vectors), "x.npy", fingerprint(vectors), 100)
    (tmp_path / "x.npy").unlink()
    with pytest.raises(CorpusError, match=r"can't open x\.npy"):
        Preparation().fit(blocks)


def test_workers_of_another_version_are_refused(client, monkeypatch, tmp_path):
    np.save(tmp_path / "x.npy", np.eye(8, 4))
    here = clients.versions()
    monkeypatch.setattr(clients, "versions", lambda: here)
    there = {**here, "hierseed": "0.0.1"}
    client.run = lambda *_, **__: {"tcp://10.0.0.7:1": there}
    with pytest.raises(ClusterError, match=r"tcp://10.0.0.7:1 has hierseed 0.0.1, this machine"):
        ClusterBlocks(client, MappedFile(tmp_path / "x.npy"))
    client.run = lambda *_, **__: {"tcp://10.0.0.7:1": ModuleNotFoundError("No module 'hierseed'")}
    with pytest.raises(ClusterError, match=r"can't run hierseed \(No module 'hierseed'\)"):
        ClusterBlocks(client, MappedFile(tmp_path / "x.npy"))


def test_an_address_where_nobody_answers(monkeypatch):
    monkeypatch.setattr(clients, "CONNECT_TIMEOUT", 1)
    with pytest.raises(ClusterError, match=r"no scheduler answers at tcp://127.0.0.1:9 .*dask sch"):
        connect("tcp://127.0.0.1:9")
    with pytest.raises(ClusterError, match="no scheduler answers"):
        connect("nonsense://there")
    with pytest.raises(ClusterError, match=r"absent\.json does not say where the scheduler is"):
        connect("absent.json")


def test_missing_dask_is_named(monkeypatch):
    monkeypatch.setattr(clients, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=r"pip install 'hierseed\[cluster\]'"):
        connect("tcp://127.0.0.1:9")


def test_a_scheduler_file_says_where_it_is(cluster):
    client = connect(str(cluster.file))
    assert clients.address_of(client) == cluster.address
    disconnect(client)


def test_a_scheduler_without_workers(monkeypatch, tmp_path):
    monkeypatch.setattr(clients, "WORKER_TIMEOUT", 1)
    np.save(tmp_path / "x.npy", np.eye(8, 4))
    with Cluster(tmp_path, 0) as lonely:
        client = connect(lonely.address)
        with pytest.raises(ClusterError, match="has had no worker for 1 s"):
            ClusterBlocks(client, MappedFile(tmp_path / "x.npy"))
        disconnect(client)
