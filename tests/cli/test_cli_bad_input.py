"""Bad input and bad luck: one clear message, nothing lost, nothing half-written."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from cli_project import FIT, Project, heed_ctrl_c
from typer.testing import Result

Run = Callable[..., Result]
HIERSEED = [sys.executable, "-c", "from hierseed.cli import main; main()"]
TRUSTING = """
from hierseed.cli import main
from hierseed.embed import get_embedder
get_embedder("function:slow:encode")  # a model must not choose which code runs
main()
"""
ASSIGN = [sys.executable, "-c", TRUSTING, "assign"]

# An embedder that stops in its third call for as long as the named pipe `gate` exists,
# and says so by writing to it: the moment to pull the plug.
SLOW = """
import os, time
import numpy as np
calls = 0
def encode(texts):
    global calls
    calls += 1
    if os.path.exists("gate") and calls == 3:
        with open("gate", "w") as gate:
            gate.write("here")
        time.sleep(60)
    return np.array([[len(t), t.count("a"), t.count("e"), t.count("o")] for t in texts], float)
"""


@pytest.fixture
def slow(project: Project, hierseed: Run, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A model over an embedder that waits, and a corpus of three chunks."""
    (project / "slow.py").write_text(SLOW)
    monkeypatch.syspath_prepend(str(project.folder))
    sys.modules.pop("slow", None)
    done = hierseed(
        "fit", "docs.csv", *FIT[:4], "--embedder", "function:slow:encode", "-o", "model"
    )
    assert done.exit_code == 0, done.stderr
    rows = "".join(f"d{i},{'aeo'[i % 3] * (i % 9 + 1)}\n" for i in range(9000))
    (project / "many.csv").write_text("id,text\n" + rows)
    (project / "placed.csv").write_text("the old table\n")
    return project


def assign(project: Project, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*ASSIGN, "model", "many.csv", "-o", "placed.csv", *more],
        cwd=project.folder,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_ctrl_c,
    )


@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGINT])
def test_stopped_in_the_middle_of_assign(slow: Project, sent: signal.Signals) -> None:
    before = slow.names()
    os.mkfifo(slow / "gate")
    with assign(slow) as child:
        assert (slow / "gate").read_text() == "here"  # one chunk is written, the next is not
        os.kill(child.pid, sent)
        _, said = child.communicate(timeout=600)
    (slow / "gate").unlink()
    assert (slow / "placed.csv").read_text() == "the old table\n"
    if sent != signal.SIGKILL:
        assert child.returncode == 130
        assert said.endswith(
            "hierseed assign: stopped. No file is incomplete; run it again to resume\n"
        )
        assert slow.names() == before
        return
    with assign(slow) as child:  # the next run sweeps up what a killed one had to leave
        _, said = child.communicate(timeout=600)
    assert child.returncode == 0, said
    assert [name for name in slow.names() if name != "__pycache__"] == before
    assert len(pd.read_csv(slow / "placed.csv").drop_duplicates("id")) == 9000


def test_a_full_disk(slow: Project) -> None:
    """No file may grow beyond 200 kB: what a full disk does, without a disk to fill."""
    before = slow.names()
    with subprocess.Popen(
        [*ASSIGN, "model", "many.csv", "-o", "placed.csv", "-q"],
        cwd=slow.folder,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000)),
    ) as child:
        _, said = child.communicate(timeout=600)
    assert child.returncode == 1
    assert said.startswith("hierseed assign: ")
    assert "too large" in said.lower() or "space" in said.lower()
    assert len(said.strip().split("\n")) == 1
    assert (slow / "placed.csv").read_text() == "the old table\n"
    assert slow.names() == before


def test_a_really_full_disk(slow: Project, tmp_path_factory: pytest.TempPathFactory) -> None:
    small = tmp_path_factory.mktemp("small")
    command = ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(small)]
    if not shutil.which("mount") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a small disk is not allowed here")
    try:
        done = subprocess.run(
            [*ASSIGN, "model", "many.csv", "-o", str(small / "placed.csv"), "-q"],
            cwd=slow.folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 1
        assert "No space left on device. Free some space" in done.stderr
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", str(small)], check=True)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_can_not_be_written_to(model: Project, hierseed: Run) -> None:
    (model / "locked").mkdir(mode=0o555)
    done = hierseed("assign", "model", "docs.csv", "-o", "locked/t.csv")
    assert done.exit_code == 1
    assert "Permission denied" in done.stderr


def test_an_output_that_would_bury_other_files(project: Project, hierseed: Run) -> None:
    (project / "thesis").mkdir()
    (project / "thesis" / "chapter.docx").write_text("years of work")
    done = hierseed("fit", "docs.csv", *FIT, "-o", "thesis")
    assert done.exit_code == 1
    assert "will not be replaced" in done.stderr
    assert "thesis.vectors" not in project.names()  # said before the long step
    assert hierseed("fit", "docs.csv", *FIT, "-o", "docs.csv").exit_code == 1
    assert hierseed("fit", "docs.csv", *FIT, "-o", "nowhere/model").exit_code == 1
    assert (project / "thesis" / "chapter.docx").read_text() == "years of work"


BAD: dict[str, tuple[bytes, str]] = {
    "binary.csv": (bytes(range(256)) * 10, "binary.csv is not text: byte 0 is zero"),
    "image.jsonl": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image.jsonl is not text"),
    "book.csv": (b"PK\x03\x04\x14\x00", "looks like a zip archive or an Office file"),
    "quote.csv": (b'id,text\n1,a\n2,"open\n3,b\n', "quote.csv:3: unclosed quote (opened on line 3"),
    "latin.csv": (b"id,text\n1,caf\xe9\n", "latin.csv:2: not UTF-8 (byte 0xE9 at position 6"),
    "cut.parquet": (b"PAR1....", "no Parquet file, or was cut off"),
    "empty.csv": (b"", "empty.csv is empty"),
    "columns.csv": (b"name,body\n1,a\n", "no column 'text'; its 2 columns are 'name', 'body'"),
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["check", "fit", "assign"])
def test_a_corpus_that_is_none(model: Project, hierseed: Run, command: str, name: str) -> None:
    content, said = BAD[name]
    (model / name).write_bytes(content)
    before = model.names()
    args: dict[str, tuple[str, ...]] = {
        "check": ("-c", name),
        "fit": (name, *FIT, "-o", "new"),
        "assign": ("model", name, "-o", "t.csv"),
    }
    done = hierseed(command, *args[command])
    assert done.exit_code == 1
    assert said in done.stderr
    assert model.names() == before


def test_parquet_without_the_column(model: Project, hierseed: Run) -> None:
    pd.DataFrame({"id": [1], "body": ["a"]}).to_parquet(model / "docs.parquet")
    done = hierseed("assign", "model", "docs.parquet", "-o", "t.csv")
    assert done.exit_code == 1
    assert "no column 'text'; its 2 columns are 'id', 'body'" in done.stderr
    assert (
        hierseed("assign", "model", "docs.parquet", "-o", "t.csv", "--text", "body").exit_code == 0
    )


@pytest.mark.slow
def test_a_line_of_a_gigabyte(model: Project) -> None:
    with (model / "huge.csv").open("wb") as file:
        file.write(b"id,text\n1,")
        for _ in range(1024):
            file.write(b"x" * 2**20)
        file.write(b"\n2,fine\n")
    done = subprocess.run(
        [*HIERSEED, "check", "-c", "huge.csv"], cwd=model.folder, capture_output=True, text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30)), check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "huge.csv:2: line too long (1,073,741,827 bytes" in done.stderr
    (model / "huge.csv").unlink()


def test_a_model_that_was_damaged(model: Project, hierseed: Run) -> None:
    file: Path = model / "model" / "vectors.npy"
    file.write_bytes(file.read_bytes()[:-4])
    done = hierseed("assign", "model", "docs.csv", "-o", "t.csv")
    assert done.exit_code == 1
    assert "vectors.npy was cut off or changed" in done.stderr
    assert "t.csv" not in model.names()
