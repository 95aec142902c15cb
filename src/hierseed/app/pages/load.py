"""Load: a corpus, a taxonomy, seeds and gold; every fault told before anything is taken over."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from hierseed.app import jobs, loading
from hierseed.app.loading import Look
from hierseed.app.pages.screen import Screen
from hierseed.app.store import documents, edits, labels, topics
from hierseed.app.uploads import find_upload
from hierseed.errors import HierSeedError, ProjectError
from hierseed.io.corpus import ROW_NUMBER
from hierseed.io.taxonomies import FORMATS

SHOWN = 160  # letters of a cell in the preview


class Load(Screen):
    """Step 1."""

    name, title = "load", "Load"

    def __init__(self, session: Any) -> None:
        super().__init__(session)
        self.file: Path | None = None
        self.file_name = ""
        self.look: Look | None = None
        self.checked: Look | None = None
        self.told: dict[str, dict[str, Any]] = {}

    def view(self) -> dict[str, Any]:
        """Say what is loaded, and preview what is about to be."""
        here = topics.current(self.project)
        gold = self.project.db.execute("SELECT count(*) FROM gold").fetchone()[0]
        look = self.look
        return {
            "documents": documents.count(self.project),
            "topics": len(here.taxonomy),
            "levels": here.taxonomy.tree.height,
            "seeds": sum(labels.counts(self.project).values()),
            "gold": gold,
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
            },
            "checked": self.checked and asdict(self.checked),
            "told": self.told,
            "busy": jobs.active(self.project) is not None,
        }

    def do_uploaded(self, kind: str, token: str, name: str) -> None:
        """Take a file that has arrived."""
        file = find_upload(self.project, token)
        if kind == "corpus":
            self.file, self.file_name = file, str(name)
            self.look, self.checked = loading.look_at_corpus(file), None
            if not self.look.faults:
                self.do_check(self.look.id, self.look.text)
            return
        try:
            self.told[kind] = self._take(kind, file, str(name))
        finally:
            file.unlink(missing_ok=True)

    def _take(self, kind: str, file: Path, name: str) -> dict[str, Any]:
        if kind == "taxonomy":
            try:
                taxonomy = loading.load_taxonomy(self.project, file, name)
            except HierSeedError as fault:
                text = loading.plain(fault).replace(str(file), name).replace(file.name, name)
                return {"file": name, "facts": [], "faults": text.split("\n  - ")}
            facts = [f"{len(taxonomy):,} topics on {taxonomy.tree.height} levels"]
            return {"file": name, "facts": facts, "faults": []}
        if kind not in ("seeds", "gold"):
            raise ProjectError(f"a file of the kind {kind!r} is not known. Reload the page")
        if not len(topics.current(self.project).taxonomy):
            raise ProjectError(f"load the taxonomy before the {kind}: they name its topics")
        load = loading.load_seeds if kind == "seeds" else loading.load_gold
        look = load(self.project, file, name)
        faults = [fault.replace(file.name, name) for fault in look.faults]
        return {"file": name, "facts": look.facts, "faults": faults}

    def do_check(self, id: str, text: str) -> None:
        """Read the whole corpus once with these columns, and list its faults."""
        if self.file is None or self.look is None:
            raise ProjectError("choose a file first")
        self.look.id, self.look.text = str(id), str(text)
        self.checked = loading.check_corpus(self.file, str(id), str(text))
        self.checked.faults = [
            fault.replace(self.file.name, self.file_name) for fault in self.checked.faults
        ]

    def do_load(self) -> None:
        """Take the corpus over, in the background."""
        if self.file is None or self.look is None:
            raise ProjectError("choose a file first")
        arguments = {"file": str(self.file), "id": self.look.id, "text": self.look.text}
        arguments["name"] = self.file_name
        jobs.start(self.project, "load", **arguments)
        self.project.put(
            "corpus", {"name": self.file_name, "id": self.look.id, "text": self.look.text}
        )
        self.file, self.file_name, self.look, self.checked = None, "", None, None

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

    def do_undo(self) -> None:
        """Take back the last change of the taxonomy."""
        self.session.say(f"Undone: {edits.undo(self.project)}")


def _short(cell: str) -> str:
    return cell if len(cell) <= SHOWN else cell[:SHOWN] + "…"
