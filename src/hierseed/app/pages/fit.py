"""Fit: the embedder, the method, three dials, what is missing, and the fits so far."""

from __future__ import annotations

from typing import Any

from hierseed.app import fits, fitting, jobs, vectors
from hierseed.app.pages.screen import Screen
from hierseed.app.store import documents, labels, loads, topics
from hierseed.embed.choose import KINDS
from hierseed.errors import ProjectError
from hierseed.estimators.parameters import DEFAULT, METHODS
from hierseed.progress import duration


class FitScreen(Screen):
    """Step 4."""

    name, title = "fit", "Fit"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        saved = self.project.get("dials", {})
        self.dials = fitting.Dials(**saved) if saved else fitting.Dials()

    def view(self) -> dict[str, Any]:
        """Show dials, what is missing, and the list of fits."""
        here = topics.current(self.project)
        n = documents.count(self.project)
        chosen = self.dials.method or DEFAULT
        bare = fitting.lacking(self.project) if len(here.taxonomy) else []
        shown = self.session.fit
        return {
            "methods": [
                {"name": m.name, "title": m.title, "about": m.about} for m in METHODS.values()
            ],
            "method": chosen,
            "fine": self.dials.fine,
            "levels": here.taxonomy.tree.height,
            "sure": self.dials.sure,
            "overlap": self.dials.overlap,
            "names": self.dials.names,
            "documents": n,
            "topics": len(here.taxonomy),
            "seeds": sum(labels.counts(self.project).values()),
            "bare": bare[:8],
            "bare_more": max(0, len(bare) - 8),
            "ready": bool(n and len(here.taxonomy)),
            "running": jobs.active(self.project) is not None,
            "unfinished": self._unfinished(),
            **self._embedders(n),
            "failed": _failed(self.project),
            "shown": shown.id if shown else None,
            "fits": [_line(line) for line in fits.every(self.project)],
        }

    def _unfinished(self) -> str:
        """The name of a corpus file of which only a part is loaded."""
        load = loads.unfinished(self.project)
        return load.name if load else ""

    def _embedders(self, n: int) -> dict[str, Any]:
        """Embedders that are ready, with the time that each would take here."""
        chosen = self.project.get("embedder", "auto")
        stored = vectors.stored_embedder(self.project)
        best, title = vectors.automatic(), "automatic: the best one installed"
        if chosen == "auto" and stored:
            title += f", here {stored}"
        listed = [{"name": "auto", "title": title + self._time(best, n)}]
        for kind in KINDS.values():
            if not kind.needs_detail:
                listed.append(
                    {
                        "name": kind.name,
                        "title": f"{kind.name}: {kind.about}{self._time(kind.name, n)}",
                        "lacking": kind.lacking(),
                    }
                )
        about = "The vectors are made at the first fit."
        if vectors.ready(self.project):
            about = f"All documents have vectors of {stored}. Another embedder makes them again."
        elif stored:
            about = f"The vectors are of {stored}. The next fit makes them again."
        return {"embedder": chosen, "embedders": listed, "embedder_about": about}

    def _time(self, name: str, n: int) -> str:
        """How long an embedder would take for the corpus; "" where its vectors are there."""
        if vectors.ready(self.project) and vectors.stored_embedder(self.project).startswith(name):
            return ""
        seconds = vectors.expected_seconds(self.project, KINDS[name], n)
        return f", about {duration(max(seconds, 1))}" if seconds else ""

    def do_embedder(self, name: str) -> None:
        """Choose what turns texts into vectors."""
        if name != "auto" and (name not in KINDS or KINDS[name].lacking()):
            raise ProjectError(f"{name!r} is not on this computer. Choose another one")
        self.project.put("embedder", str(name))

    def do_dial(self, **values: Any) -> None:
        """Turn a dial."""
        known = {"method": str, "fine": int, "sure": float, "overlap": float, "names": bool}
        clean = {name: known[name](value) for name, value in values.items() if name in known}
        now = fitting.Dials(**{**self.dials.__dict__, **clean})
        if not (0 <= now.sure <= 1 and 0 <= now.overlap <= 1 and now.fine >= 0):
            raise ProjectError("a setting is out of range. Reload the page")
        self.dials = now
        self.project.put("dials", now.__dict__)

    def do_fit(self) -> None:
        """Start the fit in a process of its own."""
        jobs.start(self.project, "fit", **self.dials.__dict__)
        self.session.fit_id = None  # when it is done, it is the one to look at

    def do_show(self, fit: int) -> None:
        """Look at an earlier fit."""
        last = fits.last(self.project)
        self.session.fit_id = None if last and last.id == int(fit) else int(fit)


def _failed(project: Any) -> str:
    job = jobs.latest(project)
    if job is None or job.kind != "fit" or job.state not in ("failed", "died"):
        return ""
    return job.message


def _line(line: fits.Line) -> dict[str, Any]:
    facts = line.facts
    scores = facts.get("scores")
    return {
        "id": line.id,
        "at": line.at,
        "method": facts["method"],
        "dials": facts["dials"],
        "seeds": facts["seeds"],
        "names": facts.get("names", 0),
        "documents": facts["documents"],
        "embedder": facts.get("embedder", ""),
        "coverage": facts["coverage"],
        "expected": facts.get("expected"),
        "seconds": facts["seconds"],
        "rounds": facts["rounds"],
        "score": scores["all"]["mean"]["bcubed_f1"] if scores else None,
        "accuracy": scores["all"]["mean"]["accuracy"] if scores else None,
    }
