"""How many files of the package a command passes through: those in which a function runs.

`python tests/cli/test_cli_files_passed.py fit docs.csv …` lists them for any command.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import hierseed as package

PACKAGE = Path(package.__file__).parent
NEW_LOCALS = 2  # flag of code that is a function, not the body of a module or class

# A change that needs another file raises the number, and says why it is worth it.
MOST = {"fit": 55, "assign": 40}  # 60 and 44 with compiled kernels, in large corpora


def files_passed(run: Callable[[], object]) -> dict[str, str]:
    """Return each file with the first function that ran in it; imports are not counted."""
    found: dict[str, str] = {}
    root = f"{PACKAGE}/"

    def is_import(frame: FrameType | None) -> bool:
        while frame is not None:
            code = frame.f_code
            if code.co_name == "<module>" and code.co_filename.startswith(root):
                return True
            frame = frame.f_back
        return False

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & NEW_LOCALS and code.co_filename.startswith(root):
            name = code.co_filename.removeprefix(root)
            if name not in found and not is_import(frame):
                found[name] = code.co_qualname

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("command", MOST)
def test_a_command_passes_few_files(command: str, model: Any) -> None:
    """In a process of its own: kernels are used once a process has processed much."""
    from cli_project import FIT

    words = {
        "fit": ("fit", "docs.csv", *FIT, "-o", "again", "-q"),
        "assign": ("assign", "model", "docs.csv", "-o", "placed.csv", "-q"),
    }
    done = subprocess.run(
        [sys.executable, __file__, *words[command]], capture_output=True, text=True, check=True
    )
    *passed, last = done.stdout.strip().split("\n")
    rooms = Counter(line.split()[0].partition("/")[0] for line in passed)
    assert last == f"{len(passed)} files"
    assert len(passed) <= MOST[command], f"{len(passed)} files, by room: {dict(rooms)}"


if __name__ == "__main__":
    from hierseed.cli.app import make_app

    arguments = sys.argv[1:]
    app = make_app({arguments[0]})
    found = files_passed(lambda: app(arguments, standalone_mode=False))
    for name in sorted(found):
        print(f"{name:<45} {found[name]}")
    print(f"{len(found)} files")
