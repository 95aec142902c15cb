"""The projects that a server offers: one file, or all projects of a folder."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hierseed.app import backups, jobs
from hierseed.app.project import ENDING, Project
from hierseed.errors import ProjectError

FORBIDDEN = re.compile(r'[\\/:*?"<>|\x00-\x1f]|^\.|[. ]$')  # in names of files, on any system
LONGEST = 80  # letters of a name


class Projects:
    """Projects by name, each opened when it is first asked for.

    Parameters
    ----------
    place : a project file, or a folder with any number of them
    """

    def __init__(self, place: Path) -> None:
        self.folder = place if place.is_dir() else None
        self._opened: dict[str, Project] = {}
        self._lock = threading.Lock()
        self._closing = contextlib.ExitStack()
        self._only = "" if self.folder else self._open(place).name

    def get(self, name: str = "") -> Project:
        """Return a project by its name; the only one where one file is served."""
        name = self._only or name
        if name in self._opened:  # without the lock, as another project may take long to open
            return self._opened[name]
        with self._lock:
            if name in self._opened:
                return self._opened[name]
            if name not in self.names():
                raise ProjectError(f"there is no project {name!r} in {self.folder}")
            assert self.folder is not None
            return self._open(self.folder / f"{name}{ENDING}")

    def names(self) -> list[str]:
        """Names of all projects; only these are ever opened, never a path that someone sends."""
        if self.folder is None:
            return [self._only]
        return sorted(file.stem for file in self.folder.glob(f"*{ENDING}") if file.is_file())

    def create(self, name: str) -> str:
        """Make an empty project in the folder, and return its name."""
        name = " ".join(name.split()).removesuffix(ENDING)
        if self.folder is None:
            raise ProjectError("this server has one project. Serve a folder to have several")
        if not name or FORBIDDEN.search(name) or len(name) > LONGEST:
            raise ProjectError("a name has letters, digits, spaces, dots and dashes, 80 at most")
        with self._lock:
            if name.lower() in map(str.lower, self.names()):
                raise ProjectError(f"there is a project {name!r} already. Choose another name")
            self._open(self.folder / f"{name}{ENDING}")
        return name

    def overview(self) -> list[dict[str, Any]]:
        """Each project with its numbers, the latest first; nothing is changed or converted."""
        assert self.folder is not None
        found = [_overview(self.folder / f"{name}{ENDING}") for name in self.names()]
        return sorted(found, key=lambda one: one["changed"], reverse=True)

    def close(self) -> None:
        """End backups and close all files."""
        self._closing.close()

    def _open(self, path: Path) -> Project:
        project = Project(path)
        jobs.mark_lost(project)
        self._closing.callback(project.close)
        self._closing.enter_context(backups.running(project))
        self._opened[project.name] = project
        return project


def _overview(path: Path) -> dict[str, Any]:
    """Numbers of a project file, read only; a fault where it can't be read."""
    files = [path, path.with_name(f"{path.name}-wal")]
    changed = max(file.stat().st_mtime for file in files if file.exists())
    facts: dict[str, Any] = {
        "name": path.stem, "changed": datetime.fromtimestamp(changed, UTC).isoformat(), "fault": "",
    }  # fmt: skip
    try:
        address = f"{path.absolute().as_uri()}?mode=ro"
        with contextlib.closing(sqlite3.connect(address, uri=True)) as db:
            row = db.execute(
                "SELECT (SELECT count(*) FROM document),"
                " (SELECT count(*) FROM topic WHERE state = 'live'),"
                " (SELECT count(*) FROM label WHERE verdict = 1 AND topic > 0),"
                " (SELECT count(*) FROM fit)"
            ).fetchone()
    except sqlite3.Error as fault:
        return facts | {"fault": f"can't be read ({fault})"}
    return facts | dict(zip(("documents", "topics", "seeds", "fits"), row))
