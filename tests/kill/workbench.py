"""Work in a project as the server does, and note each step once it was shown as done.

Load, decide, edit, fit and export go through the same session and the same worker processes as
a click in the browser. Run again after a kill, it resumes after the last step that was noted.
`lost` lists what was noted and is not there any more.
"""

from __future__ import annotations

import csv
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TIMES = 20  # copies of the corpus: more than one batch of a load
LABELS, TOPICS = 40, 8


def main() -> None:
    from hierseed.app import corpus_import, jobs
    from hierseed.app.pages.session import Session
    from hierseed.app.project import Project
    from hierseed.app.store import documents, edits, loads, topics
    from hierseed.taxonomy import Taxonomy

    _write_corpus()
    project = Project("work")
    noted = set(_notes(Path(".")))
    jobs.mark_lost(project)
    session = Session(project)

    def act(screen: str, do: str, **arguments: Any) -> None:
        session.act("go", screen=screen)
        notes = session.act(do, **arguments)["notes"]
        bad = [note["text"] for note in notes if note["kind"] == "bad"]
        if bad:
            raise AssertionError(f"{do}: {bad}")

    def job(kind: str, **arguments: Any) -> None:
        ended = jobs.wait(project, jobs.start(project, kind, **arguments))
        if ended.state != "done":
            raise AssertionError(f"{kind}: {ended.message}")

    def load() -> None:
        load = loads.unfinished(project)
        # A worker removes the file that it has taken over, as it does with an upload.
        given = {"file": str(Path("upload.csv").resolve()), "id": "id", "text": "text"}
        Path("upload.csv").write_bytes(Path("corpus.csv").read_bytes())
        job("load", **given, name="corpus.csv", load=load.id if load else None)

    def plant() -> None:
        paths = Path("topics.txt").read_text().splitlines()
        edits.replace_all(project, Taxonomy.from_paths(paths), "topics.txt")

    def label(i: int) -> None:
        here = topics.current(project)
        key = str(here.ids[here.taxonomy.index(_path(i))])
        act("seeds", "say", row=i * 37, verdict=1 if i % 3 else -1, key=key)

    def add(i: int) -> None:
        if f"Topic {i}" not in topics.current(project).taxonomy.names:
            act("taxonomy", "add", name=f"Topic {i}", below=False)

    def export() -> str:
        act("export", "documents", ending="csv")
        written = max((project.folder / "exports").iterdir(), key=lambda file: file.stat().st_mtime)
        return f"{written.name}={hashlib.sha256(written.read_bytes()).hexdigest()}"

    with open("acknowledged.txt", "ab") as notes:
        for name, number in _steps():
            step = f"{name} {number}"
            if any(line.split("\t")[0] == step for line in noted):
                continue
            detail = ""
            if name == "load":
                load()
                assert documents.count(project) == _rows()
            elif name == "taxonomy":
                plant()
            elif name == "label":
                label(number)
            elif name == "edit":
                add(number)
            elif name == "fit":
                job("fit", method="unfit")
            else:
                detail = export()
            notes.write(f"{step}\t{detail}\n".encode())
            notes.flush()
            os.fsync(notes.fileno())
    assert _rows() > corpus_import.BATCH
    jobs.end_all()
    project.close()


def _steps() -> Iterator[tuple[str, int]]:
    """All steps in order."""
    yield from [("load", 0), ("taxonomy", 0)]
    for half in range(2):
        for i in range(half * LABELS // 2, (half + 1) * LABELS // 2):
            yield "label", i
            if i % 5 == 0:
                yield "edit", i // 5
        yield from [("fit", half), ("export", half)]


def _path(i: int) -> str:
    return Path("topics.txt").read_text().splitlines()[i % 4]


def _write_corpus() -> None:
    """The small corpus of the harness many times over, each copy with ids of its own."""
    with Path("docs.csv").open(encoding="utf-8", newline="") as file:
        names, *rows = list(csv.reader(file))
    lines = [",".join(names)]
    lines += [f"{id}-{copy},{text}" for copy in range(TIMES) for id, text in rows]
    Path("corpus.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _rows() -> int:
    return len(Path("corpus.csv").read_text(encoding="utf-8").splitlines()) - 1


def _notes(folder: Path) -> list[str]:
    file = folder / "acknowledged.txt"
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def lost(folder: Path) -> list[str]:
    """Steps that were noted as done and that the project does not have."""
    from hierseed.app import fits
    from hierseed.app.project import Project
    from hierseed.app.store import documents, labels, loads, topics

    noted = [line.split("\t") for line in _notes(folder)]
    if not (folder / "work.hierseed").exists():
        return [step for step, _ in noted]
    project = Project(folder / "work")
    try:
        assert project.db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        here = topics.current(project)
        complete = [load.state for load in loads.every(project)] == ["complete"]
        n = documents.count(project)
        if complete:
            texts = sum(1 for _ in documents.every(project))
            indexed = project.db.execute("SELECT count(*) FROM document_text").fetchone()[0]
            assert n == texts == indexed
        missing = []
        for step, detail in noted:
            name, number = step.split()
            i = int(number)
            if name == "load":
                there = complete
            elif name == "taxonomy":
                there = len(here.ids) >= 6
            elif name == "label":
                verdicts = [label.verdict for label in labels.of_rows(project, [i * 37])[i * 37]]
                there = verdicts == [1 if i % 3 else -1]
            elif name == "edit":
                there = f"Topic {i}" in here.taxonomy.names
            elif name == "fit":
                there = len(fits.every(project)) > i and fits.get(project, i + 1).n == n
            else:
                file, _, digest = detail.partition("=")
                content = (folder / "work.files" / "exports" / file).read_bytes()
                there = hashlib.sha256(content).hexdigest() == digest
            if not there:
                missing.append(step)
        return missing
    finally:
        project.close()


if __name__ == "__main__":
    main()
