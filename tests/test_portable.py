"""What works on Linux works on macOS and Windows: encodings, line ends, locks, renames."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

import hierseed
from hierseed import files
from hierseed.files import atomic_file, atomic_folder

PACKAGES = [Path(hierseed.__file__).parent, Path(__file__).parents[1] / "bench" / "src"]
UNIX_ONLY = {"fcntl", "grp", "posix", "pwd", "resource", "termios"}
HANDLES = Path("/proc/self/fd")


def calls():
    """Every call of a method or function in the sources, with its place."""
    for package in PACKAGES:
        for path in sorted(package.rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Call):
                    name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                    yield f"{path.name}:{node.lineno}", name, node


def mode_of(node):
    given = [word.value for word in node.keywords if word.arg == "mode"] + node.args
    texts = [one.value for one in given if isinstance(one, ast.Constant)]
    modes = [text for text in texts if isinstance(text, str) and set(text) <= set("rwaxbt+")]
    return modes[0] if modes else "r"


def test_text_is_read_and_written_in_a_named_encoding_with_named_line_ends():
    """Windows would take a code page, and would write each line end as two bytes."""
    faults = []
    for place, name, node in calls():
        words = {word.arg for word in node.keywords}
        on_path = isinstance(node.func, ast.Attribute)
        opens = name == "open" and (not on_path or "encoding" in words or mode_of(node) != "r")
        if name == "write_text" or (opens and mode_of(node) in ("w", "a", "x")):
            wanted = {"encoding", "newline"}
        elif (name == "read_text" and not node.args) or (opens and mode_of(node) == "r"):
            wanted = {"encoding"}
        else:
            continue
        if not wanted <= words:
            faults.append(f"{place} {name} without {', '.join(sorted(wanted - words))}")
    assert not faults, "\n".join(faults)


def test_modules_of_unix_are_imported_only_where_their_absence_is_caught():
    faults = []
    for package in PACKAGES:
        for path in package.rglob("*.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            caught = {
                id(child)
                for node in ast.walk(tree)
                if isinstance(node, ast.Try)
                for child in ast.walk(node)
            }
            for node in ast.walk(tree):
                if isinstance(node, ast.Import) and id(node) not in caught:
                    names = UNIX_ONLY & {alias.name for alias in node.names}
                    faults += [f"{path.name}:{node.lineno} {name}" for name in names]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("command", [["--help"], ["embedders"], ["evaluate", "--help"]])
def test_output_to_a_code_page_has_marks_and_no_traceback(command):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    code = [sys.executable, "-c", "from hierseed.cli import main; main()", *command]
    done = subprocess.run(code, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def renames(monkeypatch):
    """Whether anything is open in what is renamed, which Windows refuses; nothing is locked."""
    monkeypatch.setattr(files, "LOCKS_ANYTHING", False)
    monkeypatch.setattr(files, "_swap", lambda one, other: False)
    found: list[str] = []

    def looking(name):
        real = getattr(os, name)

        def rename(source, target):
            for handle in HANDLES.iterdir():
                place = os.path.realpath(handle)
                if place == str(source) or place.startswith(f"{source}{os.sep}"):
                    found.append(place)
            real(source, target)

        monkeypatch.setattr(os, name, rename)

    looking("rename")
    looking("replace")
    return found


@pytest.mark.skipif(not HANDLES.is_dir(), reason="open files are listed in /proc only on Linux")
def test_nothing_is_open_in_what_is_renamed(renames, tmp_path):
    for text in ("old", "new"):
        with atomic_file(tmp_path / "one.txt") as partial:
            partial.write_text(text)
        with atomic_folder(tmp_path / "model", marker="model.json") as folder:
            (folder / "model.json").write_text(text)
    assert (tmp_path / "one.txt").read_text() == "new"
    assert (tmp_path / "model" / "model.json").read_text() == "new"
    assert sorted(os.listdir(tmp_path)) == ["model", "one.txt"]
    assert not renames
