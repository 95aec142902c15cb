"""How far a job is as a whole: its phases, each with the share of the time that it takes."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Mapping
from typing import Any

from hierseed.app.project import Project

KEY = "seconds_per_document"
# Seconds per document of a first fit on two cores; later ones use what the last one took.
FIRST = {
    "Turning texts into vectors": 7e-4,  # replaced by the speed of the embedder
    "Fitting": 3e-4,
    "Placing the documents": 1e-4,
    "Finding words and drawing the map": 6e-4,
    "Looking for missing topics": 3e-4,
    "Saving the fit": 1e-4,
}
SETTLED = 3.0  # seconds after which the pace of a phase replaces its estimate
LEAST = 0.3  # seconds that every phase takes, however small the corpus

OnProgress = Callable[[dict[str, Any]], None]


class JobProgress:
    """Adds the share of the whole job, and the time left, to the progress of its phases.

    Parameters
    ----------
    seconds : phases whose duration is known better than from the last fit, 0 for none at all
    """

    def __init__(
        self,
        project: Project,
        n: int,
        on_progress: OnProgress,
        *,
        seconds: Mapping[str, float] | None = None,
    ) -> None:
        known = {**FIRST, **project.get(KEY, {})}
        self.project, self.n, self.pass_on = project, max(n, 1), on_progress
        self.expected = {phase: known[phase] * self.n + LEAST for phase in FIRST}
        self.given = dict(seconds or {})
        self.expected |= self.given
        self.began: dict[str, float] = {}
        self.first: dict[str, float] = {}  # the share of a phase at its first event
        self.share = 0.0

    def update(self, event: dict[str, Any]) -> None:
        """Pass an event of a phase on, with the share of the whole."""
        phase, at = str(event.get("phase", "")), time.perf_counter()
        if phase not in self.expected:
            return self.pass_on(event)
        total = event.get("total") or 0
        inside = min(float(event.get("done") or 0) / total, 1.0) if total else 0.0
        began = self.began.setdefault(phase, at)
        first = self.first.setdefault(phase, inside)  # above 0 where an earlier run is resumed
        if at - began > SETTLED and inside > first:
            self.expected[phase] = (at - began) / (inside - first)
        phases = list(self.expected)
        here = phases.index(phase)
        before = sum(self.expected[name] for name in phases[:here])
        after = sum(self.expected[name] for name in phases[here + 1 :])
        whole = before + self.expected[phase] + after
        done = before + inside * self.expected[phase]
        spent = at - min(self.began.values())
        worked = done - sum(self.first[name] * self.expected[name] for name in self.first)
        pace = spent / worked if worked > 0.1 * whole else 1.0
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
            if phase not in self.given
        }
        self.project.put(KEY, {**self.project.get(KEY, {}), **took})
