"""Export: tables, taxonomy, seeds, decisions, report, and an archive that repeats a fit elsewhere.

Every file uses the current taxonomy, as the screen does. The name of a file carries the number of
the fit, and no file replaces another one.
"""

from __future__ import annotations

import csv
import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from hierseed.app import codebook, other_tools
from hierseed.app.current_report import current_report
from hierseed.app.fits import Fit
from hierseed.app.fitting import Dials, project_seeds, seed_rows
from hierseed.app.jobs import OnProgress
from hierseed.app.project import Project
from hierseed.app.replication import write_validation
from hierseed.app.store import documents, labels, topics
from hierseed.app.store.labels import WHOLE
from hierseed.errors import ProjectError
from hierseed.files import atomic_file
from hierseed.io.tables import add_codes, add_columns, open_table, write_table
from hierseed.io.taxonomies import FORMATS
from hierseed.report.page import render

PART = 5_000  # documents at a time
TABLES = ("csv", "xlsx", "parquet", "jsonl")
TOOLS = {"label-studio": ".json", "doccano": ".jsonl"}
VERDICTS = {1: "yes", -1: "no", 0: "withdrawn"}


def folder(project: Project) -> Path:
    """The folder of exported files."""
    place = project.folder / "exports"
    place.mkdir(exist_ok=True)
    return place


def new_file(project: Project, what: str, ending: str, fit: Fit | None = None) -> Path:
    """A name that no exported file has yet: project, fit, what it is, and a number if needed."""
    stem = f"{project.name}-fit-{fit.id}-{what}" if fit else f"{project.name}-{what}"
    number = 1
    while True:
        again = "" if number == 1 else f"-{number}"
        target = folder(project) / f"{stem}{again}{ending}"
        if not target.exists():
            return target
        number += 1


def write_documents(
    project: Project,
    fit: Fit,
    ending: str,
    *,
    text: bool = True,
    on_progress: OnProgress | None = None,
) -> Path:
    """All documents in one table: where each is, how sure, and what people decided.

    The columns are those of `hierseed assign`, `code` where topics have codes, `your_topic`,
    `rejected`, the `text` if asked for, and the other columns of the corpus.
    """
    if ending not in TABLES:
        raise ProjectError(f"a table can be {', '.join(TABLES)}, not {ending!r}")
    target = new_file(project, "documents", f".{ending}", fit)
    with open_table(target, guard=True) as table:
        for stop, frame in _frames(project, fit, text=text, parquet=ending == "parquet"):
            table.write(frame)
            if on_progress:
                on_progress({"phase": "Writing the table", "done": stop, "total": fit.n})
    return target


def _frames(
    project: Project, fit: Fit, *, text: bool, parquet: bool
) -> Iterator[tuple[int, pd.DataFrame]]:
    here = topics.current(project)
    placed = fit.placements(here)
    seeds, rejected = labels.seeds(project), labels.rejections(project)
    whole = {row: WHOLE[decision] for decision in WHOLE for row in labels.whole(project, decision)}
    others = project.get("columns", [])
    for start in range(0, fit.n, PART):
        stop = min(start + PART, fit.n)
        part = documents.get(project, range(start, stop))
        found = placed.assignments(start, stop)
        frame = found.to_frame([document.id for document in part])
        if any(found.taxonomy.codes):
            frame = add_codes(frame, found)
        for column, decided in (("your_topic", seeds), ("rejected", rejected)):
            paths = [
                " | ".join(here.path(id) for id in decided.get(row, []))
                for row in range(start, stop)
            ]
            if column == "your_topic":
                paths = [path or whole.get(start + i, "") for i, path in enumerate(paths)]
            frame[column] = [paths[row] for row in found.row]
        if text:
            frame["text"] = [part[row].text for row in found.row]
        if others:
            kept = documents.kept(project, start, stop)
            values = [[one.get(name) for name in others] for one in kept]
            frame = add_columns(frame, found.row, others, values, text=parquet)
        yield stop, frame


def write_taxonomy(project: Project, format: str) -> Path:
    """The current taxonomy in any format."""
    if format not in FORMATS:
        raise ProjectError(f"no taxonomy format {format!r}. Choose one of {', '.join(FORMATS)}")
    target = new_file(project, "taxonomy", FORMATS[format].endings[0])
    options = (
        {"notes": codebook.skos_notes(project)} if "notes" in FORMATS[format].write_options else {}
    )
    topics.current(project).taxonomy.write(target, format, **options)
    if target.suffix in (".csv", ".tsv"):
        _guard(target)
    return target


def _guard(file: Path) -> None:
    """Write a table again so that no cell begins like a formula."""
    separator = "\t" if file.suffix == ".tsv" else ","
    with file.open(encoding="utf-8-sig", newline="") as lines:
        names, *rows = list(csv.reader(lines, delimiter=separator))
    write_table(pd.DataFrame(rows, columns=names, dtype=object), file, guard=True)


def write_seeds(project: Project) -> Path:
    """The current seeds: id, text (of example texts), topic."""
    here = topics.current(project)
    rows = seed_rows(project_seeds(project, here), here.taxonomy)
    target = new_file(project, "seeds", ".csv")
    write_table(_seed_frame(rows), target, guard=True)
    return target


def _seed_frame(rows: list[list[str]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["id", "text", "topic"], dtype=object)


def write_decisions(project: Project) -> Path:
    """Every decision ever made: who, when, which document and topic, and whether it stands."""
    target = new_file(project, "decisions", ".csv")
    write_table(decisions(project), target, guard=True)
    return target


def decisions(project: Project) -> pd.DataFrame:
    """The audit trail of decisions as a table."""
    here = topics.current(project)
    paths = {id: here.path(id) for id in here.home} | WHOLE
    every = topics.every(project)
    rows = [
        {
            "at": at,
            "coder": coder,
            "id": id,
            "topic": paths.get(topic) or f"{every[topic].name} (deleted)",
            "decision": VERDICTS[verdict],
            "before": VERDICTS[before] if before else "",
            "source": source,
            "stands": bool(stands),
        }
        for at, coder, id, topic, verdict, before, source, stands in project.db.execute(
            "SELECT e.at, e.coder, d.id, e.topic, e.verdict, e.before, e.source,"
            " (SELECT 1 FROM label l WHERE l.event = e.event)"
            " FROM label_event e JOIN document d ON d.row = e.row ORDER BY e.event"
        )
    ]
    columns = ["at", "coder", "id", "topic", "decision", "before", "source", "stands"]
    return pd.DataFrame(rows, columns=columns)


def write_codebook(project: Project, ending: str) -> Path:
    """The codebook as a document."""
    if ending not in codebook.FORMATS:
        raise ProjectError(f"a codebook can be {', '.join(codebook.FORMATS)}, not {ending!r}")
    target = new_file(project, "codebook", f".{ending}")
    codebook.write_codebook(project, target)
    return target


def write_tasks(project: Project, fit: Fit, tool: str) -> Path:
    """Documents with their topics as another tool imports them."""
    if tool not in TOOLS:
        raise ProjectError(f"tasks can be written for {', '.join(TOOLS)}, not {tool!r}")
    target = new_file(project, tool, TOOLS[tool], fit)
    here = topics.current(project)
    placed, seeds = fit.placements(here), labels.seeds(project)

    def lines() -> Iterator[tuple[str, str, list[str]]]:
        for document in documents.every(project):
            if document.row < fit.n:
                decided = [here.path(id) for id in seeds.get(document.row, [])]
                topic = int(placed.labels[document.row])
                if topic >= 0 and placed.taxonomy.is_other[topic]:
                    topic = int(placed.taxonomy.tree.parent[topic])  # other tools know no Other
                own = [placed.taxonomy.paths[topic]] if topic >= 0 else []
                yield document.id, document.text, decided or own

    with atomic_file(target) as partial:
        other_tools.write_tasks(tool, partial, lines())
    return target


def write_report(project: Project, fit: Fit) -> Path:
    """Write a self-contained page about the fit."""
    target = new_file(project, "report", ".html", fit)
    with atomic_file(target) as partial:
        report = current_report(fit, topics.current(project))
        partial.write_text(render(report), encoding="utf-8", newline="\n")
    return target


def write_bundle(project: Project, fit: Fit) -> Path:
    """Everything that it takes to repeat a fit on another computer, with the commands.

    Taxonomy and seeds are those that the fit was given. Seeds are JSON lines, which are exact
    and which no spreadsheet runs.
    """
    target = new_file(project, "bundle", ".zip", fit)
    place = folder(project) / f".bundle-{fit.id}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    try:
        with (place / "corpus.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            for document in documents.every(project):
                if document.row < fit.n:
                    line = {"id": document.id, "text": document.text}
                    file.write(json.dumps(line, ensure_ascii=False) + "\n")
        fit.taxonomy.first(len(fit.ids)).write(place / "taxonomy.json")
        write_table(_seed_frame(fit.seeds), place / "seeds.jsonl")
        if fit.rejected:
            write_table(_seed_frame(fit.rejected)[["id", "topic"]], place / "rejected.jsonl")
        write_table(decisions(project), place / "decisions.csv", guard=True)
        codebook.write_codebook(project, place / "codebook.md")
        write_validation(project, fit, place)
        text = "\n".join(commands(fit))
        (place / "commands.txt").write_text(text + "\n", encoding="utf-8", newline="\n")
        shutil.copytree(fit.folder / "model", place / "model-as-fitted")
        packed = folder(project) / f".packed-{fit.id}"
        Path(shutil.make_archive(str(packed), "zip", place)).replace(target)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return target


def commands(fit: Fit) -> list[str]:
    """The command lines that repeat a fit, from the files of the bundle."""
    dials = Dials(**fit.facts["dials"])
    line = ["hierseed", "fit", "corpus.jsonl", "--taxonomy", "taxonomy.json"]
    line += ["--seeds", "seeds.jsonl", "-o", "model", "--method", fit.facts["method"]]
    line += ["--embedder", fit.facts["embedder"]]
    if fit.rejected:
        line += ["--rejected", "rejected.jsonl"]
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
