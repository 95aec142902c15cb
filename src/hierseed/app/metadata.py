"""Other columns of the corpus: as a filter, and topics over the values of one of them."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hierseed.app.placements import Placements
from hierseed.app.project import Project
from hierseed.app.store import documents

LISTED = 40  # values that a menu can show
BINS = 24  # steps of a chart of numbers
LINES = 8  # topics of a chart


class Filter(NamedTuple):
    """Documents with one value in a column, or with a number in a range."""

    column: str = ""
    value: str = ""
    low: float | None = None
    high: float | None = None

    @property
    def active(self) -> bool:
        """True where it leaves something out."""
        return bool(self.column and (self.value or self.low is not None or self.high is not None))


class Values(NamedTuple):
    """A column of the corpus: the different values, and which of them each document has."""

    distinct: list[Any]
    of: NDArray[np.int32]  # -1 where a document has none


def _values(project: Project, column: str) -> Values:
    """Read a column; kept until documents are added."""
    n = documents.count(project)

    def read() -> Values:
        path = '$."' + column.replace('"', '""') + '"'
        number: dict[Any, int] = {}
        of = np.full(n, -1, dtype=np.int32)
        for row, value in project.db.execute(
            "SELECT row, json_extract(value, ?) FROM kept", (path,)
        ):
            if value is not None and value != "":
                of[row] = number.setdefault(value, len(number))
        return Values(list(number), of)

    values: Values = project.remember(f"column {column}", n, read)
    return values


def numbers(project: Project, column: str) -> NDArray[np.float64]:
    """A column as numbers, NaN where it has none; a date counts by its year."""
    values = _values(project, column)
    return np.array([*map(_number, values.distinct), math.nan])[values.of]


def _number(value: Any) -> float:
    if isinstance(value, int | float):
        return float(value)
    text = str(value or "").strip()
    if len(text) >= 8 and text[:4].isdigit() and text[4:5] in "-/.":
        return float(text[:4])
    try:
        return float(text)
    except ValueError:
        return math.nan


def rows_of(project: Project, chosen: Filter) -> NDArray[np.intp] | None:
    """Rows that pass a filter, None where it is not active."""
    if not chosen.active:
        return None
    if chosen.value:
        values = _values(project, chosen.column)
        wanted = [i for i, value in enumerate(values.distinct) if str(value) == chosen.value]
        return np.flatnonzero(np.isin(values.of, wanted))
    found = numbers(project, chosen.column)
    low = -math.inf if chosen.low is None else chosen.low
    high = math.inf if chosen.high is None else chosen.high
    return np.flatnonzero((found >= low) & (found <= high))


def columns(project: Project) -> list[dict[str, Any]]:
    """The columns with what a menu offers: a few values, or a range of numbers."""
    names = project.get("columns", [])
    state = (documents.count(project), names)
    listed: list[dict[str, Any]] = project.remember(
        "columns", state, lambda: _columns(project, names)
    )
    return listed


def _columns(project: Project, names: list[str]) -> list[dict[str, Any]]:
    found = []
    for name in names:
        distinct = sorted({str(value) for value in _values(project, name).distinct})
        as_numbers = numbers(project, name)
        numeric = np.isfinite(as_numbers).mean() > 0.9 if len(as_numbers) else False
        found.append(
            {
                "name": name,
                "values": distinct if len(distinct) <= LISTED else [],
                "low": float(np.nanmin(as_numbers)) if numeric else None,
                "high": float(np.nanmax(as_numbers)) if numeric else None,
            }
        )
    return found


def over(project: Project, placed: Placements, column: str, key: str = "") -> dict[str, Any] | None:
    """Shares of topics over the values of a column; `ordered` where these are numbers or dates.

    The topics are those of level 1, or those below the selected one. None where the column has
    too many values that are no numbers.
    """
    tree = placed.taxonomy.tree
    parent = placed.number.get(key, -1) if key.isdigit() else -1
    level = placed.level(parent) if parent >= 0 else 0
    if parent >= 0 and tree.is_leaf[parent]:  # nothing below: show it among its siblings
        parent, level = int(tree.parent[parent]), level - 1
    path = placed.path[placed.primary]
    inside = path[:, level - 1] == parent if parent >= 0 else np.ones(len(path), dtype=bool)
    steps, titles, ordered = bins(project, column, placed.n_documents)
    if steps is None:
        return None
    known = inside & (steps >= 0)
    topics = path[:, level]
    counts = np.zeros((len(titles), len(placed.taxonomy) + 1), dtype=int)
    np.add.at(counts, (steps[known], topics[known]), 1)
    totals = counts.sum(axis=1)
    order = [int(t) for t in np.argsort(-counts.sum(axis=0), kind="stable") if counts[:, t].any()]
    lines = []
    for topic in [t for t in order if t < len(placed.taxonomy)][:LINES]:
        with np.errstate(invalid="ignore", divide="ignore"):
            shares = np.where(totals > 0, counts[:, topic] / totals, 0.0)
        lines.append(
            {
                "name": placed.taxonomy.names[topic],
                "key": placed.keys[topic],
                "shares": [round(float(value), 5) for value in shares],
                "counts": counts[:, topic].tolist(),
            }
        )
    above = placed.taxonomy.paths[parent] if parent >= 0 else ""
    return {
        "column": column,
        "ordered": ordered,
        "titles": titles,
        "totals": totals.tolist(),
        "lines": lines,
        "above": above,
    }


def _round_width(least: float) -> float:
    """The next of 1, 2 or 5 times a power of ten, so that steps begin at round numbers."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(times * power for times in (1, 2, 5, 10) if times * power >= least * (1 - 1e-9))


def bins(project: Project, column: str, n: int) -> tuple[NDArray[np.intp] | None, list[str], bool]:
    """The step of each document (-1: none), the titles of steps, and whether they have an order.

    None in place of the steps where a column has too many values that are no numbers.
    """
    found = numbers(project, column)[:n]
    if np.isfinite(found).mean() > 0.9:
        known = found[np.isfinite(found)]
        distinct = np.unique(known)
        whole = bool((known == np.rint(known)).all())
        if len(distinct) <= (4 if whole else 2) * BINS:
            steps = np.searchsorted(distinct, np.where(np.isfinite(found), found, distinct[0]))
            titles = [f"{value:g}" for value in distinct]
        else:
            width = _round_width((known.max() - known.min()) / BINS)
            first = math.floor(known.min() / width)
            filled = np.where(np.isfinite(found), found, known[0])
            steps = np.floor(filled / width).astype(np.intp) - first
            titles = [f"{(first + i) * width:g}" for i in range(int(steps.max()) + 1)]
        return np.where(np.isfinite(found), steps, -1), titles, True
    values = _values(project, column)
    texts = [str(value) for value in values.distinct]
    titles = sorted(set(texts))
    if not titles or len(titles) > LISTED:
        return None, [], False
    number = {title: i for i, title in enumerate(titles)}
    steps = np.array([*(number[text] for text in texts), -1], dtype=np.intp)[values.of[:n]]
    return steps, titles, False
