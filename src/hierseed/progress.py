"""Progress events of a long job: facts, notes, and steps."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import NamedTuple

from hierseed.errors import HierSeedWarning, Wording, python_wording


class Fact(NamedTuple):
    """A result of a step, such as the size of the corpus."""

    label: str
    text: str


class Note(NamedTuple):
    """A warning; the job continues."""

    text: str
    advice: str = ""  # what to do, as in `HierSeedError`

    @classmethod
    def of(cls, warning: Warning | str) -> Note:
        """The note of a warning, with its advice if it has one."""
        if isinstance(warning, HierSeedWarning):
            return cls(warning.message, warning.advice)
        return cls(str(warning))

    def worded(self, wording: Wording = python_wording) -> str:
        """Return text and advice, with parameters as a front end writes them."""
        return HierSeedWarning(self.text, self.advice).worded(wording)


class Step(NamedTuple):
    """Progress of a step; `total` is None where it is not known."""

    name: str
    done: int
    total: int | None = None
    unit: str = "documents"


Event = Fact | Note | Step
Listener = Callable[[Event], None]


def warn_of_notes(event: Event) -> None:
    """The default listener: notes become warnings."""
    if isinstance(event, Note):
        warnings.warn(HierSeedWarning(event.text, event.advice), stacklevel=4)


def amount(count: int, unit: str, plural: str = "") -> str:
    """`1 document`, `3,045 documents`."""
    return f"{count:,} {unit if count == 1 else plural or unit + 's'}"


def duration(seconds: float) -> str:
    """`0.4 s`, `12 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes, left = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {left} s"
    return f"{minutes // 60} h {minutes % 60} min"
