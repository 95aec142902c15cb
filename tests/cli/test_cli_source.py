"""Vectors are made once, and those of a fit are never lost to another corpus."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from cli_project import FIT, Project
from typer.testing import Result

from hierseed import load
from hierseed.embed.store import VectorStore

Run = Callable[..., Result]


def test_the_corpus_of_the_fit_finds_its_vectors(model: Project, hierseed: Run) -> None:
    before = model.names()
    done = hierseed("suggest", "model", "docs.csv", "--json")
    assert "48 documents, found in model.vectors" in done.stderr
    assert model.names() == before


def test_another_corpus_leaves_the_vectors_of_the_fit_alone(model: Project, hierseed: Run) -> None:
    before = {file.name: file.read_bytes() for file in (model / "model.vectors").glob("*.*")}
    more = [*model.documents[:5], ("new", "the hound and the kennel")]
    other = [(id, text.upper()) for id, text in model.documents]
    for name, rows in [("more.csv", more), ("other.csv", other)]:
        text = "".join(f'{id},"{text}"\n' for id, text in rows)
        (model / name).write_text("id,text\n" + text)
        assert hierseed("suggest", "model", name, "-q").exit_code == 0
        made = VectorStore(model / f"model.{name[:-4]}.vectors")
        assert made.ids == [id for id, _ in rows]
    assert {
        file.name: file.read_bytes() for file in (model / "model.vectors").glob("*.*")
    } == before


def test_documents_of_the_fit_are_known_in_any_order(model: Project) -> None:
    saved, before = load(model / "model"), model.names()
    there = saved.place(model / "docs.csv")
    rows = "".join(f'{id},"{text}"\n' for id, text in model.documents[::-2])
    (model / "some.csv").write_text("id,text\n" + rows)
    some = saved.place(model / "some.csv")
    np.testing.assert_array_equal(some.X[:], there.X[:][::-2])
    assert model.names() == sorted([*before, "some.csv"])


def test_finished_vectors_go_by_document_and_never_by_place(
    project: Project, hierseed: Run
) -> None:
    hierseed("embed", "docs.csv", "--embedder", "wordllama:64", "-o", "made")
    np.save(project / "v.npy", VectorStore(project / "made")[:].astype(np.float32))
    given = (*FIT[:4], "--embedder", "precomputed:v.npy")
    assert hierseed("fit", "docs.csv", *given, "-o", "model").exit_code == 0
    lines = (project / "docs.csv").read_text().splitlines()
    (project / "turned.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    for name in ("docs", "turned"):
        done = hierseed("assign", "model", f"{name}.csv", "-o", f"{name}.placed.csv")
        assert done.exit_code == 0, done.stderr
    straight, turned = (
        (project / f"{name}.placed.csv").read_text().splitlines() for name in ("docs", "turned")
    )
    assert turned[:0:-1] == straight[1:]
    assert hierseed("suggest", "model", "turned.csv", "--json").stdout == (
        hierseed("suggest", "model", "docs.csv", "--json").stdout
    )
    (project / "new.csv").write_text("id,text\nnew,the hound and the kennel\n")
    for command in ("assign", "suggest"):
        done = hierseed(command, "model", "new.csv", "-o", "t.csv")
        assert done.exit_code == 1
        assert "can't embed new text" in done.stderr


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nothing be written in a folder; root, who may write anywhere, mounts it so."""
    if os.geteuid():
        folder.chmod(0o555)
        yield
        folder.chmod(0o755)
        return
    mount = ["mount", "--bind", str(folder), str(folder)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting a folder to be read only is not allowed here")
    try:
        again = ["mount", "-o", "remount,ro,bind", str(folder)]
        if subprocess.run(again, capture_output=True).returncode:
            pytest.skip("mounting a folder to be read only is not allowed here")
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_model_that_can_only_be_read_serves_reports_and_suggestions(
    model: Project, hierseed: Run, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "new.csv").write_text("id,text\n1,the hound\n2,the loaf\n3,the tomcat\n")
    with read_only(model.folder):
        os.chdir(other)
        for corpus, kept in ((model / "docs.csv", False), (other / "new.csv", True)):
            done = hierseed("suggest", model / "model", corpus, "-o", other / "t.csv")
            assert done.exit_code == 0, done.stderr
            assert ("the vectors are not saved" in done.stderr) is kept
            (other / "t.csv").unlink()
    assert [file.name for file in other.iterdir()] == ["new.csv"]
