"""Faults of the library as the pages word them: parameters become fields of the pages."""

from __future__ import annotations

from hierseed.errors import HierSeedError
from hierseed.io.faults import Faults

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
