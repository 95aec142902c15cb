"""A queue of documents to decide about, in the order that the coder chose."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.app import fits, validation
from hierseed.app.placements import Placements
from hierseed.app.project import Project
from hierseed.app.store import codings, topics
from hierseed.errors import ModelError

KINDS = {
    "uncertain": "the least certain first",
    "random": "at random",
    "disagreement": "what coders or the last two fits disagree about",
    "certain": "the most certain first, to confirm",
    "corpus": "in the order of the corpus",
}
LONGEST = 3_000  # documents handed out at once; more follow after them

Rows = NDArray[np.integer[Any]]


def decided_rows(project: Project) -> set[int]:
    """Rows that somebody has decided about, in whatever way."""
    return {row for (row,) in project.db.execute("SELECT DISTINCT row FROM label")}


def queue(
    project: Project,
    placed: Placements | None,
    n: int,
    kind: str,
    *,
    key: str = "",
    within: Rows | None = None,
    share: tuple[int, int] = (0, 1),
) -> list[int]:
    """Rows to decide about next.

    Parameters
    ----------
    key : only documents that the fit placed in this line of the tree
    within : only these rows
    share : (number, count) for the part of one coder of `count`; each row is in one part
    """
    rows = disputed(project, placed) if kind == "disagreement" else np.arange(n)
    if placed is not None and key and kind == "disagreement":
        inside = placed.row[placed.members(placed.inside(key))]
        rows = rows[np.isin(rows, inside)]
    elif placed is not None and key:
        rows = np.unique(placed.row[placed.members(placed.inside(key))])
    if within is not None:
        rows = rows[np.isin(rows, within)]
    if placed is not None and kind in ("uncertain", "certain"):
        scores = np.full(n, np.nan)
        scores[: placed.n_documents] = placed.final_score[placed.primary]
        scores = np.where(np.isnan(scores), 1.0, scores)[rows]
        rows = rows[np.argsort(scores if kind == "uncertain" else -scores, kind="stable")]
    elif kind == "random":
        rows = rows[np.argsort([zlib.crc32(b"%d" % row) for row in rows], kind="stable")]
    decided = decided_rows(project)
    number, count = share
    found: list[int] = []
    for row in rows.tolist():
        if row not in decided and (count < 2 or zlib.crc32(b"share %d" % row) % count == number):
            found.append(row)
            if len(found) == LONGEST:
                break
    return found


def disputed(project: Project, placed: Placements | None) -> Rows:
    """Rows that coders coded differently, then those that the last two fits placed differently."""
    coded = [
        row
        for sample in codings.samples(project)
        for row in validation.disagreements(project, sample)
    ]
    moved = np.zeros(0, dtype=np.intp)
    lines = fits.every(project)
    if placed is not None and len(lines) > 1:
        here = topics.current(project)
        try:
            new, old = (fits.get(project, line.id).placements(here) for line in lines[:2])
        except ModelError:  # a fit whose folder was taken away
            new = old = placed
        shared = min(new.n_documents, old.n_documents)
        moved = np.flatnonzero(
            np.array(new.keys)[new.labels[:shared]] != np.array(old.keys)[old.labels[:shared]]
        )
    return np.array(list(dict.fromkeys([*coded, *moved.tolist()])), dtype=np.intp)


def progress(project: Project, n: int) -> dict[str, Any]:
    """How many documents were decided about, and by whom."""
    by_coder = dict(
        project.db.execute(
            "SELECT e.coder, count(DISTINCT l.row) FROM label l JOIN label_event e"
            " ON e.event = l.event WHERE e.coder != '' GROUP BY e.coder"
        ).fetchall()
    )
    return {"decided": len(decided_rows(project)), "of": n, "by": by_coder}
