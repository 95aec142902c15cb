"""Tables that we wrote, known by their checksum: one that a person changed is not replaced.

The checksums are kept in the user's folder for caches, one small file each. Where that folder can't
be written to, every table that is there counts as changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from hierseed.checksums import file_sha256
from hierseed.embed.home import model_home


def remember_written(file: Path) -> None:
    """Note the checksum of a table that was just written."""
    with contextlib.suppress(OSError):
        note = _note(file)
        note.parent.mkdir(parents=True, exist_ok=True)
        note.write_text(file_sha256(file), encoding="utf-8")


def is_as_written(file: Path) -> bool:
    """True if we wrote the file and nobody has changed it since."""
    try:
        return _note(file).read_text(encoding="utf-8") == file_sha256(file)
    except (OSError, UnicodeDecodeError):
        return False


def _note(file: Path) -> Path:
    name = hashlib.sha256(os.fsencode(os.path.realpath(file))).hexdigest()[:32]
    return model_home() / "written" / name
