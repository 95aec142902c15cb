"""Nothing half-written, nothing foreign deleted, nothing left behind."""

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hierseed import files
from hierseed.files import atomic_file, atomic_folder, check_folder
from hierseed.io.model_bundle import write_sealed


def names(folder: Path) -> list[str]:
    return sorted(item.name for item in folder.iterdir())


def break_off(writing: AbstractContextManager[Path], fault: type[BaseException]) -> None:
    with writing as partial:
        (partial / "model.json" if partial.is_dir() else partial).write_text("half")
        raise fault


def test_a_file_appears_only_when_the_block_ends_well(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    with atomic_file(target) as partial:
        partial.write_text("new")
        assert partial.suffix == ".csv"
        assert not target.exists()
        number = partial.stat().st_ino
    assert target.read_text() == "new"
    assert target.stat().st_ino == number  # renamed, not copied: a copy can be met half-way
    assert names(tmp_path) == ["table.csv"]


@pytest.mark.parametrize("fault", [ValueError, KeyboardInterrupt])
def test_a_fault_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, fault: type[BaseException]
) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old")
    with pytest.raises(fault):
        break_off(atomic_file(target), fault)
    assert target.read_text() == "old"
    assert names(tmp_path) == ["table.csv"]


def test_rights_and_links_are_kept(tmp_path: Path) -> None:
    real = tmp_path / "real.txt"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.txt"
    link.symlink_to(real)
    with atomic_file(link) as partial:
        partial.write_text("new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_new_file_has_the_rights_of_any_new_file(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("")
    with atomic_file(tmp_path / "ours") as partial:
        partial.write_text("")
    assert (tmp_path / "ours").stat().st_mode == plain.stat().st_mode


def test_a_missing_folder_is_reported_before_the_work(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="folder does not exist"):
        atomic_file(tmp_path / "absent" / "table.csv").__enter__()
    with pytest.raises(IsADirectoryError, match="a folder has this name"):
        atomic_file(tmp_path).__enter__()


@pytest.mark.parametrize("write", [atomic_file, atomic_folder])
def test_a_folder_that_is_read_only_is_reported_in_the_users_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Any
) -> None:
    def refuse(*_: Any, **__: Any) -> None:  # root, who runs these tests in CI, may write anywhere
        raise PermissionError(13, "Permission denied", str(tmp_path / ".x.partial"))

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(PermissionError) as caught, write(tmp_path / "model"):
        pass
    assert caught.value.filename == str(tmp_path / "model")
    assert "its folder can't be written to (Permission denied)" in str(caught.value)


def test_a_folder_is_replaced_as_a_whole(tmp_path: Path) -> None:
    target = tmp_path / "model"
    for generation in ("one", "two"):
        with atomic_folder(target, marker="model.json") as partial:
            (partial / generation).touch()
            write_sealed(
                partial / "model.json",
                format="f",
                version=1,
                content={},
                arrays={},
                files=[generation],
            )
    assert names(target) == ["model.json", "two"]
    assert names(tmp_path) == ["model"]


def test_two_renames_do_where_the_system_has_no_exchange(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files.ctypes, "CDLL", lambda *a, **k: object())
    test_a_folder_is_replaced_as_a_whole(tmp_path)


def test_a_fault_leaves_the_old_folder(tmp_path: Path) -> None:
    target = tmp_path / "model"
    target.mkdir()
    (target / "model.json").write_text("old")
    with pytest.raises(RuntimeError):
        break_off(atomic_folder(target, marker="model.json"), RuntimeError)
    assert (target / "model.json").read_text() == "old"
    assert names(tmp_path) == ["model"]


def test_a_block_inside_another_leaves_the_rename_to_the_outer_one(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "model") as outer:
        with atomic_folder(outer) as inner:
            (inner / "model.json").touch()
        (outer / "more.json").touch()
        assert not (tmp_path / "model").exists()
    assert names(tmp_path / "model") == ["model.json", "more.json"]


def test_a_folder_with_other_files_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis.docx").write_text("years of work")
    with pytest.raises(FileExistsError, match="other files"):
        atomic_folder(tmp_path, marker="model.json").__enter__()
    assert (tmp_path / "thesis.docx").exists()


@pytest.mark.parametrize("name", ["notes.txt", "docs.csv", "mine.npy", "a/b.json", "link"])
def test_a_model_folder_with_a_file_of_yours_is_never_replaced(tmp_path: Path, name: str) -> None:
    target = tmp_path / "model"
    arrays = {"vectors": np.ones(3)}
    for _ in range(2):  # our own files may be replaced
        with atomic_folder(target, marker="model.json") as partial:
            (partial / "deep").mkdir()
            for file in (partial / "model.json", partial / "deep" / "more.json"):
                write_sealed(file, format="f", version=1, content={}, arrays=arrays)
    (target / ".DS_Store").touch()  # a Mac leaves these everywhere
    check_folder(target, marker="model.json")
    (target / name).parent.mkdir(exist_ok=True)
    if name == "link":
        (target / name).symlink_to("/nowhere")
    else:
        (target / name).write_text('{"arrays": {"x": 1}}')
    with pytest.raises(FileExistsError, match=rf"did not write \('{name}'\)"):
        check_folder(target, marker="model.json")
    with pytest.raises(FileExistsError), atomic_folder(target, marker="model.json"):
        raise AssertionError("never begun")
    assert os.path.lexists(target / name)


def test_a_file_that_appears_while_a_model_is_written_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "model"
    with atomic_folder(target, marker="model.json") as partial:
        (partial / "model.json").touch()
    writing = atomic_folder(target, marker="model.json")
    (writing.__enter__() / "model.json").touch()
    (target / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError):
        writing.__exit__(None, None, None)
    assert (target / "notes.txt").read_text() == "mine"


@pytest.mark.skipif(not files.LOCKS_ANYTHING, reason="leftovers are swept only with flock")
@pytest.mark.parametrize(("make", "write"), [("mkstemp", atomic_file), ("mkdtemp", atomic_folder)])
def test_a_sweep_before_the_lock_costs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: str, write: Any
) -> None:
    """Another process may sweep between the making of a partial file and its lock."""
    real, target, swept = getattr(tempfile, make), tmp_path / "out", []

    def make_and_sweep(*args: Any, **options: Any) -> Any:
        made = real(*args, **options)
        if not swept:
            files._sweep(target)
            swept.append(made)
        return made

    monkeypatch.setattr(tempfile, make, make_and_sweep)
    with write(target) as partial:
        assert partial.exists()
    assert target.exists()
    assert names(tmp_path) == ["out"]


def test_a_folder_can_be_checked_beforehand(tmp_path: Path) -> None:
    check_folder(tmp_path / "model")
    assert names(tmp_path) == []
    with pytest.raises(FileNotFoundError, match="does not exist"):
        check_folder(tmp_path / "absent" / "model")
    (tmp_path / "thesis.docx").write_text("years of work")
    with pytest.raises(FileExistsError, match="other files"):
        check_folder(tmp_path, marker="model.json")


WRITER = """
import os, sys, time
from hierseed.files import atomic_file, atomic_folder
atomic = atomic_folder if sys.argv[2] == "folder" else atomic_file
with atomic(sys.argv[1]) as partial:
    (partial / "half" if partial.is_dir() else partial).write_text("half")
    print("writing", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not files.LOCKS_ANYTHING, reason="leftovers are swept where flock exists")
@pytest.mark.parametrize("kind", ["file", "folder"])
def test_a_killed_writer_is_swept_and_a_living_one_is_not(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "out[1].csv"  # a name that would be a pattern
    write = atomic_folder if kind == "folder" else atomic_file
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(target), kind], stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        try:
            with write(target):
                pass
            assert any(name.startswith(".out[1]") for name in names(tmp_path))
        finally:
            os.kill(child.pid, signal.SIGKILL)
    with write(target):
        pass
    assert names(tmp_path) == ["out[1].csv"]
