"""A queue of documents to decide about: in an order of one's choice, and never at an end."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hierseed.app.placements import Placements
from hierseed.app.project import Project

KINDS = {
    "uncertain": "the least certain first",
    "random": "at random",
    "certain": "the most certain first, to confirm",
    "corpus": "in the order of the corpus",
}
LONGEST = 3_000  # documents handed out at once; the queue goes on after them

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
    share : (number, count) to share the queue between so many coders; each row is one coder's
    """
    rows = np.arange(n)
    if placed is not None and key:
        rows = np.unique(placed.row[placed.members(placed.inside(key))])
    if within is not None:
        rows = np.intersect1d(rows, within)
    if placed is not None and kind in ("uncertain", "certain"):
        scores = np.full(n, np.nan)
        scores[: placed.n] = placed.final_score[placed.primary]
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


def progress(project: Project, n: int) -> dict[str, Any]:
    """How many documents were decided about, and by whom."""
    by_coder = dict(
        project.db.execute(
            "SELECT e.coder, count(DISTINCT l.row) FROM label l JOIN label_event e"
            " ON e.event = l.event WHERE e.coder != '' GROUP BY e.coder"
        ).fetchall()
    )
    return {"decided": len(decided_rows(project)), "of": n, "by": by_coder}
