"""Failures of the disk and of the project file, in words that say what to do."""

from __future__ import annotations

import errno
import sqlite3

FULL = (errno.ENOSPC, errno.EDQUOT)


def explain_failure(fault: OSError | sqlite3.Error) -> str:
    """One sentence for a person: what happened, and what to do."""
    code = getattr(fault, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_FULL or getattr(fault, "errno", None) in FULL:
        return "Not saved: the disk is full. Make room, then do it again."
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return (
            "The project file is damaged. Stop the workbench, and continue with the last copy: a "
            "file named .backup-… or in the folder backups beside it."
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return "Not saved: another program holds the project file. Try it again."
    if isinstance(fault, sqlite3.Error):
        return f"Not saved: the project file could not be written ({fault})."
    where = f" ({fault.filename})" if fault.filename else ""
    return f"That did not work: {fault.strerror or fault}{where}."
