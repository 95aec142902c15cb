"""Files in a folder of ours that we did not write: a folder with such files is never replaced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from hierseed.checksums import checked_object

LEFT_BY_SYSTEMS = {".DS_Store", "Thumbs.db", "desktop.ini"}  # appear by themselves
LARGEST = 1 << 30  # bytes of a JSON file that is looked into


def foreign_files(folder: Path, marker: str) -> list[str]:
    """Files that no JSON file of ours names, as paths inside the folder.

    Each JSON file that hierseed saves has its own checksum and names the files beside it.
    `marker` is ours even if it was damaged.
    """
    ours = {folder / marker}
    for file in folder.rglob("*.json"):
        ours.update(_named_by(file))
    return sorted(
        file.relative_to(folder).as_posix()
        for file in folder.rglob("*")
        if (file.is_symlink() or not file.is_dir())
        and file not in ours
        and file.name not in LEFT_BY_SYSTEMS
    )


def _named_by(file: Path) -> Iterator[Path]:
    try:
        body = checked_object(file.read_bytes()) if file.stat().st_size < LARGEST else {}
    except (OSError, ValueError):
        return
    if not body:
        return
    yield file
    for key, ending in (("arrays", ".npy"), ("files", "")):
        names = body.get(key)
        if isinstance(names, dict):
            yield from (file.parent / f"{name}{ending}" for name in names)
