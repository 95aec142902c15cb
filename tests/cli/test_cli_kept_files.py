"""What is kept on disk: never deleted by a slip, checked when it is read, or made again."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_project import FIT, Project
from typer.testing import Result

from hierseed.embed.store_writer import StoreWriter
from hierseed.embed.tfidf import TfidfSvd
from hierseed.files import file_sha256, with_checksum

Run = Callable[..., Result]


def contents(folder: Path) -> dict[str, bytes]:
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


# ---------------------------------------------------------------- a person's files


def test_a_fit_keeps_files_inside_its_output(model: Project, hierseed: Run) -> None:
    shutil.copy(model / "docs.csv", model / "model" / "docs.csv")
    (model / "model" / "notes.txt").write_text("mine")
    before = contents(model / "model")
    done = hierseed("fit", "model/docs.csv", *FIT, "-o", "model")
    assert done.exit_code == 1
    assert "files that hierseed did not write ('docs.csv', 'notes.txt')" in done.stderr
    assert contents(model / "model") == before


def test_a_fit_leaves_vectors_that_another_one_is_writing(project: Project, hierseed: Run) -> None:
    writer = StoreWriter(project / "model.vectors", TfidfSvd(3).fit(["red cat", "blue dog"]))
    with writer:
        before = contents(project / "model.vectors")
        done = hierseed("fit", "docs.csv", *FIT, "-o", "model")
        assert done.exit_code == 1
        assert "another process is writing the store" in done.stderr
        assert contents(project / "model.vectors") == before
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model")  # now they are only of another embedder
    assert done.exit_code == 0, done.stderr
    assert "holds other vectors and is replaced" in done.stderr


# ---------------------------------------------------------------- checked when read


def damage(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


@pytest.mark.parametrize("name", ["vectors-00000.npy", "ids.jsonl", "journal.jsonl", "store.json"])
def test_damaged_vectors_next_to_a_model_are_replaced(
    model: Project, hierseed: Run, name: str
) -> None:
    assert hierseed("assign", "model", "docs.csv", "-o", "whole.csv").exit_code == 0
    damage(model / "model.vectors" / name)
    done = hierseed("assign", "model", "docs.csv", "-o", "again.csv")
    assert done.exit_code == 0, done.stderr
    assert "The documents are embedded again" in done.stderr
    assert (model / "again.csv").read_text() == (model / "whole.csv").read_text()
    before = contents(model / "model")
    done = hierseed("fit", "docs.csv", *FIT, "-o", "model")
    assert done.exit_code == 0, done.stderr
    assert "model.vectors is damaged and is replaced" in done.stderr
    assert contents(model / "model") == before  # the same fit gives the same files


@pytest.mark.parametrize("name", ["vectors-00000.npy", "ids.jsonl", "journal.jsonl", "store.json"])
def test_damaged_vectors_that_were_named_are_refused(
    model: Project, hierseed: Run, name: str
) -> None:
    shutil.move(model / "model.vectors", model / "v")
    damage(model / "v" / name)
    for command in (
        ("fit", "v", *FIT[:4], "-o", "new"),
        ("assign", "model", "v", "-o", "t.csv"),
        ("embed", "docs.csv", "-o", "v", "--embedder", "wordllama:64"),
        ("fit", "docs.csv", *FIT, "-o", "new", "--vectors", "v"),
    ):
        done = hierseed(*command)
        assert done.exit_code == 1
        assert f"{name} of the vector store" in done.stderr
        assert len(done.stderr.strip().splitlines()[-1]) > 20


@pytest.mark.parametrize("name", ["embedder.json", "tfidf.json", "idf.npy", "components.npy"])
def test_a_damaged_embedder_is_refused(project: Project, hierseed: Run, name: str) -> None:
    made = hierseed("fit", "docs.csv", *FIT[:4], "--embedder", "tfidf:8", "-o", "model")
    assert made.exit_code == 0, made.stderr
    shutil.rmtree(project / "model.vectors")
    damage(next((project / "model").rglob(name)))
    done = hierseed("assign", "model", "docs.csv", "-o", "t.csv")
    assert done.exit_code == 1
    assert "changed" in done.stderr
    assert "t.csv" not in project.names()


# ---------------------------------------------------------------- no code by file


def forge(folder: Path, name: str) -> None:
    """Give an embedder another name, with right checksums everywhere."""
    header = next(folder.rglob("embedder.json"))
    body = json.loads(header.read_text()) | {"name": name}
    body = {key: value for key, value in body.items() if key != "sha256"}
    body["files"] = {file: file_sha256(header.parent / file) for file in body["files"]}
    header.write_text(json.dumps(with_checksum(body)))


@pytest.mark.parametrize("command", ["assign", "suggest", "report", "fit"])
def test_a_model_does_not_choose_which_code_runs(
    model: Project, hierseed: Run, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    (model / "trap.py").write_text("open('sprung', 'w')\ndef spring(texts): return 1 / 0")
    monkeypatch.syspath_prepend(str(model.folder))
    forge(model / "model", "function:trap:spring")
    forge(model / "model.vectors", "function:trap:spring")
    (model / "new.csv").write_text("id,text\nx,a new text\ny,another one\n")
    (model / "own.csv").write_text("text,topic\na text of mine,Cats\n")
    arguments = {
        "assign": ("model", "new.csv", "-o", "t.csv"),
        "suggest": ("model", "new.csv", "-o", "t.csv"),
        "report": ("model", "new.csv", "-o", "t.html"),
        "fit": ("model.vectors", *FIT[:4], "--seeds", "own.csv", "-o", "other"),
    }
    done = hierseed(command, *arguments[command])
    assert done.exit_code == 1
    assert "must not choose which code runs" in done.stderr
    assert "sprung" not in model.names()


# ---------------------------------------------------------------- the same files


def test_two_identical_fits_give_identical_folders(project: Project, hierseed: Run) -> None:
    for folder in ("a", "b"):
        (project / folder).mkdir()
        done = hierseed("fit", "docs.csv", *FIT, "-o", f"{folder}/model")
        assert done.exit_code == 0, done.stderr
    assert contents(project / "a") == contents(project / "b")


def test_a_function_that_is_named_again_runs(
    project: Project, hierseed: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "mine.py").write_text(
        "def count(texts): return [[t.count('a'), t.count('e'), len(t)] for t in texts]"
    )
    monkeypatch.syspath_prepend(str(project.folder))
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # of another test
    named = ("--embedder", "function:mine:count")
    done = hierseed("fit", "docs.csv", *FIT[:4], *named, "-o", "model")
    assert done.exit_code == 0, done.stderr
    (project / "new.csv").write_text("id,text\nx,a new text\ny,another one\n")
    monkeypatch.setattr("hierseed.embed.function.NAMED", set())  # as in a process of its own
    assert hierseed("assign", "model", "new.csv", "-o", "t.csv").exit_code == 1
    done = hierseed("assign", "model", "new.csv", "-o", "t.csv", *named)
    assert done.exit_code == 0, done.stderr
