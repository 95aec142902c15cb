"""A corpus from a file: look at it, report every fault in plain words, then take it over."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from hierseed.app.jobs import OnProgress
from hierseed.app.project import Project
from hierseed.app.store import documents, edits, gold, labels, loads
from hierseed.app.store.actions import record
from hierseed.app.wording import fault_lines, left_out, worded
from hierseed.embed.corpus import batched
from hierseed.embed.language import foreign_language
from hierseed.errors import HierSeedError
from hierseed.io.corpus import EVERY_COLUMN, ROW_NUMBER, Corpus
from hierseed.io.records import as_text, open_records
from hierseed.io.records.rows import Fault, Faults
from hierseed.io.tables import plain_value

BATCH = 8_000  # documents per transaction: what a kill can cost, and how long others wait
CHECKED = 0.15  # share of the time of a load after which the whole file was checked
PREVIEW = 6
AT_ONCE = 64 * 2**20  # bytes of a file that is checked while the person waits
TEXT_NAMES = ("text", "body", "content", "abstract", "document", "message", "description")
ID_NAMES = ("id", "doc_id", "docid", "key", "uid", "identifier", "name")
ID_WORDS = {"id", "no", "nr", "num", "number", "record", "key", "identifier", "ref", "uuid"}
ENOUGH = 1_000  # rows that show whether a column's values differ


@dataclass
class Look:
    """Columns and first rows of a file, with the columns that were guessed."""

    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    id: str = ROW_NUMBER
    text: str = ""
    faults: list[str] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)


def look_at_corpus(file: Path) -> Look:
    """Columns, the first rows, and a guess at which column is which."""
    look = Look()
    try:
        records = open_records(file)
        look.columns = list(records.columns)
        found = islice(records.rows(look.columns), ENOUGH)
        values = [row.values for row in found if not isinstance(row, Fault)]
    except HierSeedError as fault:
        look.faults.append(worded(fault))
        return look
    look.rows = [[_shown(value) for value in row] for row in values[:PREVIEW]]
    rows = [[as_text(value) or "" for value in row] for row in values]  # a list is no text
    lengths = [sum(len(row[i]) for row in rows[:PREVIEW]) for i in range(len(look.columns))]
    longest = look.columns[lengths.index(max(lengths))] if lengths else ""
    look.text = _named(look.columns, TEXT_NAMES) or longest
    others = [column for column in look.columns if column != look.text]
    look.id = _named(others, ID_NAMES) or _numbering(look.columns, rows, others) or ROW_NUMBER
    return look


def _shown(value: Any) -> str:
    """A cell of the preview; a list or an object as JSON."""
    text = as_text(value)
    return str(plain_value(value)) if text is None else text


def check_corpus(file: Path, id: str, text: str) -> Look:
    """Read the whole file once; every kind of fault with its count and first places."""
    look = Look(id=id, text=text)
    size = file.stat().st_size
    if size > AT_ONCE:
        then = "it is checked while it is loaded, and rows that can't be used are counted then"
        look.facts.append(f"A large file ({size / 2**20:,.0f} MB): {then}")
        return look
    try:
        corpus = Corpus(file, id=id, text=text, on_error="skip")
        survey = corpus.survey()
    except HierSeedError as fault:
        look.faults.append(worded(fault))
        return look
    look.faults = fault_lines(survey.faults)
    if survey.n_documents:
        mean = survey.n_characters / survey.n_documents
        look.facts.append(
            f"{survey.n_documents:,} documents, {mean:,.0f} characters each on average"
        )
        if found := foreign_language(corpus.texts()):
            look.facts.append(
                f"They look like {found}. The vectors made here know English best: "
                "expect more documents in the wrong place, and look at them in step 5"
            )
    else:  # without a fact there is nothing to load
        look.faults.insert(0, "no document that can be used")
    return look


def load_corpus(
    project: Project,
    file: Path,
    id: str,
    text: str,
    on_progress: OnProgress | None = None,
    *,
    name: str = "",
    load: int | None = None,
) -> tuple[int, Faults]:
    """Take a corpus over, a batch at a time; an interrupted load resumes when run again.

    Returns how many documents are new, and what was wrong with the rows that were left out.
    `load` is the number of an unfinished load that this one resumes.
    """
    name = name or file.name
    if load is None:
        arguments = {"file": str(file), "id": id, "text": text, "name": name}
        load = loads.begin(project, name, arguments)
    corpus = Corpus(file, id=id, text=text, on_error="skip", keep=[EVERY_COLUMN])
    if on_progress:
        on_progress({"phase": "Checking the file", "share": 0.0})
    total, done, added = len(corpus), 0, 0
    loads.set_total(project, load, total)
    started = time.perf_counter()
    others = [(i, title) for i, title in enumerate(corpus.kept) if title.lower() != text.lower()]
    known = project.get("columns", [])
    project.put("columns", [*known, *(title for _, title in others if title not in known)])
    for batch in batched(corpus.rows(), BATCH):
        kept = [{title: plain_value(values[i]) for i, title in others} for _, values in batch]
        added += documents.add(project, [document for document, _ in batch], kept)
        done += len(batch)
        if on_progress:
            left = (time.perf_counter() - started) / done * (total - done)
            share = CHECKED + (1 - CHECKED) * done / max(total, 1)
            event = {"done": done, "total": total, "left": left, "share": share}
            on_progress({"phase": "Reading the documents", **event})
    faults = corpus.survey().faults
    loads.finish(project, load, left_out(faults).replace(file.name, name))
    return added, faults


def load_sample(project: Project, on_progress: OnProgress | None = None) -> int:
    """Fill the project with the demo: the docstrings of Python's own library."""
    from hierseed.demo.corpus import load_corpus as load_demo

    if on_progress:
        on_progress({"phase": "Reading the documents", "done": 0, "total": 1})
    demo = load_demo()
    for start in range(0, len(demo.ids), BATCH):
        part = slice(start, start + BATCH)
        documents.add(project, zip(demo.ids[part], demo.texts[part]))
        if on_progress:
            done = min(start + BATCH, len(demo.ids))
            on_progress({"phase": "Reading the documents", "done": done, "total": len(demo.ids)})
    ids = edits.replace_all(project, demo.taxonomy, "library reference")
    rows = documents.rows_of(project, demo.ids)
    here = [rows[id] for id in demo.ids]
    labels.load(project, [(here[i], ids[t]) for i, t in enumerate(demo.y) if t >= 0], "sample")
    with record(project, "Loaded the expert labels of the sample") as action:
        gold.write(action, [(here[i], ids[t]) for i, t in enumerate(demo.gold)], replace=True)
    return len(demo.ids)


def _named(columns: list[str], names: tuple[str, ...]) -> str:
    lower = {column.lower(): column for column in reversed(columns)}
    return next((lower[name] for name in names if name in lower), "")


def _numbering(columns: list[str], rows: list[list[str]], others: list[str]) -> str:
    """Find a column named like an id (`Record No`), with another value in every row."""
    for column in others:
        words = {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+", column)}
        values = [row[columns.index(column)] for row in rows]
        if words & ID_WORDS and all(values) and len(set(values)) == len(values) > 0:
            return column
    return ""
