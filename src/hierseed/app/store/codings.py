"""Samples of documents that several people code, each without seeing the codes of others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from hierseed.app.project import Project, now
from hierseed.app.store import documents, topics
from hierseed.errors import ProjectError

KEY = "coders"
TOPICS, NONE, UNSURE, NOTHING = "topics", "none", "unsure", "nothing"


class Sample(NamedTuple):
    """Documents drawn to be coded."""

    id: int
    at: str
    name: str
    coder: str
    facts: dict[str, Any]


class Code(NamedTuple):
    """The code that one coder gave a document."""

    row: int
    coder: str
    decision: str
    topics: tuple[int, ...]
    final: bool


def add_coder(project: Project, name: str) -> None:
    """Remember the name of a coder."""
    known = project.get(KEY, [])
    if name not in known:
        project.put(KEY, [*known, name])


def coders(project: Project) -> list[str]:
    """Names of all coders, in the order in which they came."""
    found: list[str] = project.get(KEY, [])
    return found


def draw_random(project: Project, size: int, random_state: int) -> list[tuple[int, str]]:
    """Draw documents at random, each with the same chance: (row, stratum)."""
    n = documents.count(project)
    rows = np.random.default_rng(random_state).choice(n, min(size, n), replace=False)
    return [(int(row), "") for row in rows]


def draw_strata(
    strata: Sequence[str], size: int, random_state: int
) -> tuple[list[tuple[int, str]], dict[str, int]]:
    """Draw as many documents of each stratum as there is room for, in random order.

    `strata` names the stratum of each document. Also returns the size of each stratum.
    """
    random = np.random.default_rng(random_state)
    names, number, counts = np.unique(
        np.asarray(strata, dtype=str), return_inverse=True, return_counts=True
    )
    share = max(1, size // len(names))
    drawn: list[tuple[int, str]] = []
    for i, name in enumerate(names):
        members = np.flatnonzero(number == i)
        chosen = random.choice(members, min(share, len(members)), replace=False)
        drawn += [(int(row), str(name)) for row in chosen]
    order = random.permutation(len(drawn))
    return [drawn[i] for i in order], {str(n): int(c) for n, c in zip(names, counts)}


def create(
    project: Project, name: str, drawn: Iterable[tuple[int, str]], facts: dict[str, Any], by: str
) -> int:
    """Keep a sample that was drawn."""
    rows = list(drawn)
    if not rows:
        raise ProjectError("there are no documents to draw from. Load a corpus first")
    with project.write() as db:
        cursor = db.execute(
            "INSERT INTO sample (at, name, coder, facts) VALUES (?, ?, ?, ?)",
            (now(), name, by, json.dumps(facts)),
        )
        id = int(cursor.lastrowid or 0)
        db.executemany(
            "INSERT INTO sample_document VALUES (?, ?, ?, ?)",
            [(id, position, row, stratum) for position, (row, stratum) in enumerate(rows)],
        )
    return id


def samples(project: Project) -> list[Sample]:
    """All samples, the latest first."""
    found = project.db.execute("SELECT id, at, name, coder, facts FROM sample ORDER BY id DESC")
    return [Sample(id, at, name, coder, json.loads(facts)) for id, at, name, coder, facts in found]


def get(project: Project, id: int) -> Sample:
    """One sample."""
    found = [sample for sample in samples(project) if sample.id == id]
    if not found:
        raise ProjectError("this sample is not in the project. Reload the page")
    return found[0]


def rows(project: Project, sample: int) -> list[tuple[int, str]]:
    """(Row, stratum) of the documents of a sample, in the order to code them."""
    return project.db.execute(
        "SELECT row, stratum FROM sample_document WHERE sample = ? ORDER BY position", (sample,)
    ).fetchall()


def code(
    project: Project,
    sample: int,
    row: int,
    coder: str,
    decision: str,
    ids: Sequence[int] = (),
    *,
    final: bool = False,
) -> None:
    """Write the code of a document; all are kept, the last one counts."""
    if not coder:
        raise ProjectError("enter your name first: each code carries the name of its coder")
    if decision == TOPICS:
        if not ids:
            raise ProjectError("choose a topic first")
        for id in ids:
            topics.get(project, id)
    if decision not in (TOPICS, NONE, UNSURE, NOTHING):
        raise ProjectError("a code is a topic, none of these, or unsure. Reload the page")
    if int(row) not in {other for other, _ in rows(project, sample)}:
        raise ProjectError("this document is not in the sample. Reload the page")
    with project.write() as db:
        db.execute(
            "INSERT INTO coding (sample, row, coder, final, decision, topics, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (sample, row, coder, int(final), decision, json.dumps(list(ids)), now()),
        )


def codes(project: Project, sample: int) -> list[Code]:
    """The last code of each coder for each document; merged topics resolved, deleted left out."""
    home = topics.current(project).home
    last: dict[tuple[int, str, bool], Code] = {}
    for row, coder, final, decision, text in project.db.execute(
        "SELECT row, coder, final, decision, topics FROM coding WHERE sample = ? ORDER BY event",
        (sample,),
    ):
        ids = tuple(dict.fromkeys(home[id] for id in json.loads(text) if id in home))
        key = (row, "" if final else coder, bool(final))
        last[key] = Code(row, coder, decision, ids, bool(final))
    return [
        found
        for found in last.values()
        if found.decision != NOTHING and (found.decision != TOPICS or found.topics)
    ]
