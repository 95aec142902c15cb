"""Files from the browser: bounded in size, named by the server, and rewritten as UTF-8."""

from __future__ import annotations

import re
import secrets
import shutil
import time
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path, PurePosixPath

from hierseed.app.project import Project
from hierseed.app.store import loads
from hierseed.errors import CorpusError, ProjectError
from hierseed.files import atomic_file
from hierseed.io.records import READERS
from hierseed.io.records.database import ENDINGS as DATABASES
from hierseed.io.records.rows import detect_encoding, display_name
from hierseed.io.taxonomies import FORMATS

TABLES = set(READERS) - set(DATABASES)  # a database asks for a table, which no field here names
ENDINGS = sorted({*TABLES, *(one for form in FORMATS.values() for one in form.endings)})
TOKEN = re.compile(r"[A-Za-z0-9_-]{8,64}(\.[a-z0-9]{1,8}){1,2}")
MOST = 2 * 2**30  # bytes
KEPT = 24 * 3600  # seconds that a file nobody used is kept
UNFOLDED = 2**30  # bytes of an Excel workbook when unpacked
SUSPICIOUS, RATIO = 100 * 2**20, 60  # more than this, and packed tighter than real sheets are
PLAIN = (".csv", ".tsv", ".tab", ".jsonl", ".ndjson", ".json", ".txt", ".md", ".yaml", ".yml")
CHUNK = 2**20


def folder(project: Project) -> Path:
    """The folder of uploads that are not loaded yet."""
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
    unfinished = loads.unfinished(project)
    sweep(place, {Path(unfinished.arguments["file"]).name} if unfinished else set())
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
        refuse_bomb(target, name)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
    return token


def refuse_bomb(file: Path, name: str) -> None:
    """Refuse a packed workbook that would unpack to more than this computer should hold.

    A zip file says how large its parts are, and no reader takes more than that.
    """
    if file.suffix not in (".xlsx", ".xlsm"):
        return
    try:
        with zipfile.ZipFile(file) as archive:
            size = sum(part.file_size for part in archive.infolist())
    except (zipfile.BadZipFile, OSError):
        return  # the reader says what is wrong with it
    packed = max(file.stat().st_size, 1)
    if size > UNFOLDED or (size > SUSPICIOUS and size / packed > RATIO):
        raise CorpusError(
            f"{name} unpacks from {packed / 2**20:,.1f} to {size / 2**20:,.0f} MB, which no "
            "ordinary workbook does. Save it as CSV and bring that"
        )


def find_upload(project: Project, token: str) -> Path:
    """The file behind a token; anything that is no token is refused."""
    file = folder(project) / token if TOKEN.fullmatch(str(token)) else None
    if file is None or not file.is_file():
        raise ProjectError("the file is gone. Choose it again")
    return file


def sweep(place: Path, needed: set[str]) -> None:
    """Remove what was left by visits that ended, but not what an unfinished load needs."""
    for file in place.iterdir():
        if file.name not in needed and time.time() - file.stat().st_mtime > KEPT:
            file.unlink(missing_ok=True)


def to_utf8(file: Path) -> str:
    """Rewrite an uploaded text file as UTF-8 where it is not; return a sentence about it, or ""."""
    if file.suffix.lower() not in PLAIN:
        return ""
    encoding = detect_encoding(file)
    if encoding == "utf-8":
        return ""
    with (
        atomic_file(file) as partial,
        file.open(encoding=encoding, errors="replace", newline="") as source,
        partial.open("w", encoding="utf-8", newline="") as target,
    ):
        shutil.copyfileobj(source, target, CHUNK)
    return (
        f"The file is not UTF-8; it was read as {display_name(encoding)}. Look at letters with "
        "accents below: if they are wrong, save the file as UTF-8 and bring it again"
    )
