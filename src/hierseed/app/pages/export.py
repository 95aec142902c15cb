"""Export: tables, taxonomy, seeds, decisions, report, and an archive that repeats the fit."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from hierseed.app import export, jobs
from hierseed.app.pages.screen import Screen
from hierseed.app.store import labels, topics
from hierseed.errors import ProjectError
from hierseed.io.taxonomies import FORMATS

AT_ONCE = 30_000  # documents that are written at once; more are left to a worker


class Export(Screen):
    """Step 7."""

    name, title = "export", "Export"

    def view(self) -> dict[str, Any]:
        """Show what can be exported, and the files written so far."""
        fit = self.session.fit
        return {
            "fit": fit.id if fit else None,
            "documents": fit.n if fit else 0,
            "topics": len(topics.current(self.project).taxonomy),
            "seeds": sum(labels.counts(self.project).values()),
            "tables": export.TABLES,
            "formats": [{"name": f.name, "title": f.title} for f in FORMATS.values()],
            "commands": export.commands(fit) if fit else [],
            "files": [_file(path) for path in _written(self.project)],
            "decisions": labels.last_event(self.project),
            "busy": jobs.active(self.project) is not None,
        }

    def do_documents(self, ending: str, text: bool = True) -> None:
        """Write the flat file."""
        fit = self._fit()
        if fit.n > AT_ONCE:
            arguments = {"what": "documents", "fit": fit.id, "ending": str(ending)}
            jobs.start(self.project, "export", **arguments, text=bool(text))
        else:
            self._ready(export.write_documents(self.project, fit, str(ending), text=bool(text)))

    def do_taxonomy(self, format: str) -> None:
        """Write the taxonomy."""
        self._ready(export.write_taxonomy(self.project, str(format)))

    def do_seeds(self) -> None:
        """Write the seeds."""
        self._ready(export.write_seeds(self.project))

    def do_codebook(self, ending: str) -> None:
        """Write the codebook."""
        self._ready(export.write_codebook(self.project, str(ending)))

    def do_tasks(self, tool: str) -> None:
        """Write the documents as another tool imports them."""
        self._ready(export.write_tasks(self.project, self._fit(), str(tool)))

    def do_decisions(self) -> None:
        """Write every decision that was made."""
        self._ready(export.write_decisions(self.project))

    def do_remove(self, name: str) -> None:
        """Delete an exported file."""
        known = {path.name: path for path in _written(self.project)}
        if str(name) in known:
            known[str(name)].unlink(missing_ok=True)

    def do_report(self) -> None:
        """Write the report page."""
        self._ready(export.write_report(self.project, self._fit()))

    def do_bundle(self) -> None:
        """Write an archive with everything that is needed to repeat the fit."""
        fit = self._fit()
        if fit.n > AT_ONCE:
            jobs.start(self.project, "export", what="bundle", fit=fit.id)
        else:
            self._ready(export.write_bundle(self.project, fit))

    def _fit(self) -> Any:
        fit = self.session.fit
        if fit is None:
            raise ProjectError("there is no fit yet. Fit first, then export the result")
        return fit

    def _ready(self, path: Path) -> None:
        self.session.notify(f"{path.name} is ready, under Files.")


def _written(project: Any) -> list[Path]:
    files = [path for path in export.folder(project).iterdir() if not path.name.startswith(".")]
    return sorted(files, key=lambda path: -path.stat().st_mtime)


def _file(path: Path) -> dict[str, Any]:
    stat = path.stat()
    at = datetime.fromtimestamp(stat.st_mtime, UTC).isoformat(timespec="seconds")
    return {"name": path.name, "bytes": stat.st_size, "at": at}
