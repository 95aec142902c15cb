import json
import os
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

from hierseed.embed import VectorStore, embed_corpus, get_embedder, load_embedder
from hierseed.embed.tfidf import TfidfSvd
from hierseed.errors import CorpusError, EmbeddingError
from hierseed.threads import read_ahead


def documents(n: int) -> list[tuple[str, str]]:
    words = [
        "court",
        "appeal",
        "judge",
        "goal",
        "striker",
        "season",
        "budget",
        "cell",
        "gene",
        "law",
    ]
    return [
        (f"d{i}", " ".join(words[(i * k + k) % 10] for k in range(1, 3 + i % 7)) + f" {i}")
        for i in range(n)
    ]


def contents(folder) -> dict[str, bytes]:
    """Every file of a finished store but the journal, which also tells of the interruptions."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name != "journal.jsonl"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def wordllama():
    return get_embedder("wordllama:64")


@pytest.fixture(scope="module")
def store(tmp_path_factory, wordllama):
    folder = tmp_path_factory.mktemp("store") / "v"
    return embed_corpus(documents(500), wordllama, folder, block=64, shard_rows=150)


# ---------------------------------------------------------------- an array on disk


def test_the_rows_are_the_embedder_s(store, wordllama):
    expected = wordllama.encode([text for _, text in documents(500)])
    np.testing.assert_array_equal(np.asarray(store), expected)
    assert store.shape == (500, 64)
    assert store.ids == [one for one, _ in documents(500)]
    assert store.complete
    assert repr(store) == "VectorStore(500 x 64 float32, wordllama:64)"


@pytest.mark.parametrize(
    "rows",
    [
        0,
        -1,
        np.int64(320),
        slice(None),
        slice(10, 20),
        slice(140, 460),
        slice(-3, None),
        slice(9, 9),
        slice(400, 20, -37),
        slice(0, 500, 7),
        np.array([499, 0, 151, 151, -2]),
        [3, 300],
        np.arange(500) % 3 == 0,
        np.array([], dtype=int),
        (slice(5, 200), slice(0, 3)),
    ],
)
def test_indexing_is_numpy_s(store, rows):
    np.testing.assert_array_equal(store[rows], np.asarray(store)[rows])


def test_rows_outside_are_refused(store):
    for rows in (500, [3, -501]):
        with pytest.raises(IndexError, match="is outside a store of 500 rows"):
            store[rows]
    with pytest.raises(IndexError, match="a mask of shape"):
        store[np.ones(3, dtype=bool)]


def test_slices_inside_a_shard_are_views_not_copies(store):
    assert isinstance(store[10:20], np.memmap)


def test_shards_are_plain_npy(store):
    shards = [np.load(file) for file in sorted(store.folder.glob("vectors-*.npy"))]
    assert [len(shard) for shard in shards] == [150, 150, 150, 50]
    np.testing.assert_array_equal(np.concatenate(shards), np.asarray(store))


def test_float16_halves_the_disk(tmp_path, wordllama, store):
    half = embed_corpus(documents(500), wordllama, tmp_path / "h", dtype="float16", block=64)
    np.testing.assert_array_equal(half[:], np.asarray(store).astype(np.float16))
    with pytest.raises(EmbeddingError, match="holds float16, and float32"):
        embed_corpus(documents(500), wordllama, tmp_path / "h", dtype="float32")
    with pytest.raises(EmbeddingError, match="'float32' or 'float16'"):
        embed_corpus(documents(5), wordllama, tmp_path / "x", dtype="int8")


def test_the_block_size_changes_no_bit(tmp_path, wordllama, store):
    other = embed_corpus(documents(500), wordllama, tmp_path / "o", block=17, shard_rows=150)
    assert contents(other.folder) == contents(store.folder)
    assert other.corpus == store.corpus


def test_a_store_travels_as_an_address(store):
    store[:3]
    sent = pickle.dumps(store)
    assert len(sent) < 1000
    np.testing.assert_array_equal(np.asarray(pickle.loads(sent)), np.asarray(store))


def test_memory_does_not_grow_with_the_corpus(tmp_path):
    """However long the stream, only a few blocks of it are read before they are embedded."""
    read, ahead = 0, []

    def stream():
        nonlocal read
        for document in documents(2000):
            read += 1
            yield document

    embedded = 0

    def embed(texts):
        nonlocal embedded
        embedded += len(texts)
        ahead.append(read - embedded)
        return np.ones((len(texts), 2))

    embedder = get_embedder(embed)
    probes = embedder.dimension and embedded
    embed_corpus(stream(), embedder, tmp_path / "v", block=50)
    assert embedded - probes == 2000
    assert max(ahead) <= 5 * 50


# ---------------------------------------------------------------- kill and go on

CHILD = """
import os, signal, sys
sys.path.insert(0, sys.argv[3])
from test_store import documents
from hierseed.embed import embed_corpus, get_embedder, store_writer
calls, real = 0, os.fsync
def fsync(number):
    global calls
    calls += 1
    if calls == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    real(number)
os.fsync = fsync
store_writer.MOST_WAITING = 1  # one block at a time, so that the calls can be counted
embed_corpus(documents(500), get_embedder("wordllama:64"), sys.argv[1], block=64, shard_rows=150)
"""


def run_until_killed(folder, at: int) -> int:
    command = [sys.executable, "-c", CHILD, str(folder), str(at), os.path.dirname(__file__)]
    return subprocess.run(command, check=False).returncode


@pytest.mark.parametrize("at", [1, 2, 3, 4, 9, 11, 12, 25])
def test_kill_9_and_again_gives_the_same_bits(tmp_path, wordllama, store, at):
    """The process really dies, before the store is made, inside a block, between its steps."""
    folder = tmp_path / "v"
    assert run_until_killed(folder, at) == -signal.SIGKILL
    held = len(VectorStore(folder)) if (folder / "store.json").exists() else 0
    assert held < 500
    embedded = []
    again = embed_corpus(
        documents(500), wordllama, folder, block=64, shard_rows=150, progress=embedded.append
    )
    assert contents(folder) == contents(store.folder)
    assert again.corpus == store.corpus
    assert embedded[-1]["hits"] == held
    assert embedded[-1]["done"] == 500


def test_a_tail_that_no_journal_line_names_is_cut_off(tmp_path, wordllama, store):
    folder = tmp_path / "v"
    assert run_until_killed(folder, 16) == -signal.SIGKILL
    rows = len(VectorStore(folder))
    assert 0 < rows < 500
    for name in ("journal.jsonl", "ids.jsonl", sorted(folder.glob("vectors-*.npy"))[-1].name):
        with (folder / name).open("ab") as file:
            file.write(b'{"rows": 9')
    (folder / "vectors-00009.npy").write_bytes(b"junk")
    assert len(VectorStore(folder)) == rows
    embed_corpus(documents(500), wordllama, folder, block=64)
    assert contents(folder) == contents(store.folder)


def test_an_interrupted_store_says_so(tmp_path):
    folder = tmp_path / "v"
    run_until_killed(folder, 16)
    assert not VectorStore(folder).complete
    assert "interrupted" in repr(VectorStore(folder))


# ---------------------------------------------------------------- more documents


def test_a_longer_corpus_is_added_to_the_end(tmp_path, wordllama, store):
    folder = tmp_path / "v"
    embed_corpus(documents(200), wordllama, folder, block=64, shard_rows=150)
    events = []
    whole = embed_corpus(documents(500), wordllama, folder, total=500, progress=events.append)
    assert contents(folder) == contents(store.folder)
    assert events[-1]["hits"] == 200
    assert events[-1]["left"] == 0
    assert events[-1]["rate"] > 0
    assert whole.shape == (500, 64)


def test_append_adds_new_documents_only_once(tmp_path, wordllama, store):
    folder = tmp_path / "v"
    embed_corpus(documents(200), wordllama, folder, block=64, shard_rows=150)
    for _ in range(2):
        embed_corpus(documents(500)[190:], wordllama, folder, append=True, block=64)
        assert contents(folder) == contents(store.folder)
    changed = [("d7", "another text")]
    with pytest.raises(CorpusError, match=r"'d7' is in the store .* with another text"):
        embed_corpus(changed, wordllama, folder, append=True)


def test_doing_nothing_writes_nothing(tmp_path, wordllama):
    folder = tmp_path / "v"
    embed_corpus(documents(100), wordllama, folder)
    before = (folder / "journal.jsonl").read_bytes()
    embed_corpus(documents(100), wordllama, folder)
    assert (folder / "journal.jsonl").read_bytes() == before


def test_an_empty_corpus_gives_an_empty_store(tmp_path, wordllama):
    empty = embed_corpus([], wordllama, tmp_path / "v")
    assert empty.shape == (0, 64)
    assert np.asarray(empty).shape == (0, 64)
    assert empty.complete


def test_the_same_text_is_embedded_once_a_block(tmp_path):
    asked = []

    def embed(texts):
        asked.extend(texts)
        return [[len(text)] for text in texts]

    events = []
    twice = [("a", "x"), ("b", "yy"), ("c", "x")]
    embedder = get_embedder(embed)
    probes = embedder.dimension and len(asked)
    store = embed_corpus(twice, embedder, tmp_path / "v", progress=events.append)
    assert asked[probes:] == ["x", "yy"]
    assert store[:].tolist() == [[1], [2], [1]]
    assert events[-1]["hits"] == 1


def test_finished_vectors_become_a_store(tmp_path):
    np.save(tmp_path / "v.npy", np.arange(1000, dtype=np.float32).reshape(500, 2))
    embedder = get_embedder(f"precomputed:{tmp_path / 'v.npy'}")
    store = embed_corpus(documents(500), embedder, tmp_path / "v", block=64)
    np.testing.assert_array_equal(np.asarray(store), embedder.vectors)


# ---------------------------------------------------------------- refusals


def test_another_embedder_is_refused_with_both_names(store, corpus):
    other = TfidfSvd(4).fit(corpus)
    with pytest.raises(EmbeddingError, match=rf"wordllama:64 \(.*tfidf:4 \({other.fingerprint}"):
        embed_corpus(documents(500), other, store.folder)


def test_another_corpus_is_refused_and_nothing_is_touched(store, wordllama):
    before = contents(store.folder)
    swapped = documents(500)
    swapped[3], swapped[4] = swapped[4], swapped[3]
    edited = documents(500)
    edited[499] = ("d499", "other")
    for other, message in (
        (swapped, "its row 3 is 'd3', this corpus has 'd4' there"),
        (edited, "its row 499 is 'd499', this corpus has the same id with another text"),
        (documents(400), "holds 500 documents, and this corpus ends after 400"),
    ):
        with pytest.raises(CorpusError, match=message):
            embed_corpus(other, wordllama, store.folder)
    assert contents(store.folder) == before


def test_a_folder_that_is_no_store_is_left_alone(tmp_path, wordllama):
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(CorpusError, match="exists and is no vector store"):
        embed_corpus(documents(5), wordllama, tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["letter.txt"]
    with pytest.raises(CorpusError, match="no vector store at"):
        VectorStore(tmp_path)


def test_two_writers_at_once_are_refused(tmp_path, wordllama):
    folder = tmp_path / "v"

    def intruding():
        yield documents(1)[0]
        embed_corpus(documents(5), wordllama, folder)

    with pytest.raises(CorpusError, match="another process is writing"):
        embed_corpus(intruding(), wordllama, folder)
    assert embed_corpus(documents(5), wordllama, folder).complete


def test_an_unfitted_embedder_and_another_format_are_refused(tmp_path, wordllama):
    with pytest.raises(EmbeddingError, match="has not seen one"):
        embed_corpus(documents(5), TfidfSvd(), tmp_path / "v")
    embed_corpus(documents(5), wordllama, tmp_path / "v")
    header = json.loads((tmp_path / "v" / "store.json").read_text())
    (tmp_path / "v" / "store.json").write_text(json.dumps({**header, "format": 99}))
    with pytest.raises(CorpusError, match="store format 99, this hierseed reads 2"):
        VectorStore(tmp_path / "v")


def test_the_store_keeps_its_embedder(tmp_path, corpus):
    embedder = TfidfSvd(4).fit(corpus)
    store = embed_corpus(enumerate_texts(corpus), embedder, tmp_path / "v")
    again = load_embedder(store.folder / "embedder")
    np.testing.assert_array_equal(again.encode(corpus), np.asarray(store))


def enumerate_texts(texts):
    return ((str(i), text) for i, text in enumerate(texts))


# ---------------------------------------------------------------- reading ahead


def test_read_ahead_keeps_order_and_runs_in_another_thread():
    threads = set()

    def source():
        for i in range(50):
            threads.add(threading.current_thread().name)
            yield i

    assert list(read_ahead(source())) == list(range(50))
    assert threads == {"hierseed-reader"}


def test_read_ahead_passes_faults_on_and_ends_its_thread():
    def source():
        yield 1
        raise CorpusError("line 2")

    with pytest.raises(CorpusError, match="line 2"):
        list(read_ahead(source()))
    early = read_ahead(iter(range(10**9)))
    assert next(early) == 0
    early.close()
    assert "hierseed-reader" not in [thread.name for thread in threading.enumerate()]


def test_a_fault_in_the_corpus_keeps_what_was_embedded(tmp_path, wordllama):
    def torn():
        yield from documents(130)
        raise CorpusError("line 131 is no JSON")

    with pytest.raises(CorpusError, match="line 131"):
        embed_corpus(torn(), wordllama, tmp_path / "v", block=64)
    assert len(VectorStore(tmp_path / "v")) == 128
