"""Copies of the project file, made automatically while the workbench runs."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from hierseed.app.project import Project

EVERY = 15 * 60  # seconds between two copies
KEPT = 12  # copies; the oldest ones go
ROOM = 2 * 2**30  # bytes that all copies may take; two are always kept


def folder(project: Project) -> Path:
    """The folder of the copies."""
    place = project.folder / "backups"
    place.mkdir(exist_ok=True)
    return place


def make(project: Project) -> Path | None:
    """Copy the project file as a consistent snapshot; None where nothing changed since."""
    place = folder(project)
    state = repr(project.pulse())
    mark = place / "last.txt"
    if mark.is_file() and mark.read_text(encoding="utf-8") == state:
        return None
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%f")
    target = place / f"{project.name}-{stamp}{project.path.suffix}"
    partial = target.with_suffix(".part")
    copy = sqlite3.connect(partial)
    try:
        project.db.backup(copy, pages=1_000, sleep=0.001)
    finally:
        copy.close()
    partial.replace(target)
    mark.write_text(state, encoding="utf-8", newline="\n")
    kept = max(2, min(KEPT, ROOM // max(target.stat().st_size, 1)))
    for old in sorted(place.glob(f"*{project.path.suffix}"))[:-kept]:
        old.unlink(missing_ok=True)
    return target


@contextlib.contextmanager
def running(project: Project, every: float = EVERY) -> Iterator[None]:
    """Make copies now and then, while the block runs."""
    done = threading.Event()

    def work() -> None:
        own = Project(project.path)  # a thread has its own connection, and closes it
        while True:
            with contextlib.suppress(OSError, sqlite3.Error):  # tried again next time
                make(own)
            if done.wait(every):
                break
        own.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(timeout=30)
