"""Tables as folders of Parquet parts: workers, kills and changed files; never other bytes."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import hierseed
from hierseed import Taxonomy
from hierseed.errors import CorpusError, ModelError
from hierseed.io import documents, parts, placing
from hierseed.io.corpus import Corpus

PATHS = ["Animals > Cats", "Animals > Dogs", "Food > Bread", "Food > Soup"]
WORDS = ["cat purr whiskers", "dog bark leash", "bread oven flour", "soup bowl broth"]
ROWS, CHUNK = 70, 30  # small, so that there are several parts, of several chunks each


@pytest.fixture(scope="module", autouse=True)
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placing, "ROWS", ROWS)
        patch.setattr(placing, "TEXTS", 3 * CHUNK)
        patch.setattr(placing, "CHUNK", CHUNK)
        patch.setattr(documents.chunks_of_text, "__defaults__", (CHUNK,))
        patch.setattr(placing, "CHUNK_ROWS", CHUNK)
        yield


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    """A saved model of vectors, one of texts, and the documents of both as files."""
    folder = tmp_path_factory.mktemp("world")
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 8)) * 3
    X = (centres[np.arange(400) % 4] + rng.normal(size=(400, 8))).astype(np.float16)
    np.save(folder / "x.npy", X)
    seeds = {path: [i, i + 4, i + 8, i + 12, i + 16] for i, path in enumerate(PATHS)}
    hierseed.fit(X, Taxonomy.from_paths(PATHS), seeds).save(folder / "of_vectors")
    texts = [
        f"the {' '.join(rng.permutation(WORDS[i % 4].split()))} of number {i}" for i in range(250)
    ]
    frame = pd.DataFrame({"id": [f"d{i}" for i in range(250)], "text": texts, "year": range(250)})
    frame.to_csv(folder / "docs.csv", index=False)
    frame.assign(text=frame.text + " again").to_csv(folder / "new.csv", index=False)
    named = {path: [f"d{row}" for row in rows] for path, rows in seeds.items()}
    model = hierseed.fit(folder / "docs.csv", PATHS, named, embedder="wordllama:64")
    model.save(folder / "of_texts")
    return folder


def place(world, kind, folder, engine=None, **options):
    source = {"of_vectors": "x.npy", "of_texts": "new.csv"}[kind]
    documents = world / source
    if kind == "of_texts":
        documents = Corpus(documents, keep=["year"])
    hierseed.load(world / kind).write_table(documents, folder, engine=engine, **options)
    return files(folder)


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


@pytest.fixture(scope="module", params=["of_vectors", "of_texts"])
def alone(request, world, tmp_path_factory):
    return request.param, place(world, request.param, tmp_path_factory.mktemp("a") / "placed")


def test_the_parts_hold_the_table(world, alone, tmp_path):
    kind, found = alone
    expected = {"of_vectors": 6, "of_texts": 3}[kind]
    assert [name for name in found if name[0] not in "._"] == [
        f"part-{i:05d}.parquet" for i in range(expected)
    ]
    for name, content in found.items():
        (tmp_path / name).write_bytes(content)
    together = pd.read_parquet(tmp_path)  # as any program reads it
    model = hierseed.load(world / kind)
    source = world / {"of_vectors": "x.npy", "of_texts": "new.csv"}[kind]
    whole = model.assign(source).to_frame()
    columns = [name for name in together if name != "year"]
    pd.testing.assert_frame_equal(together[columns], whole, check_dtype=False)
    if kind == "of_texts":
        assert together["year"].tolist() == [str(i) for i in range(250)]
    about = json.loads(found["_manifest.json"])
    assert about["complete"]
    assert sum(part["counts"]["documents"] for part in about["parts"].values()) == len(whole)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_any_number_of_workers_writes_the_same_bytes(world, alone, workers, tmp_path):
    kind, expected = alone
    assert place(world, kind, tmp_path / "placed", workers) == expected
    if workers == 2:  # and other outputs
        model = hierseed.load(world / kind)
        source = world / {"of_vectors": "x.npy", "of_texts": "docs.csv"}[kind]
        for name in ("one.csv", "one.parquet"):
            model.write_table(source, tmp_path / name)
            model.write_table(source, tmp_path / f"w-{name}", engine=2, top=None)
            assert (tmp_path / name).read_bytes() == (tmp_path / f"w-{name}").read_bytes()
        one, two = model.assign(source), model.assign(source, engine=2)
        pd.testing.assert_frame_equal(one.to_frame(), two.to_frame())
        assert one.ids == two.ids


KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
import test_parts
from test_parts import *
from hierseed.io.parts import Parts

placing.ROWS, placing.TEXTS, placing.CHUNK = ROWS, 3 * CHUNK, CHUNK
documents.chunks_of_text.__defaults__ = (CHUNK,)
placing.CHUNK_ROWS = CHUNK
write = Parts.write

def die(self, complete=False):
    if len(self.entries) == 2 and sys.argv[5] == "before":
        os.kill(os.getpid(), signal.SIGKILL)  # the part has its name, the manifest lacks it
    write(self, complete)
    if len(self.entries) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

Parts.write = die
place(Path(sys.argv[2]), sys.argv[3], Path(sys.argv[4]), engine=2)
"""


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_run_resumes(world, alone, when, tmp_path):
    kind, expected = alone
    folder = tmp_path / "placed"
    here = os.path.dirname(__file__)
    command = [sys.executable, "-c", KILLED, here, str(world), kind, str(folder), when]
    killed = subprocess.run(command, capture_output=True, text=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    begun = json.loads((folder / "_manifest.json").read_text())
    assert len(begun["parts"]) == (1 if when == "before" else 2)
    assert not begun["complete"]
    first = (folder / "part-00000.parquet").stat().st_mtime_ns
    assert place(world, kind, folder, engine=2) == expected
    assert (folder / "part-00000.parquet").stat().st_mtime_ns == first  # not written again


def test_a_killed_worker_makes_no_difference(world, alone, tmp_path):
    kind, expected = alone
    killed = []

    def kill(event):
        if getattr(event, "name", "") == "Placing" and not killed:
            found = subprocess.run(
                ["pgrep", "-P", str(os.getpid()), "-f", "engines.processes"],
                capture_output=True, text=True,
            ).stdout.split()  # fmt: skip
            killed.extend(found[:1])
            for pid in killed:
                os.kill(int(pid), signal.SIGKILL)

    assert place(world, kind, tmp_path / "placed", 2, progress=kill) == expected
    assert killed


def test_what_is_not_ours_or_was_changed_is_refused(world, alone, tmp_path):
    kind, expected = alone
    folder = tmp_path / "placed"
    place(world, kind, folder)
    assert place(world, kind, folder, 1) == expected  # again: nothing to do
    part = folder / "part-00001.parquet"
    part.write_bytes(part.read_bytes() + b"corrected")
    with pytest.raises(CorpusError, match="may hold corrections"):
        place(world, kind, folder)
    with pytest.raises(CorpusError, match=r"made with other settings \(level\)"):
        place(world, kind, folder, level=1)
    other = "of_texts" if kind == "of_vectors" else "of_vectors"
    with pytest.raises(CorpusError, match=r"made with other settings .*model"):
        place(world, other, folder)
    (folder / "mine.txt").write_text("keep me")
    place(world, kind, folder, overwrite=True)
    assert (folder / "mine.txt").read_text() == "keep me"
    (folder / "mine.txt").unlink()
    assert files(folder) == expected
    manifest = folder / "_manifest.json"
    manifest.write_text(manifest.read_text().replace('"rows"', '"Rows"', 1))
    with pytest.raises(CorpusError, match=r"_manifest\.json was changed"):
        place(world, kind, folder)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "notes.txt").touch()
    with pytest.raises(FileExistsError, match="holds other files"):
        place(world, kind, tmp_path / "full")


def test_other_documents_are_refused(world, tmp_path):
    model = hierseed.load(world / "of_vectors")
    X = np.load(world / "x.npy")
    model.write_table(X, tmp_path / "placed")
    X[100] += 1
    for changed in (X, X[:60]):
        with pytest.raises(CorpusError, match="was written for other documents"):
            model.write_table(changed, tmp_path / "placed")
    model.write_table(X[:60], tmp_path / "placed", overwrite=True)
    assert len(pd.read_parquet(tmp_path / "placed")) == 60
    assert len(list((tmp_path / "placed").glob("part-*"))) == 1


def test_two_runs_do_not_write_the_same_folder(world, tmp_path):
    said = "another process is writing the table"
    with parts.open_parts(tmp_path / "placed", {}), pytest.raises(CorpusError, match=said):
        place(world, "of_vectors", tmp_path / "placed", overwrite=True)
    assert not (tmp_path / "placed" / ".lock").exists()


def test_a_model_that_was_never_saved_works_with_processes(world, tmp_path):
    X = np.load(world / "x.npy")
    seeds = {path: [i, i + 4, i + 8, i + 12] for i, path in enumerate(PATHS)}
    model = hierseed.fit(X, Taxonomy.from_paths(PATHS), seeds, engine=2)
    found = model.assign(X, engine=2).to_frame()
    pd.testing.assert_frame_equal(found, model.assign(X).to_frame())


def test_secondary_columns_are_written_too(world, tmp_path):
    model = hierseed.load(world / "of_vectors")
    X = np.load(world / "x.npy")
    model.write_table(X, tmp_path / "top", top=2)
    model.write_table(X, tmp_path / "top.csv", top=2)
    table, lines = pd.read_parquet(tmp_path / "top"), pd.read_csv(tmp_path / "top.csv")
    assert table["topic"].tolist() == lines["topic"].tolist()
    assert table["id"].tolist() == lines["id"].astype(str).tolist()


def test_a_cluster_gives_the_same_bytes_and_needs_the_model_on_disk(world, alone, tmp_path):
    pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    from cluster_processes import Cluster

    kind, expected = alone
    with Cluster(tmp_path, 2) as cluster:
        assert place(world, kind, tmp_path / "placed", cluster.address) == expected
        X = np.load(world / "x.npy")
        seeds = {path: [i, i + 4, i + 8, i + 12] for i, path in enumerate(PATHS)}
        model = hierseed.fit(X, Taxonomy.from_paths(PATHS), seeds)
        with pytest.raises(ModelError, match="Save it where all of them see it"):
            model.assign(world / "x.npy", engine=cluster.address)
