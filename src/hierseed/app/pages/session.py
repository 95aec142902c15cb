"""One visitor: which screen, which topic, which fit; and what has to be drawn again."""

from __future__ import annotations

import sqlite3
from typing import Any

from hierseed.app import fits, jobs
from hierseed.app.fits import Fit
from hierseed.app.pages.export import Export
from hierseed.app.pages.fit import FitScreen
from hierseed.app.pages.load import Load
from hierseed.app.pages.review import Review
from hierseed.app.pages.screen import Screen
from hierseed.app.pages.seeds import SeedsScreen
from hierseed.app.pages.taxonomy import TaxonomyScreen
from hierseed.app.project import Project
from hierseed.app.store import documents, labels, topics
from hierseed.app.tree import path_of, tree_view
from hierseed.errors import HierSeedError, ModelError

SCREENS: list[type[Screen]] = [Load, TaxonomyScreen, SeedsScreen, FitScreen, Review, Export]


class Session:
    """The state of one tab. It knows no browser: actions go in, what to draw comes out."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.key = ""
        self.fit_id: int | None = None  # None: always the latest
        self.notes: list[dict[str, str]] = []
        self.screens: dict[str, Screen] = {kind.name: kind(self) for kind in SCREENS}
        ready = documents.count(project) and len(topics.current(project).taxonomy)
        self.screen = "seeds" if ready else "load"
        self.pulse = project.pulse()
        self.job_state = ""

    # ---------------------------------------------------------------- what is shown

    @property
    def fit(self) -> Fit | None:
        """The fit that is looked at."""
        if self.fit_id is not None:
            try:
                return fits.get(self.project, self.fit_id)
            except ModelError as fault:
                self.fit_id = None
                self.say(str(fault), "bad")
        return fits.last(self.project)

    def frame(self) -> dict[str, Any]:
        """Header: steps, what runs, what was done."""
        fit = self.fit
        job = jobs.latest(self.project)
        summary = ""
        if fit:
            summary = f"Fit {fit.id} · {fit.facts['coverage']:.1%} placed"
        return {
            "project": self.project.name,
            "screen": self.screen,
            "steps": [{"name": s.name, "title": s.title} for s in SCREENS],
            "documents": documents.count(self.project),
            "seeds": sum(labels.counts(self.project).values()),
            "summary": summary,
            "job": job_view(job),
        }

    def tree(self) -> dict[str, Any]:
        """The tree at the side."""
        here = topics.current(self.project)
        if self.key.isdigit() and int(self.key) not in here.home:
            self.key = ""
        return {"lines": tree_view(self.project, self.fit), "key": self.key}

    def stage(self) -> dict[str, Any]:
        """The screen itself."""
        try:
            return {"name": self.screen, "view": self.screens[self.screen].view()}
        except HierSeedError as fault:  # what it was about to show is gone: it starts anew
            self.say(str(fault), "bad")
            self.screens[self.screen] = type(self.screens[self.screen])(self)
            return {"name": self.screen, "view": self.screens[self.screen].view()}

    def path(self) -> str:
        """The full path of the topic that is selected."""
        return path_of(topics.current(self.project), self.key) if self.key else ""

    # ---------------------------------------------------------------- what is done

    def act(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Do what was clicked; return the parts to draw again."""
        try:
            if do == "go":
                self.go(str(arguments["screen"]))
            elif do == "select":
                self.select(str(arguments["key"]))
            elif do == "cancel":
                if jobs.cancel(self.project):
                    self.say("Stopped. The last good fit is as it was.")
            else:
                self.screens[self.screen].act(do, arguments)
        except HierSeedError as fault:
            self.say(str(fault), "bad")
        except sqlite3.Error as fault:
            self.say(f"Not saved: the project file could not be written ({fault}).", "bad")
        except (IndexError, KeyError, TypeError, ValueError, OverflowError) as fault:
            self.say(f"That did not work: {fault}. Reload the page.", "bad")
        return self.everything()

    def everything(self) -> dict[str, Any]:
        """All parts, and what there is to say."""
        self.pulse = self.project.pulse()
        parts = {"frame": self.frame(), "tree": self.tree(), "stage": self.stage()}
        notes, self.notes = self.notes, []
        return {**parts, "notes": notes}

    def tick(self) -> dict[str, Any] | None:
        """Look whether something changed: a job went on, or another tab wrote. None if not."""
        jobs.bury_dead(self.project)
        job = jobs.latest(self.project)
        state = repr(job)
        pulse = self.project.pulse()
        if pulse == self.pulse and state == self.job_state:
            return None
        ended = job is not None and job.state != "running" and self.job_state not in ("", state)
        if ended and job is not None and f"id={job.id}," in self.job_state:
            self._tell_end(job)
        self.job_state = state
        if pulse == self.pulse:  # only the bar has moved
            return {"frame": self.frame(), "notes": []}
        return self.everything()

    def _tell_end(self, job: jobs.Job) -> None:
        if job.state == "done":
            self.say(f"{job.message[:1].upper()}{job.message[1:]}.")
        elif job.state != "cancelled":
            self.say(job.message, "bad")

    def go(self, screen: str) -> None:
        """Show another screen."""
        if screen in self.screens:
            self.screen = screen

    def select(self, key: str) -> None:
        """Select a line of the tree."""
        path_of(topics.current(self.project), key)  # refuses what is no key
        self.key = key
        for screen in self.screens.values():
            selected = getattr(screen, "selected", None)
            if selected:
                selected()

    def say(self, text: str, kind: str = "good") -> None:
        """Tell the person something."""
        self.notes.append({"text": text, "kind": kind})


def job_view(job: jobs.Job | None) -> dict[str, Any] | None:
    """A running job as a bar."""
    if job is None or job.state != "running":
        return None
    progress = job.progress
    total, done = progress.get("total") or 0, progress.get("done") or 0
    return {
        "kind": job.kind,
        "phase": progress.get("phase", "Starting"),
        "done": done,
        "total": total,
        "share": done / total if total else 0.0,
        "left": progress.get("left"),
        "at_most": bool(progress.get("at_most")),
    }
