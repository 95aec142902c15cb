"""Files that arrive from the browser: bounded, under a name of ours, never a path of theirs."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath

from hierseed.app.project import Project
from hierseed.errors import CorpusError, ProjectError
from hierseed.io.records import READERS
from hierseed.io.taxonomies import FORMATS

ENDINGS = sorted({*READERS, *(one for form in FORMATS.values() for one in form.endings)})
TOKEN = re.compile(r"[A-Za-z0-9_-]{8,64}(\.[a-z0-9]{1,8}){1,2}")
MOST = 2 * 2**30  # bytes
KEPT = 24 * 3600  # seconds that a file nobody used is kept


def folder(project: Project) -> Path:
    """Where uploads lie until they are taken over."""
    place = project.folder / "uploads"
    place.mkdir(exist_ok=True)
    return place


def ending(name: str) -> str:
    """The ending of a file's name, `.gz` included; one that no reader knows is refused."""
    lower = PurePosixPath(name.replace("\\", "/")).name.lower()
    packed = ".gz" if lower.endswith(".gz") else ""
    last = PurePosixPath(lower.removesuffix(".gz")).suffix
    if last not in ENDINGS:
        raise CorpusError(
            f"files that end in {last or 'nothing'!r} can't be read. Bring one of: "
            + " ".join(ENDINGS)
        )
    return last + packed


async def receive(
    project: Project, name: str, chunks: AsyncIterator[bytes], most: int = MOST
) -> str:
    """Write what arrives; return the token that stands for the file."""
    token = secrets.token_urlsafe(16) + ending(name)
    place = folder(project)
    sweep(place)
    target = place / token
    size = 0
    try:
        with target.open("xb") as file:
            async for chunk in chunks:
                size += len(chunk)
                if size > most:
                    raise CorpusError(
                        f"{name} is larger than {most / 2**20:,.0f} MB. Load it with the command "
                        "line, or start the workbench with a higher --max-upload"
                    )
                file.write(chunk)
        if size == 0:
            raise CorpusError(f"{name} is empty")
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return token


def find_upload(project: Project, token: str) -> Path:
    """The file behind a token; anything that is no token is refused."""
    file = folder(project) / token if TOKEN.fullmatch(str(token)) else None
    if file is None or not file.is_file():
        raise ProjectError("the file is gone. Choose it again")
    return file


def sweep(place: Path) -> None:
    """Remove what was left by visits that ended."""
    for file in place.iterdir():
        if time.time() - file.stat().st_mtime > KEPT:
            file.unlink(missing_ok=True)
