"""A store, or an embedder, whose files were changed: refused in one line, never used."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

from hierseed.embed import VectorStore, embed_corpus, get_embedder, load_embedder, save_embedder
from hierseed.embed.function import NAMED
from hierseed.embed.store_writer import remove_store
from hierseed.embed.tfidf import TfidfSvd
from hierseed.errors import CorpusError, EmbeddingError, StoreDamagedError, StoreInUseError
from hierseed.files import with_checksum

DOCUMENTS = [(f"d{i}", f"the court rules on case {i}") for i in range(300)]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store") / "v"
    return embed_corpus(DOCUMENTS, get_embedder("wordllama:64"), folder, block=64, shard_rows=150)


@pytest.fixture
def store(made, tmp_path):
    shutil.copytree(made.folder, tmp_path / "v")
    return tmp_path / "v"


def read_everything(folder):
    store = VectorStore(folder)
    return np.asarray(store), store.ids


def flip(file, position, bit=1):
    content = bytearray(file.read_bytes())
    content[position] ^= bit
    file.write_bytes(content)


@pytest.mark.parametrize("name", ["vectors-00000.npy", "vectors-00001.npy", "ids.jsonl"])
@pytest.mark.parametrize("position", [0, 60, 1000, -1])
def test_a_flipped_bit_is_found(store, name, position):
    flip(store / name, position)
    with pytest.raises(StoreDamagedError, match=rf"{name} of the vector store .* changed or cut"):
        read_everything(store)


@pytest.mark.parametrize("name", ["journal.jsonl", "store.json"])
def test_every_byte_of_the_journal_and_the_header_counts(store, made, name):
    """White space apart: a store gives the vectors that were written, or is refused."""
    content = (store / name).read_bytes()
    vectors, ids = read_everything(made.folder)
    for position in range(0, len(content), 7):
        flip(store / name, position)
        try:
            found = read_everything(store)
        except CorpusError:
            pass
        else:  # the end of the journal was cut off, as by a kill
            np.testing.assert_array_equal(found[0], vectors[: len(found[0])])
            assert found[1] == ids[: len(found[0])]
        (store / name).write_bytes(content)


@pytest.mark.parametrize("name", ["vectors-00001.npy", "ids.jsonl", "store.json"])
@pytest.mark.parametrize("kept", [0, 1, 0.5])
def test_a_cut_or_lost_file_is_found(store, name, kept):
    content = (store / name).read_bytes()
    (store / name).write_bytes(content[: int(kept) or int(kept * len(content))])
    with pytest.raises(StoreDamagedError, match=name):
        read_everything(store)
    if name != "store.json":
        (store / name).unlink()
        with pytest.raises(StoreDamagedError, match=name):
            read_everything(store)


def test_swapped_shards_and_ids_are_found(store):
    (store / "vectors-00000.npy").replace(store / "x")
    (store / "vectors-00001.npy").replace(store / "vectors-00000.npy")
    (store / "x").replace(store / "vectors-00001.npy")
    with pytest.raises(StoreDamagedError, match=r"vectors-0000"):
        read_everything(store)


def test_an_id_that_was_changed_to_another_s(store):
    text = (store / "ids.jsonl").read_text().replace('"d3"', '"d4"')
    (store / "ids.jsonl").write_text(text)
    with pytest.raises(StoreDamagedError, match=r"ids\.jsonl"):
        _ = VectorStore(store).ids


def test_a_shard_of_complex_numbers_is_refused(store):
    np.save(store / "vectors-00000.npy", np.ones((150, 64), dtype=complex))
    with pytest.raises(StoreDamagedError, match="header differs"):
        read_everything(store)


@pytest.mark.parametrize("name", ["vectors-00001.npy", "ids.jsonl"])
def test_a_writer_does_not_continue_a_damaged_store(store, name):
    flip(store / name, 500)
    more = [*DOCUMENTS, ("new", "a new text")]
    with pytest.raises(StoreDamagedError, match=name):
        embed_corpus(more, get_embedder("wordllama:64"), store)
    shutil.rmtree(store)


# ---------------------------------------------------------------- deleting a store


def test_removing_a_store_leaves_foreign_files(store):
    (store / "notes.txt").write_text("mine")
    remove_store(store)
    assert [file.name for file in store.iterdir()] == ["notes.txt"]


def test_a_store_that_is_being_written_is_not_removed(tmp_path):
    embedder = get_embedder("wordllama:64")
    folder = tmp_path / "v"

    def intruding():
        yield DOCUMENTS[0]
        with pytest.raises(StoreInUseError, match="another process is writing"):
            remove_store(folder)
        yield DOCUMENTS[1]

    assert embed_corpus(intruding(), embedder, folder).complete
    remove_store(folder)
    assert not folder.exists()


def test_a_disk_that_can_only_be_read_is_named(tmp_path, monkeypatch):
    def refuse(*_, **__):  # root may write anywhere
        raise PermissionError(13, "Permission denied", str(tmp_path / "v" / "lock"))

    embedder = get_embedder("wordllama:64")
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(PermissionError) as caught:
        embed_corpus(DOCUMENTS, embedder, tmp_path / "v")
    assert caught.value.filename == str(tmp_path / "v")
    assert "name another folder" in str(caught.value)


# ---------------------------------------------------------------- embedders


@pytest.fixture
def saved(tmp_path, corpus):
    embedder = TfidfSvd(4).fit(corpus)
    save_embedder(embedder, tmp_path / "e")
    return tmp_path / "e"


@pytest.mark.parametrize("name", ["embedder.json", "tfidf.json", "idf.npy", "components.npy"])
def test_a_damaged_embedder_is_refused(saved, name):
    whole = (saved / name).read_bytes()
    for damaged in (b"", whole[:-9], whole[: len(whole) // 2], b"\0" + whole, b"[" * 100_000):
        (saved / name).write_bytes(damaged)
        with pytest.raises(EmbeddingError, match="changed"):
            load_embedder(saved)
    (saved / name).unlink()
    with pytest.raises(EmbeddingError):
        load_embedder(saved)


@pytest.mark.parametrize(
    "content",
    [b"{}", b"[]", b'{"words": 3}', b'{"words": ["a"], "dimension": "x"}', b"\xff", b"null"],
)
def test_an_embedder_with_right_checksums_and_wrong_content(saved, content):
    (saved / "tfidf.json").write_bytes(content)
    reseal(saved)
    with pytest.raises(EmbeddingError, match=r"can't be read|fingerprint"):
        load_embedder(saved)


@pytest.mark.parametrize("path", ["../outside.npy", "/etc/hostname", "\0", "x" * 5000])
def test_files_outside_the_folder_are_not_looked_at(saved, path):
    header = json.loads((saved / "embedder.json").read_text())
    header["files"][path] = "0" * 64
    del header["sha256"]
    (saved / "embedder.json").write_text(json.dumps(with_checksum(header)))
    with pytest.raises(EmbeddingError, match="changed"):
        load_embedder(saved)


def reseal(folder, **changes):
    from hierseed.files import file_sha256

    header = json.loads((folder / "embedder.json").read_text()) | changes
    del header["sha256"]
    header["files"] = {name: file_sha256(folder / name) for name in header["files"]}
    (folder / "embedder.json").write_text(json.dumps(with_checksum(header)))


# ---------------------------------------------------------------- no code by file


@pytest.mark.parametrize("name", ["function:trap:spring", "function:trap:spring+windows"])
def test_a_file_does_not_choose_which_code_runs(saved, tmp_path, monkeypatch, name):
    (tmp_path / "trap.py").write_text("open('sprung', 'w')\ndef spring(texts): return 1 / 0")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    sys.modules.pop("trap", None)
    reseal(saved, name=name)
    with pytest.raises(EmbeddingError, match=r"embedder=.function:trap:spring"):
        load_embedder(saved)
    assert not (tmp_path / "sprung").exists()


def test_a_function_that_is_named_again_serves(tmp_path, monkeypatch):
    (tmp_path / "mine.py").write_text("def lengths(texts): return [[len(t), 1.0] for t in texts]")
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("mine", None)
    store = embed_corpus(DOCUMENTS, get_embedder("function:mine:lengths"), tmp_path / "v")
    assert load_embedder(store.folder).encode(["abc"]).tolist() == [[3, 1]]  # named in this Python
    monkeypatch.setattr("hierseed.embed.function.NAMED", NAMED - {"function:mine:lengths"})
    with pytest.raises(EmbeddingError, match="must not choose which code runs"):
        load_embedder(store.folder)
    again = load_embedder(store.folder, embedder="function:mine:lengths")
    assert again.encode(["abc"]).tolist() == [[3, 1]]
    with pytest.raises(EmbeddingError, match="fingerprint"):
        load_embedder(store.folder, embedder=lambda texts: [[7.0]] * len(texts))


# ---------------------------------------------------------------- finished vectors


@pytest.fixture
def vectors(tmp_path):
    import pyarrow as pa
    from pyarrow import feather, parquet

    table = pa.table({"id": ["a", "b", "c"], "v": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]})
    parquet.write_table(table, tmp_path / "v.parquet")
    feather.write_feather(table, tmp_path / "v.arrow")
    np.save(tmp_path / "v.npy", np.arange(6, dtype=np.float32).reshape(3, 2))
    return tmp_path


@pytest.mark.parametrize("name", ["v.parquet", "v.arrow", "v.npy"])
def test_damaged_vectors_are_refused_in_one_line(vectors, name):
    """Cut at every length, and with every seventh byte set: read, or one CorpusError."""
    whole = (vectors / name).read_bytes()
    other = vectors / f"other{(vectors / name).suffix}"
    refused = []
    cuts = [whole[:size] for size in range(0, len(whole), 11)]
    changed = [whole[:i] + b"\xff" + whole[i + 1 :] for i in range(0, len(whole), 7)]
    for content in cuts + changed:
        other.write_bytes(content)
        try:
            get_embedder(f"precomputed:{other}")
        except CorpusError as fault:
            refused.append(str(fault))
    assert len(refused) >= len(cuts)
    assert not any("\n" in message for message in refused)
