"""Bringing files in: look at them first, say every fault in plain words, then take them over."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from hierseed.app.project import Project
from hierseed.app.store import documents, edits, labels, topics
from hierseed.embed.language import foreign_language
from hierseed.errors import HierSeedError, TaxonomyError, name_some
from hierseed.io.corpus import EVERY_COLUMN, ROW_NUMBER, Corpus
from hierseed.io.extra_columns import plain_value
from hierseed.io.faults import Fault, Faults
from hierseed.io.records import as_text, open_records
from hierseed.io.seeds import Seeds, read_seeds, respelled
from hierseed.taxonomy import Taxonomy

BATCH = 2_000  # documents per transaction: what a kill can cost, and how long others wait
PREVIEW = 6
AT_ONCE = 64 * 2**20  # bytes of a file that is checked while the person waits
TEXT_NAMES = ("text", "body", "content", "abstract", "document", "message", "description")
ID_NAMES = ("id", "doc_id", "docid", "key", "uid", "identifier", "name")
ID_WORDS = {"id", "no", "nr", "num", "number", "record", "key", "identifier", "ref", "uuid"}
ENOUGH = 1_000  # rows that tell whether a column's values differ

Tell = Callable[[dict[str, Any]], None]


@dataclass
class Look:
    """What a file seems to hold."""

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
        rows = [
            [as_text(value) or "" for value in row.values]
            for row in found
            if not isinstance(row, Fault)
        ]
    except HierSeedError as fault:
        look.faults.append(plain(fault))
        return look
    look.rows = rows[:PREVIEW]
    lengths = [
        sum(len(row[i]) for row in look.rows) / max(len(look.rows), 1)
        for i in range(len(look.columns))
    ]
    longest = look.columns[lengths.index(max(lengths))] if lengths else ""
    look.text = _named(look.columns, TEXT_NAMES) or longest
    others = [column for column in look.columns if column != look.text]
    look.id = _named(others, ID_NAMES) or _numbering(look.columns, rows, others) or ROW_NUMBER
    return look


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
        look.faults.append(plain(fault))
        return look
    look.faults = survey.faults.told()
    if survey.n_documents:
        mean = survey.n_characters / survey.n_documents
        look.facts.append(f"{survey.n_documents:,} documents, {mean:,.0f} letters each on average")
        if found := foreign_language(corpus.texts()):
            look.facts.append(
                f"They look like {found}. The vectors made here know English best: "
                "expect more documents in the wrong place, and look at them in step 5"
            )
    else:  # without a fact there is nothing to load
        look.faults.insert(0, "no document that can be used")
    return look


def load_corpus(
    project: Project, file: Path, id: str, text: str, tell: Tell | None = None
) -> tuple[int, Faults]:
    """Take a corpus over, a batch at a time; a load that was cut off goes on when run again.

    Returns how many documents are new, and what was wrong with the rows that were left out.
    """
    corpus = Corpus(file, id=id, text=text, on_error="skip", keep=[EVERY_COLUMN])
    if tell:
        tell({"phase": "Checking the file"})
    total, done, added = len(corpus), 0, 0
    started = time.perf_counter()
    others = [(i, name) for i, name in enumerate(corpus.kept) if name.lower() != text.lower()]
    known = project.get("columns", [])
    project.put("columns", [*known, *(name for _, name in others if name not in known)])
    rows = corpus.rows()
    while batch := list(islice(rows, BATCH)):
        kept = [{name: plain_value(values[i]) for i, name in others} for _, values in batch]
        added += documents.add(project, [document for document, _ in batch], kept)
        done += len(batch)
        if tell:
            left = (time.perf_counter() - started) / done * (total - done)
            tell({"phase": "Reading the documents", "done": done, "total": total, "left": left})
    return added, corpus.survey().faults


def load_taxonomy(project: Project, file: Path, name: str) -> Taxonomy:
    """Take a taxonomy over; topics with the same path keep their id and their labels."""
    taxonomy = Taxonomy.read(file).without_others()
    if not len(taxonomy):
        raise TaxonomyError(f"{name} has no topics. Write one path a line, such as: Health > Diet")
    edits.replace_all(project, taxonomy, name)
    return taxonomy


def load_seeds(project: Project, file: Path, name: str) -> Look:
    """Take seeds over; rows that can't be used are told, the others count."""
    here = topics.current(project)
    look = Look()
    try:
        seeds = read_seeds(file, here.taxonomy, strict=False)
    except HierSeedError as fault:
        return Look(faults=[plain(fault)])
    look.faults = seeds.faults.told()
    if seeds.blank:
        look.facts.append(f"{seeds.blank:,} rows without a topic passed over")
    pairs, missing = _pairs(project, seeds, here.ids)
    look.faults += _told_missing(name, missing)
    added = labels.load(project, pairs, "file")
    own = [(here.ids[topic], text) for topic, text in zip(seeds.text_topics, seeds.texts)]
    added += labels.add_examples(project, own)
    look.facts.append(f"{added:,} seeds added")
    return look


def load_gold(project: Project, file: Path, name: str) -> Look:
    """Take over what experts said, to score fits against; it is never shown to a fit."""
    here = topics.current(project)
    try:
        seeds = read_seeds(file, here.taxonomy, strict=False)
    except HierSeedError as fault:
        return Look(faults=[plain(fault)])
    look = Look(faults=seeds.faults.told())
    pairs, missing = _pairs(project, seeds, here.ids)
    look.faults += _told_missing(name, missing)
    put_gold(project, pairs)
    look.facts.append(f"{len(pairs):,} gold labels")
    return look


def put_gold(project: Project, pairs: list[tuple[int, int]]) -> None:
    """Write gold labels: row and topic."""
    with project.write() as db:
        db.executemany("INSERT OR IGNORE INTO gold VALUES (?, ?)", pairs)


def load_sample(project: Project, tell: Tell | None = None) -> int:
    """Fill the project with the demo: the docstrings of Python's own library."""
    from hierseed.demo.corpus import load_corpus as load_demo

    if tell:
        tell({"phase": "Reading the documents", "done": 0, "total": 1})
    demo = load_demo()
    for start in range(0, len(demo.ids), BATCH):
        part = slice(start, start + BATCH)
        documents.add(project, zip(demo.ids[part], demo.texts[part]))
        if tell:
            done = min(start + BATCH, len(demo.ids))
            tell({"phase": "Reading the documents", "done": done, "total": len(demo.ids)})
    ids = edits.replace_all(project, demo.taxonomy, "library reference")
    rows = documents.rows_of(project, demo.ids)
    here = [rows[id] for id in demo.ids]
    labels.load(project, [(here[i], ids[t]) for i, t in enumerate(demo.y) if t >= 0], "sample")
    put_gold(project, [(here[i], ids[t]) for i, t in enumerate(demo.gold)])
    return len(demo.ids)


def plain(fault: Exception) -> str:
    """Say a fault without the options of the command line and the places of uploads."""
    return str(fault).replace(" with --on-error skip", "").strip()


def _pairs(
    project: Project, seeds: Seeds, ids: tuple[int, ...]
) -> tuple[list[tuple[int, int]], list[str]]:
    rows = documents.rows_of(project, [*seeds.by_id, *map(respelled, seeds.by_id)])
    seeds.respell(rows.__contains__)
    pairs = [
        (rows[id], ids[topic]) for id, found in seeds.by_id.items() if id in rows for topic in found
    ]
    return pairs, [id for id in seeds.by_id if id not in rows]


def _told_missing(name: str, missing: list[str]) -> list[str]:
    if not missing:
        return []
    what = "document is" if len(missing) == 1 else "documents are"
    return [f"{name}: {len(missing):,} {what} not in the corpus: {name_some(missing)}"]


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
