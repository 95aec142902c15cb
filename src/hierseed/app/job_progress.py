"""How far a job is as a whole: its phases, each with the share of the time that it takes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from typing import Any

from hierseed.app.project import Project

KEY = "seconds_per_document"
# Seconds per document of a first fit on two cores; later ones use what the last one took.
FIRST = {
    "Turning texts into vectors": 7e-4,
    "Fitting": 3e-4,
    "Placing the documents": 1e-4,
    "Finding words and drawing the map": 6e-4,
    "Looking for missing topics": 3e-4,
    "Saving the fit": 1e-4,
}
LEAST = 0.3  # seconds that every phase takes, however small the corpus

OnProgress = Callable[[dict[str, Any]], None]


class JobProgress:
    """Adds the share of the whole job, and the time left, to the progress of its phases."""

    def __init__(
        self, project: Project, n: int, on_progress: OnProgress, *, skip: tuple[str, ...] = ()
    ) -> None:
        known = {**FIRST, **project.get(KEY, {})}
        self.project, self.n, self.pass_on = project, max(n, 1), on_progress
        self.expected = {
            phase: 0.0 if phase in skip else known[phase] * self.n + LEAST for phase in FIRST
        }
        self.began: dict[str, float] = {}
        self.share = 0.0

    def update(self, event: dict[str, Any]) -> None:
        """Pass an event of a phase on, with the share of the whole."""
        phase, at = str(event.get("phase", "")), time.perf_counter()
        if phase not in self.expected:
            return self.pass_on(event)
        self.began.setdefault(phase, at)
        total = event.get("total") or 0
        inside = min(float(event.get("done") or 0) / total, 1.0) if total else 0.0
        phases = list(self.expected)
        here = phases.index(phase)
        before = sum(self.expected[name] for name in phases[:here])
        after = sum(self.expected[name] for name in phases[here + 1 :])
        whole = before + self.expected[phase] + after
        done = before + inside * self.expected[phase]
        spent = at - min(self.began.values())
        pace = spent / done if done > 0.1 * whole else 1.0
        self.share = max(self.share, min(done / whole, 0.99))
        self.pass_on(
            {**event, "share": self.share, "left": (whole - done) * pace, "at_most": False}
        )

    def finish(self) -> None:
        """Remember how long each phase took, for the bar of the next fit."""
        at = time.perf_counter()
        starts = [*self.began.items(), ("", at)]
        took = {
            phase: (next_start - start) / self.n
            for (phase, start), (_, next_start) in itertools.pairwise(starts)
            if self.expected[phase]
        }
        self.project.put(KEY, {**self.project.get(KEY, {}), **took})
