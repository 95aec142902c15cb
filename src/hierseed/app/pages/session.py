"""One visitor: which screen, topic and fit are shown, and what has to be drawn again."""

from __future__ import annotations

import sqlite3
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from hierseed.app import fits, jobs
from hierseed.app.fits import Fit
from hierseed.app.pages.code import CodeScreen
from hierseed.app.pages.export import Export
from hierseed.app.pages.fit import FitScreen
from hierseed.app.pages.load import Load
from hierseed.app.pages.review import Review
from hierseed.app.pages.screen import Screen
from hierseed.app.pages.seeds import SeedsScreen
from hierseed.app.pages.taxonomy import TaxonomyScreen
from hierseed.app.placements import Placements
from hierseed.app.project import Project
from hierseed.app.store import actions, codings, documents, labels, loads, topics
from hierseed.app.store.actions import Person
from hierseed.app.tree import path_of, tree_view
from hierseed.app.wording import explain_failure, worded
from hierseed.errors import HierSeedError, ModelError, ProjectError

SCREENS: list[type[Screen]] = [
    Load, TaxonomyScreen, SeedsScreen, FitScreen, Review, CodeScreen, Export,
]  # fmt: skip
NAME = 60  # letters of a coder's name


class Session:
    """The state of one tab. It knows no browser: actions go in, what to draw comes out."""

    def __init__(
        self, project: Project, person: Person | None = None, *, listed: bool = False
    ) -> None:
        self.project, self.listed = project, listed  # listed: the address names the project
        self.person = person or Person()
        self.key = ""
        self.fit_id: int | None = None  # None: always the latest
        self.notes: list[dict[str, str]] = []
        self.screens: dict[str, Screen] = {kind.name: kind(self) for kind in SCREENS}
        ready = documents.count(project) and len(topics.current(project).taxonomy)
        self.screen = "seeds" if ready else "load"
        self.pulse = project.pulse()
        self.job_state = ""
        self.path_seen = ""
        self._tree: tuple[Any, dict[str, Any]] | None = None

    # ---------------------------------------------------------------- what is shown

    @property
    def fit(self) -> Fit | None:
        """The fit that is looked at."""
        if self.fit_id is not None:
            try:
                return fits.get(self.project, self.fit_id)
            except ModelError as fault:
                self.fit_id = None
                self.notify(worded(fault), "bad")
        return fits.last(self.project)

    @property
    def placed(self) -> Placements | None:
        """Placements of the fit in the current taxonomy."""
        fit = self.fit
        return fit.placements(topics.current(self.project)) if fit else None

    def frame(self) -> dict[str, Any]:
        """Header: steps, the running job, undo and redo, the coder."""
        fit, job = self.fit, jobs.latest(self.project)
        undo = actions.to_undo(self.project, self.person)
        redo = actions.to_redo(self.project, self.person)
        return {
            "project": self.project.name,
            "listed": self.listed,
            "screen": self.screen,
            "key": self.key,
            "address": self.address(),
            "steps": [{"name": s.name, "title": s.title} for s in SCREENS],
            "documents": documents.count(self.project),
            "unfinished": self._unfinished(job),
            "seeds": sum(labels.counts(self.project).values()),
            "summary": self._summary(fit) if fit else "",
            "job": job_view(job),
            "undo": undo and list(undo),
            "redo": redo and list(redo),
            "coder": self.person.name,
            "coders": codings.coders(self.project),
        }

    def _summary(self, fit: Fit) -> str:
        """Quality of the fit: expected accuracy where scores are probabilities."""
        placed = fit.placements(topics.current(self.project))
        levels = fit.facts.get("expected") or []
        if levels:
            right = ", ".join(f"{value:.0%}" for value in levels)
            return f"Fit {fit.id} · about {right} right"
        share = f"{(placed.labels >= 0).mean():.0%} in a topic" if placed.n_documents else ""
        return f"Fit {fit.id} · {share}"

    def _unfinished(self, job: jobs.Job | None) -> dict[str, Any] | None:
        """A load that was cut off; None while it runs and when all is complete."""
        running = job is not None and job.state == "running" and job.kind == "load"
        load = None if running else loads.unfinished(self.project)
        if load is None:
            return None
        done = documents.count(self.project) - load.first_row
        return {"name": load.name, "done": done, "total": load.total}

    def tree(self) -> dict[str, Any]:
        """The tree at the side, and its numbers; made again only after a change."""
        state = (self.project.pulse(), fit.id if (fit := self.fit) else None)
        if self._tree is None or self._tree[0] != state:
            found = tree_view(self.project, self.placed)
            expected = fit.expected(topics.current(self.project)) if fit else {}
            numbers = {"lines": found.numbers, "expected": expected, "total": found.total}
            self._tree = (state, {"tree": {"lines": found.lines}, "numbers": numbers})
        return self._tree[1]

    def stage(self) -> dict[str, Any]:
        """The screen itself."""
        try:
            return {"name": self.screen, "view": self.screens[self.screen].view()}
        except HierSeedError as fault:  # what it was about to show is gone: it is reset
            self.notify(worded(fault), "bad")
            self.screens[self.screen] = type(self.screens[self.screen])(self)
            return {"name": self.screen, "view": self.screens[self.screen].view()}

    def path(self) -> str:
        """The full path of the topic that is selected."""
        return path_of(topics.current(self.project), self.key) if self.key else ""

    # ---------------------------------------------------------------- the address

    def address(self) -> str:
        """The address of what is shown: reloading it shows the same again."""
        where: dict[str, Any] = {"project": self.project.name} if self.listed else {}
        where |= {"topic": self.key, "fit": self.fit_id or ""}
        where |= self.screens[self.screen].where()
        query = urlencode({name: value for name, value in where.items() if value})
        return f"/{self.screen}" + (f"?{query}" if query else "")

    def restore(self, address: str) -> None:
        """Show what an address says; what is gone meanwhile is left out."""
        parts = urlsplit(address)
        query = dict(parse_qsl(parts.query))
        self.go(parts.path.strip("/"))
        here = topics.current(self.project)
        key = query.get("topic", "")
        known = not key.isdigit() or int(key) in here.home
        if key != self.key and known:
            self.select(key)
        fit = query.get("fit", "")
        last = fits.last(self.project)
        self.fit_id = int(fit) if fit.isdigit() and last and int(fit) <= last.id else None
        self.screens[self.screen].restore(query)

    # ---------------------------------------------------------------- what is done

    def act(self, do: str, **arguments: Any) -> dict[str, Any]:
        """Do what was clicked; return the parts to draw again."""
        try:
            common = getattr(self, f"do_{do}", None)
            if common is not None:
                common(**arguments)
            else:
                self.screens[self.screen].act(do, arguments)
        except HierSeedError as fault:
            self.notify(worded(fault), "bad")
        except (OSError, sqlite3.Error) as fault:
            self.notify(explain_failure(fault), "bad")
        except (IndexError, KeyError, TypeError, ValueError, OverflowError) as fault:
            self.notify(f"That did not work: {fault}. Reload the page.", "bad")
        return self.everything()

    def do_go(self, screen: str) -> None:
        """Show another screen."""
        self.go(str(screen))

    def do_select(self, key: str) -> None:
        """Select a line of the tree."""
        self.select(str(key))

    def do_edit(self, what: str, **arguments: Any) -> None:
        """Change the taxonomy from the tree, whatever screen is shown."""
        if what not in ("add", "rename", "move", "merge", "delete"):
            raise ProjectError(f"the tree can't {what!r}. Reload the page")
        self.screens["taxonomy"].act(what, arguments)

    def do_restore(self, address: str) -> None:
        """Show what an address says."""
        self.restore(str(address))

    def do_cancel(self) -> None:
        """Stop the running job."""
        if jobs.cancel(self.project):
            self.notify("Stopped. The last complete fit is unchanged.")

    def do_undo(self, expected: int | None = None) -> None:
        """Take back this person's last step."""
        self.notify(f"Undone: {actions.undo(self.project, self.person, expected)}")

    def do_redo(self, expected: int | None = None) -> None:
        """Do the step again that this person undid last."""
        self.notify(f"Done again: {actions.redo(self.project, self.person, expected)}")

    def do_hello(self, key: str = "", name: str = "") -> None:
        """Set who uses this browser."""
        name = " ".join(str(name).split())[:NAME]
        self.person = Person(f"coder {name}" if name else f"browser {str(key)[:NAME]}", name)
        if name:
            codings.add_coder(self.project, name)

    def everything(self) -> dict[str, Any]:
        """All parts, and what there is to say; where the file can't be read, only that."""
        try:
            self._leave_lost_topic()
            self.pulse = self.project.pulse()
            stage = self.stage()  # first, as Load takes the files over that have waited
            parts = {"frame": self.frame(), **self.tree(), "stage": stage}
        except (OSError, sqlite3.Error, ProjectError) as fault:
            parts = {}
            text = worded(fault) if isinstance(fault, ProjectError) else explain_failure(fault)
            self.notify(text, "bad")
        notes, self.notes = self.notes, []
        return {**parts, "notes": notes}

    def _leave_lost_topic(self) -> None:
        """Leave a topic that was deleted or merged, and say so."""
        if not self.key.rpartition("-")[2].isdigit():
            return
        head, _, number = self.key.rpartition("-")
        here, id = topics.current(self.project), int(number)
        if id == 0:
            return
        if id not in here.home:
            self.key = ""
            self.notify(
                f"{self.path_seen or 'The topic'} was deleted, so it is no longer selected."
            )
        elif here.home[id] != id:
            home = here.home[id]
            self.key = f"{head}-{home}" if head else str(home)
            self.notify(f"{self.path_seen or 'The topic'} was merged into {here.path(home)}.")
        self.path_seen = self.path()

    def tick(self) -> dict[str, Any] | None:
        """Look whether something changed: a job went on, or another tab wrote. None if not."""
        try:
            jobs.mark_lost(self.project)
            job = jobs.latest(self.project)
            pulse = self.project.pulse()
        except (OSError, sqlite3.Error):
            return None  # the next click says it
        state = repr(job)
        if pulse == self.pulse and state == self.job_state:
            return None
        ended = job is not None and job.state != "running" and self.job_state not in ("", state)
        if ended and job is not None and f"id={job.id}," in self.job_state:
            self._report_end(job)
        self.job_state = state
        if pulse == self.pulse:  # only the bar has moved
            return {"frame": self.frame(), "notes": []}
        return self.everything()

    def _report_end(self, job: jobs.Job) -> None:
        if job.state == "done":
            self.notify(f"{job.message[:1].upper()}{job.message[1:]}.")
        elif job.state != "cancelled":
            self.notify(job.message, "bad")

    def go(self, screen: str) -> None:
        """Show another screen."""
        if screen in self.screens:
            self.screen = screen

    def select(self, key: str) -> None:
        """Select a line of the tree; "" selects none."""
        here = topics.current(self.project)
        self.path_seen = path_of(here, key) if key else ""
        if self.path_seen == "a deleted topic":
            raise ProjectError("this topic was deleted meanwhile. Choose another one")
        self.key = key
        for screen in self.screens.values():
            screen.selected()

    def notify(self, text: str, kind: str = "good") -> None:
        """Show the person a note."""
        self.notes.append({"text": text, "kind": kind})


def job_view(job: jobs.Job | None) -> dict[str, Any] | None:
    """A running job as a bar."""
    if job is None or job.state != "running":
        return None
    progress = job.progress
    total, done = progress.get("total") or 0, progress.get("done") or 0
    share = progress.get("share")
    return {
        "kind": job.kind,
        "phase": progress.get("phase", "Starting"),
        "done": done,
        "total": total,
        "share": share if share is not None else done / total if total else 0.0,
        "left": progress.get("left"),
        "at_most": bool(progress.get("at_most")),
    }
