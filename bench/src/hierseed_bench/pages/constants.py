"""The table of constants of the default method, read from the code so that none is missing."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from importlib import import_module

from hierseed_bench.tables.markdown import Table

CONSTANTS = {  # those that a result depends on; the others are for speed and rounding
    "sample": ("SAMPLE",),
    "neighbours": ("REFERENCES", "NEIGHBOURS", "WIDTH", "WHITENING", "OWN", "DROP"),
    "left_out": ("MOST",),
    "belonging": ("LEAST_SEEDS", "ROUNDS", "TAIL", "SIGNIFICANT", "CLEAR", "NOWHERE"),
    "membership": ("LEAST",),
    "em": ("START", "PULL", "SIZE_PRIOR", "ROUNDS"),
    "variance_components": ("USUAL", "TRUST"),
    "hold_out": ("ROUNDS", "NARROW", "PLENTY"),
    "calibration": ("USUAL", "LONE", "BELIEF"),
    "curve": ("BELIEF", "LEAST_SLOPE"),
    "placement": ("SAMPLE",),
}  # fmt: skip


def constants() -> Table:
    """Return module, name, value and comment of each constant."""
    rows = []
    for part, names in CONSTANTS.items():
        module = import_module(f"hierseed.core.mixture.{part}")
        source = inspect.getsource(module)
        for name in names:
            comment = re.search(rf"^{name}\b[^#\n]*=[^#\n]*#\s*(.+)$", source, re.MULTILINE)
            value = str(getattr(module, name))
            rows.append((part, f"`{name}`", value, comment[1] if comment else ""))
    about = "Constants of `hierseed.core.mixture` that a result depends on, with their comments."
    return Table("Constants", about, ("module", "name", "value", "meaning"), tuple(rows))


TABLES: dict[str, Callable[[], Table]] = {"method-constants": constants}
