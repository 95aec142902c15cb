"""Load: a corpus, a taxonomy, seeds and expert labels; faults and changes are shown first."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from hierseed.app import corpus_import, jobs, taxonomy_import
from hierseed.app.corpus_import import Look
from hierseed.app.pages.screen import Screen
from hierseed.app.store import documents, gold, labels, loads, topics
from hierseed.app.taxonomy_import import Plan
from hierseed.app.uploads import find_upload, to_utf8
from hierseed.errors import ProjectError
from hierseed.io.corpus import ROW_NUMBER
from hierseed.io.taxonomies import FORMATS

SHOWN = 160  # letters of a cell in the preview
NEEDS_DOCUMENTS = ("seeds", "gold")


class Load(Screen):
    """Step 1."""

    name, title = "load", "Load"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.file: Path | None = None
        self.file_name = ""
        self.look: Look | None = None
        self.checked: Look | None = None
        self.waiting: dict[str, tuple[Path, str, str]] = {}  # file, its name, about its encoding
        self.plans: dict[str, Plan] = {}
        self.reports: dict[str, dict[str, Any]] = {}

    def view(self) -> dict[str, Any]:
        """Say what is loaded, and preview what is about to be."""
        if not self._loading():
            for kind in list(self.waiting):
                if kind not in self.plans:
                    self._plan(kind)
        here = topics.current(self.project)
        look = self.look
        return {
            "documents": documents.count(self.project),
            "topics": len(here.taxonomy),
            "levels": here.taxonomy.tree.height,
            "seeds": sum(labels.counts(self.project).values()),
            "gold": len(gold.pairs(self.project)),
            "row_number": ROW_NUMBER,
            "formats": [f.title for f in FORMATS.values()],
            "file": self.file_name,
            "preview": look
            and {
                "columns": look.columns,
                "rows": [[_short(cell) for cell in row] for row in look.rows],
                "id": look.id,
                "text": look.text,
                "faults": look.faults,
                "facts": look.facts,
            },
            "checked": self.checked and asdict(self.checked),
            "plans": {kind: plan.view() for kind, plan in self.plans.items()},
            "waiting": {
                kind: name for kind, (_, name, _) in self.waiting.items() if kind not in self.plans
            },
            "reports": self.reports,
            "loads": [self._load_view(load) for load in loads.every(self.project)],
            "busy": jobs.active(self.project) is not None,
        }

    def _load_view(self, load: loads.Load) -> dict[str, Any]:
        done = documents.count(self.project) - load.first_row
        return {
            "name": load.name, "at": load.at, "total": load.total, "message": load.message,
            "done": done, "unfinished": load.state == "unfinished" and not self._loading(),
        }  # fmt: skip

    def _loading(self) -> bool:
        """True while documents are being loaded."""
        job = jobs.active(self.project)
        return job is not None and job.kind in ("load", "sample")

    # ---------------------------------------------------------------- files

    def do_uploaded(self, kind: str, token: str, name: str) -> None:
        """Take a file that has arrived."""
        file, name = find_upload(self.project, token), str(name)
        encoding = to_utf8(file)
        if kind == "corpus":
            self.file, self.file_name = file, name
            self.look, self.checked = corpus_import.look_at_corpus(file), None
            if encoding:
                self.look.facts.append(encoding)
            if not self.look.faults:
                self.do_check(self.look.id, self.look.text)
            return
        self._drop(kind)
        self.reports.pop(kind, None)
        self.waiting[kind] = (file, name, encoding)
        if not (kind in NEEDS_DOCUMENTS and self._loading()):
            self._plan(kind)

    def _plan(self, kind: str) -> None:
        """Compare a waiting file with the project; take it over where nothing would be lost."""
        file, name, encoding = self.waiting[kind]
        try:
            plan = taxonomy_import.make_plan(self.project, kind, file, name)
        except ProjectError:
            self._drop(kind)
            raise
        if encoding:
            plan.facts.append(encoding)
        if not plan.usable:
            self._finish(kind, plan.facts, plan.faults)
        elif plan.removed:
            self.plans[kind] = plan
        else:
            done = taxonomy_import.carry_out(self.project, plan, replace=True, by=self.person)
            self._finish(kind, [*plan.facts, done], plan.faults)

    def do_take(self, kind: str, replace: bool) -> None:
        """Take a file over that would remove something: in place of what is there, or beside."""
        if kind not in self.waiting:
            raise ProjectError("the file is gone. Choose it again")
        file, name, _ = self.waiting[kind]
        plan = taxonomy_import.make_plan(
            self.project, kind, file, name
        )  # others may have worked since
        done = taxonomy_import.carry_out(self.project, plan, replace=bool(replace), by=self.person)
        self._finish(kind, [*plan.facts, done], plan.faults)

    def do_leave(self, kind: str) -> None:
        """Leave a waiting file alone."""
        self._drop(kind)

    def _finish(self, kind: str, facts: list[str], faults: list[str]) -> None:
        self.reports[kind] = {"file": self.waiting[kind][1], "facts": facts, "faults": faults}
        self._drop(kind)

    def _drop(self, kind: str) -> None:
        self.plans.pop(kind, None)
        if kind in self.waiting:
            self.waiting.pop(kind)[0].unlink(missing_ok=True)

    def do_remove(self, kind: str) -> None:
        """Remove all seeds, all expert labels, or all documents."""
        if kind == "corpus":
            jobs.refuse_busy(self.project)
            count = loads.remove_all(self.project)
            self.session.fit_id = None
            self.session.notify(
                f"{count:,} documents removed. A copy of the project was made before that."
            )
            return
        count = taxonomy_import.remove(self.project, str(kind), by=self.person)
        self.reports.pop(kind, None)
        self.session.notify(f"{count:,} removed. Undo restores them.")

    # ---------------------------------------------------------------- the corpus

    def do_check(self, id: str, text: str) -> None:
        """Read the whole corpus once with these columns, and list its faults."""
        if self.file is None or self.look is None:
            raise ProjectError("choose a file first")
        self.look.id, self.look.text = str(id), str(text)
        self.checked = corpus_import.check_corpus(self.file, str(id), str(text))
        self.checked.faults = [
            fault.replace(self.file.name, self.file_name) for fault in self.checked.faults
        ]

    def do_load(self) -> None:
        """Take the corpus over, in the background."""
        if self.file is None or self.look is None:
            raise ProjectError("choose a file first")
        if loads.unfinished(self.project):
            raise ProjectError("a load was interrupted. Resume or discard it first")
        jobs.refuse_busy(self.project)
        arguments = {"file": str(self.file), "id": self.look.id, "text": self.look.text}
        arguments["name"] = self.file_name
        load = loads.begin(self.project, self.file_name, arguments)
        jobs.start(self.project, "load", **arguments, load=load)
        self.project.put(
            "corpus", {"name": self.file_name, "id": self.look.id, "text": self.look.text}
        )
        self.file, self.file_name, self.look, self.checked = None, "", None, None

    def do_resume(self) -> None:
        """Resume a load that was interrupted."""
        load = loads.unfinished(self.project)
        if load is None:
            raise ProjectError("no load is unfinished")
        if not Path(load.arguments["file"]).is_file():
            raise ProjectError(
                f"the copy of {load.name} is gone. Discard this load, then load the file again"
            )
        jobs.start(self.project, "load", **load.arguments, load=load.id)

    def do_discard(self) -> None:
        """Remove the documents of a load that was cut off."""
        load = loads.unfinished(self.project)
        if load is None:
            raise ProjectError("no load is unfinished")
        jobs.refuse_busy(self.project)
        count = loads.discard(self.project, load)
        Path(load.arguments["file"]).unlink(missing_ok=True)
        self.session.notify(f"{count:,} documents of {load.name} removed.")

    def do_forget(self) -> None:
        """Leave the file alone."""
        if self.file is not None:
            self.file.unlink(missing_ok=True)
        self.file, self.file_name, self.look, self.checked = None, "", None, None

    def do_sample(self) -> None:
        """Fill the project with the sample."""
        if documents.count(self.project):
            raise ProjectError(
                "the project has documents already. Start a new project for the sample"
            )
        jobs.start(self.project, "sample")


def _short(cell: str) -> str:
    return cell if len(cell) <= SHOWN else cell[:SHOWN] + "…"
