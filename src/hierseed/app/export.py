"""Taking the work home: a flat file, taxonomy, seeds, report, and the way to repeat it."""

from __future__ import annotations

import csv
import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hierseed.app.fits import Fit
from hierseed.app.fitting import Dials
from hierseed.app.project import Project
from hierseed.app.store import documents, labels, topics
from hierseed.errors import ProjectError
from hierseed.io.atomic import atomic_file
from hierseed.io.extra_columns import add_codes, add_columns
from hierseed.io.tables import open_table
from hierseed.io.taxonomies import FORMATS
from hierseed.report.page import render

PART = 5_000  # documents at a time
TABLES = ("csv", "xlsx", "parquet", "jsonl")

Tell = Callable[[dict[str, Any]], None]


def folder(project: Project) -> Path:
    """Where exported files lie."""
    place = project.folder / "exports"
    place.mkdir(exist_ok=True)
    return place


def write_documents(
    project: Project, fit: Fit, ending: str, *, text: bool = True, tell: Tell | None = None
) -> Path:
    """All documents in one flat table: where each is, how sure, and what you said of it.

    The columns are those of `hierseed assign`, `code` where topics have codes, `your_topic`, the
    `text` if asked for, and the other columns of the corpus.
    """
    if ending not in TABLES:
        raise ProjectError(f"a table can be {', '.join(TABLES)}, not {ending!r}")
    here = topics.current(project)
    mine = labels.seeds(project)
    others = project.get("columns", [])
    target = folder(project) / f"{project.name}-documents.{ending}"
    with open_table(target, guard=True) as table:
        for start in range(0, fit.n, PART):
            stop = min(start + PART, fit.n)
            part = documents.get(project, range(start, stop))
            found = fit.assignments(start, stop)
            frame = found.to_frame([document.id for document in part])
            if any(found.taxonomy.codes):
                frame = add_codes(frame, found)
            said = [
                " | ".join(here.path(id) for id in mine.get(row, [])) for row in range(start, stop)
            ]
            frame["your_topic"] = [said[row] for row in found.row]
            if text:
                frame["text"] = [part[row].text for row in found.row]
            if others:
                kept = documents.kept(project, start, stop)
                values = [[one.get(name) for name in others] for one in kept]
                frame = add_columns(frame, found.row, others, values, text=ending == "parquet")
            table.write(frame)
            if tell:
                tell({"phase": "Writing the table", "done": stop, "total": fit.n})
    return target


def write_taxonomy(project: Project, format: str) -> Path:
    """The taxonomy as it stands now, in any format."""
    if format not in FORMATS:
        raise ProjectError(f"no taxonomy format {format!r}. Choose one of {', '.join(FORMATS)}")
    ending = FORMATS[format].endings[0]
    target = folder(project) / f"{project.name}-taxonomy{ending}"
    topics.current(project).taxonomy.write(target, format)
    return target


def write_seeds(project: Project) -> Path:
    """The seeds as they stand now: id, text (for texts of your own), topic."""
    from hierseed.app.fitting import project_seeds, seed_rows

    here = topics.current(project)
    rows = seed_rows(project_seeds(project, here), here.taxonomy)
    return _seed_file(folder(project) / f"{project.name}-seeds.csv", rows)


def write_report(project: Project, fit: Fit) -> Path:
    """One page about the fit that needs nothing else."""
    target = folder(project) / f"{project.name}-report.html"
    with atomic_file(target) as partial:
        partial.write_text(render(fit.report), encoding="utf-8")
    return target


def write_bundle(project: Project, fit: Fit) -> Path:
    """Everything that it takes to repeat a fit on another computer, with the commands."""
    target = folder(project) / f"{project.name}-fit-{fit.id}.zip"
    place = folder(project) / f".bundle-{fit.id}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    with (place / "corpus.jsonl").open("w", encoding="utf-8") as file:
        for document in documents.every(project):
            if document.row < fit.n:
                line = {"id": document.id, "text": document.text}
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
    fit.taxonomy.first(len(fit.ids)).write(place / "taxonomy.json")
    _seed_file(place / "seeds.csv", fit.seeds)
    (place / "commands.txt").write_text("\n".join(commands(fit)) + "\n", encoding="utf-8")
    shutil.copytree(fit.folder / "model", place / "model-as-fitted")
    made = shutil.make_archive(str(target.with_suffix("")), "zip", place)
    shutil.rmtree(place)
    return Path(made)


def commands(fit: Fit) -> list[str]:
    """The command lines that repeat a fit, from the files of the bundle."""
    dials = Dials(**fit.facts["dials"])
    line = ["hierseed", "fit", "corpus.jsonl", "--taxonomy", "taxonomy.json"]
    line += ["--seeds", "seeds.csv", "-o", "model", "--method", fit.facts["method"]]
    line += ["--embedder", fit.facts["embedder"]]
    for name, value in dials.settings().items():
        line += ["--set", f"{name}={value}"]
    if dials.names:
        line.append("--seeds-from-names")
    place = ["hierseed", "assign", "model", "corpus.jsonl", "-o", "documents.csv"]
    threshold = dials.threshold()
    if threshold is not None:
        place += ["--threshold", f"{threshold:g}"]
    if dials.fine > 0:
        place += ["--level", str(dials.fine)]
    return [shlex.join(line), shlex.join(place)]


def _seed_file(target: Path, rows: list[list[str]]) -> Path:
    with atomic_file(target) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "topic"])
        writer.writerows(rows)
    return target
