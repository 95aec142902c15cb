"""Faults as the pages word them: of the library, of the disk and of the project file."""

from __future__ import annotations

import errno
import sqlite3

from hierseed.errors import HierSeedError
from hierseed.io.records.rows import Faults

FULL = (errno.ENOSPC, errno.EDQUOT)
FIELDS = {
    "encoding": "a copy of the file in UTF-8",
    "id": "'Ids are in' on the page Load",
    "text": "'Text is in' on the page Load",
    "embedder": "{value} under 'Embedder' on the page Fit",
    "method": "the method {value} on the page Fit",
    "seeds_from_names": "'Use the name and description' on the page Fit",
    "on_error": "the button that loads the other rows",
}


def worded(fault: Exception) -> str:
    """Message and advice of a fault, for a person in front of a page."""
    return fault.worded(wording) if isinstance(fault, HierSeedError) else str(fault)


def fault_lines(faults: Faults) -> list[str]:
    """Faults of rows, for a page."""
    return [worded(fault) for fault in faults.errors(HierSeedError)]


def left_out(faults: Faults) -> str:
    """How many rows were left out, and why; empty if none were."""
    lines = "; ".join(fault_lines(faults))
    return f"{len(faults):,} rows left out: {lines}" if faults else ""


def wording(name: str, value: str) -> str:
    """Word a parameter as a field of a page."""
    # what no page offers is done with the command line, before the file is loaded
    spelled = f"{name}={value}" if value else name
    return FIELDS.get(name, f"`hierseed convert` ({spelled})").replace("{value}", value)


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
