"""Tables that we wrote, known by their checksum: one that a person changed is not replaced.

The checksums are kept in the user's folder for caches, one small file for each table. Where that
folder can't be written to, every table that is there counts as changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path

from hierseed.checksums import file_sha256
from hierseed.embed.home import model_home


def remember_written(target: Path, partial: Path) -> None:
    """Note the checksum of a table before it gets its name.

    The checksum of the table that it replaces is kept too: whichever of the two a kill leaves under
    the name is known as ours.
    """
    with contextlib.suppress(OSError):
        note = _note(target)
        note.parent.mkdir(parents=True, exist_ok=True)
        draft = note.with_name(f"{note.name}.{os.getpid()}")
        kept = _known(target)[-1:]
        draft.write_text("\n".join([*kept, file_sha256(partial)]), encoding="utf-8", newline="\n")
        draft.replace(note)


def is_as_written(file: Path) -> bool:
    """True if we wrote the file and nobody has changed it since."""
    with contextlib.suppress(OSError):
        return file_sha256(file) in _known(file)
    return False


def _known(file: Path) -> list[str]:
    try:
        return _note(file).read_text(encoding="utf-8").split()
    except (OSError, UnicodeDecodeError):
        return []


def _note(file: Path) -> Path:
    name = hashlib.sha256(os.fsencode(os.path.realpath(file))).hexdigest()[:32]
    return model_home() / "written" / name
