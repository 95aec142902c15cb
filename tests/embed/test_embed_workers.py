"""Workers embed with the bytes of one process, also when a worker or the whole run is killed."""

import os
import random
import signal
import subprocess
import sys
from contextlib import closing

import numpy as np
import pytest

from hierseed.embed import embed_corpus, get_embedder
from hierseed.embed.corpus import embed_in_memory
from hierseed.engines.choose import Engine, OpenEngine
from hierseed.engines.processes import ProcessWorkers
from hierseed.errors import EmbeddingError

DOCUMENTS = 700
BLOCK, SHARD = 64, 150


def documents():
    words = random.Random(0)
    known = ["cat", "dog", "soup", "bread", "oven", "purr", "bark", "salt", "leash", "loaf"]
    for i in range(DOCUMENTS):
        yield f"d{i}", " ".join(words.choices(known, k=3 if i % 5 else 1))  # some repeat


def texts():
    return (text for _, text in documents())


@pytest.fixture(scope="module", params=["wordllama:64", "tfidf", "wordllama:64+lsa"])
def alone(request, tmp_path_factory):
    """An embedder, and the files that one process makes with it."""
    embedder = get_embedder(request.param)
    if hasattr(embedder, "fit"):
        embedder.fit(texts())
    folder = tmp_path_factory.mktemp("alone") / "v"
    embed(embedder, folder)
    return embedder, files(folder)


def embed(embedder, folder, workers=None, **options):
    given = {"block": BLOCK, "shard_rows": SHARD, "dtype": "float16"} | options
    return embed_corpus(documents(), embedder, folder, workers=workers, **given)


def files(folder):
    found = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }
    assert "vectors-00004.npy" in found
    return found


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_workers_writes_the_same_files(alone, workers, tmp_path):
    embedder, expected = alone
    with Engine(workers=workers).open(lambda _: None) as engine:
        embed(embedder, tmp_path / "v", engine.map)
        assert files(tmp_path / "v") == expected
        if workers == 2:
            X, keys, _ = embed_in_memory(documents(), embedder, lambda _: None, engine.map)
            Y, same, _ = embed_in_memory(documents(), embedder, lambda _: None)
            assert X.tobytes() == Y.tobytes()
            assert keys == same


def test_workers_killed_on_the_way_make_no_difference(alone, tmp_path):
    embedder, expected = alone
    killed = []
    with closing(ProcessWorkers(2)) as workers:

        def kill(event):
            alive = [one._child.pid for one in workers._workers.values() if one._child]
            alive = [pid for pid in alive if pid not in killed]
            # a block is tried three times, so two deaths over it are survived
            if event["done"] > 100 * (len(killed) + 1) and alive and len(killed) < 2:
                killed.append(alive[0])
                os.kill(alive[0], signal.SIGKILL)

        embed(embedder, tmp_path / "v", OpenEngine(workers).map, progress=kill)
    assert killed
    assert files(tmp_path / "v") == expected


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from test_embed_workers import *
from hierseed.embed import store_writer

store_writer.MOST_WAITING = 1  # a block is on disk before the next one is handed over

def die(event):
    if event["done"] >= int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)

with Engine(workers=2).open(lambda _: None) as engine:
    embed(get_embedder("wordllama:64"), sys.argv[2], engine.map, progress=die)
"""


@pytest.mark.parametrize("at", [64, 320])
def test_a_run_that_is_killed_resumes(tmp_path, at):
    embedder, folder = get_embedder("wordllama:64"), tmp_path / "v"
    embed(embedder, tmp_path / "alone")
    expected = files(tmp_path / "alone")
    command = [sys.executable, "-c", KILLED, os.path.dirname(__file__), str(folder), str(at)]
    killed = subprocess.run(command, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    with Engine(workers=3).open(lambda _: None) as engine:
        events = []
        embed(embedder, folder, engine.map, progress=events.append)
    assert events[-1]["held"] >= at - BLOCK  # what was done is kept
    assert files(folder) == expected


def test_long_texts_are_counted_by_the_workers_too(tmp_path, tiny_checkpoint):
    embedder = get_embedder(f"sentence-transformers:{tiny_checkpoint}")
    long = [(str(i), "cat " * (5 if i % 3 else 600)) for i in range(90)]
    counts = []
    with Engine(workers=2).open(lambda _: None) as engine:
        for number, map_ in enumerate((None, engine.map)):
            seen = []
            embed_corpus(
                long, embedder, tmp_path / str(number), block=20, progress=seen.append, workers=map_
            )
            counts.append((seen[-1]["cut"], seen[-1]["hits"]))
    assert counts[0] == counts[1]
    assert counts[0][0] > 0


def halves(texts):
    return np.array([[len(text) / 2] for text in texts])


def test_a_function_works_if_workers_can_import_it(tmp_path):
    embedder = get_embedder("function:test_embed_workers:halves")
    with Engine(workers=1).open(lambda _: None) as engine:
        made = embed(embedder, tmp_path / "v", engine.map)
        assert made[1].tolist() == [len(dict(documents())["d1"]) / 2]
        local = get_embedder(lambda texts: np.ones((len(texts), 2)))
        with pytest.raises(EmbeddingError, match="can't be imported"):
            embed(local, tmp_path / "w", engine.map)
